/// Where the entries of an FCIDUMP file go: distributed tensors, each element once.
#pragma once

#include "arges/tensor.hpp"
#include "chemistry/fcidump_entry.hpp"
#include "chemistry/text_file.hpp"

#include <map>
#include <vector>

namespace arges::chemistry {

/// Two entries for one integral that differ.
struct Contradiction {
    std::int64_t position = LocatedError::none;  ///< line of the later one of the two as they came
    std::uint64_t code = 0;                      ///< the integral
};

/// Collects entries from all ranks. Every integral has an owner rank (by a hash of its canonical
/// indices), which compares what the ranks bring for it, also with what was brought before, and
/// writes it once. Calls are collective.
class EntryStore {
public:
    EntryStore(const World& world, const Communicator& comm, std::int64_t orbitals);

    /// Stores the entries of all ranks; returns the first contradiction that this rank found.
    Contradiction merge(const std::vector<Entry>& entries);
    /// Ends the collection: integrals that no entry gave become zero.
    void finish();

    /// Number of distinct entries of a kind, on all ranks.
    std::int64_t count(EntryKind kind) const;
    /// Values of the orbital energies or the core energy by code, on every rank.
    std::map<std::uint64_t, double> small_entries(EntryKind kind) const;

    Tensor<double> one_electron;  ///< sym(p,q)
    Tensor<double> two_electron;  ///< sym(sym(p,q),sym(r,s))

private:
    std::vector<Entry> bring_to_owners(const std::vector<Entry>& entries) const;
    void store(EntryKind kind, const std::vector<Entry>& entries, Contradiction& found);
    void store_small(const std::vector<Entry>& entries, Contradiction& found);

    Communicator comm_;
    std::map<std::uint64_t, double> small_;  // orbital and core energies that this rank owns
    std::map<EntryKind, std::int64_t> counts_;
};

}  // namespace arges::chemistry

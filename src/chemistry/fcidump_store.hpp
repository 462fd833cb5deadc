/// Where the entries of an FCIDUMP file go: distributed tensors, each element once.
#pragma once

#include "chemistry/fcidump.hpp"
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
    EntryStore(const World& world, const Communicator& comm, const FcidumpHeader& header);

    /// Stores the entries of all ranks; returns the first contradiction that this rank found.
    Contradiction merge(const std::vector<Entry>& entries);
    /// Ends the collection: integrals that no entry gave become zero. The caller may take them
    /// away.
    Fcidump& finish();

    /// The groups of integrals that are counted: all of a file over restricted orbitals are in the
    /// first two.
    enum Group { one_alpha, two_alpha, one_beta, two_beta, two_mixed, groups };
    /// Number of distinct integrals of a group, on all ranks.
    std::int64_t count(Group group) const { return comm_.sum(counts_[group]); }
    /// Values of the orbital energies or the core energy by code, on every rank.
    std::map<std::uint64_t, double> small_entries(EntryKind kind) const;

private:
    std::vector<Entry> bring_to_owners(const std::vector<Entry>& entries) const;
    Tensor<double>& tensor(Group group);
    Group group_of(std::uint64_t code) const;
    std::vector<std::int64_t> element_of(std::uint64_t code) const;
    void store(Group group, const std::vector<Entry>& entries, Contradiction& found);
    void store_small(const std::vector<Entry>& entries, Contradiction& found);

    Communicator comm_;
    std::map<std::uint64_t, double> small_;  // orbital and core energies that this rank owns
    std::array<std::int64_t, groups> counts_{};
    Fcidump data_;
};

}  // namespace arges::chemistry

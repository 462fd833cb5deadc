/// Where the entries of a file of integrals go: distributed tensors, each element once.
#pragma once

#include "arges/chemistry/fcidump.hpp"
#include "chemistry/integrals/fcidump_entry.hpp"
#include "comm/communicator.hpp"

#include <array>
#include <map>
#include <optional>
#include <vector>

namespace arges::chemistry {

/// Collects entries from all ranks: the rank that stores an integral's element compares what comes for it.
/// Calls are collective.
class EntryStore {
public:
    EntryStore(const World& world, const Communicator& comm, const FcidumpHeader& header);

    /// An integral, or no integral.
    using Found = std::optional<std::uint64_t>;

    /// Stores the entries of all ranks; returns an integral for which they contradict each other, of several the one
    /// with the lowest code, on every rank.
    Found merge(const std::vector<Entry>& entries);
    /// The same for orbital energies and the core energy, behind all entries.
    Found merge_small();
    /// Ends the collection: integrals that no entry gave become zero. The caller may take them
    /// away.
    Fcidump& finish();

    /// The groups of integrals that are counted: all of a file over restricted orbitals are in the
    /// first two.
    enum Group { one_alpha, two_alpha, one_beta, two_beta, two_mixed, groups };
    /// Number of distinct integrals of a group, on all ranks.
    std::int64_t count(Group group) const { return comm_.sum(counts_[group]); }
    /// Diagonal integrals of a group of one-electron ones that no entry gave, ascending; before finish().
    std::vector<std::uint64_t> missing_diagonals(Group group);
    /// Values of the orbital energies or the core energy by code. Local, behind
    /// merge_small().
    std::map<std::uint64_t, double> small_entries(EntryKind kind) const;

    /// Entries so far that repeated an integral up to round-off, on all ranks.
    std::int64_t round_off_repeats() const { return comm_.sum(repeats_); }

private:
    Tensor<double>& tensor(Group group);
    Group group_of(std::uint64_t code) const;
    std::array<std::int64_t, 4> element_of(std::uint64_t code) const;
    std::uint64_t code_at(Group group, std::int64_t offset);
    void add_small(const Entry& entry, Found& found);
    void store(Group group, const std::vector<Entry>& entries, Found& found);
    /// The lowest that a rank found, on every rank.
    Found lowest(Found mine) const;

    Communicator comm_;
    std::map<std::uint64_t, double> small_;           // orbital and core energies: of this rank's part of the file, then of all
    std::array<std::vector<Entry>, groups> merging_;  // what a call to merge() was given
    std::array<std::int64_t, groups> counts_{};
    std::int64_t repeats_ = 0;
    Fcidump data_;
};

}  // namespace arges::chemistry

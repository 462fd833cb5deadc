/// Entries of a file of integrals on their way from the file into tensors.
#pragma once

#include "arges/chemistry/fcidump.hpp"
#include "chemistry/integrals/fcidump_entry.hpp"
#include "io/file/parallel_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges::chemistry {

/// What a rank has read in a round.
struct EntryRound {
    static constexpr std::int64_t nowhere = INT64_MAX;
    std::vector<Entry> entries{};
    bool more = false;             ///< the rank's part goes on behind them
    std::int64_t wrong = nowhere;  ///< position of what is wrong behind them
    std::string problem{};         ///< what that is, and what to do

    /// Forgets all but the memory.
    void clear() {
        entries.clear();
        more = false;
        wrong = nowhere;
    }
};

/// The entries of a file in one form or another: each rank reads a part of them, in rounds of bounded size.
class EntrySource {
public:
    /// Entries that a rank reads before all ranks store what they have.
    static constexpr std::int64_t entries_per_round = std::int64_t(1) << 17;
    /// Bytes that an entry takes while it goes from the file to a tensor, over its owner where there are several ranks: here and with those
    /// of its group, a vector that grows, and in messages.
    static constexpr std::int64_t bytes_of_entry(std::int64_t ranks) { return ranks > 1 ? 112 : 64; }

    virtual ~EntrySource() = default;
    /// What the file says of orbitals and electrons. Local.
    virtual const FcidumpHeader& header() const = 0;
    /// Bytes that reading takes on a rank beside the tensors, about. Local.
    virtual std::int64_t memory() const = 0;
    /// Goes to the first entry. Collective. @throws InvalidArgument
    virtual void rewind() = 0;
    /// Reads on, in place of what the round before had; at most `entries_per_round` entries of integrals. Local.
    /// @throws InvalidArgument if the file cannot be read
    virtual void next(EntryRound& round) = 0;
    /// Where an entry is: "line 7". Collective.
    virtual std::string place(std::int64_t position) const = 0;
    /// An integral as the file names it. Local.
    virtual std::string name(std::uint64_t code) const = 0;
    /// Where the file has integrals of a kind: "lines `value i j 0 0`". Local.
    virtual std::string part(EntryKind kind) const = 0;
};

/// Reads all entries. They may come in any order, and again where they agree up to round-off (see same_integral(); the
/// value of larger magnitude is taken). Integrals without an entry are zero. Collective.
/// @throws InvalidArgument with file, place and cure for the first wrong entry, for two that contradict each other, and
/// where a kind of integrals, a diagonal one-electron integral or the core energy has no entry
Fcidump read_entries(const World& world, const io::InputFile& file, EntrySource& source, const IntegralOptions& options);

}  // namespace arges::chemistry

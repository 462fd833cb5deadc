/// Nonzeros of several sparse tensors side by side: which of them are at the same indices, and how large a product of two will be, from
/// samples.
#pragma once

#include "execute/sparse_move.hpp"
#include "plan/sparse/sparse_step.hpp"
#include "sparse/coordinates.hpp"

#include <deque>

namespace arges {

/// Found once for nonzeros that stay the same; then values are moved along the lists.
class SparseMatch {
public:
    /// Collective. @param comm null for one rank  @param operands a column for each mode, which stay until indices are forgotten
    /// @param to where the nonzeros come together  @param lengths of the modes
    SparseMatch(const Communicator* comm, const std::vector<IndexSpans>& operands, const SparseLayout& to,
                std::span<const std::int64_t> lengths, const RequireBytes& require);

    /// Nonzeros of all operands, one operand behind the other, in runs of equal indices; in a run, operands in their order.
    const sparse::Runs& runs() const { return runs_; }
    /// Where an operand's nonzeros begin among those of all.
    std::int64_t begin(std::size_t operand) const { return nonzeros_.begin(operand); }
    /// Nonzeros of all operands on this rank.
    std::int64_t count() const { return nonzeros_.count(); }
    /// The runs are the nonzeros of the first operand, in the same places and order. The same on all ranks.
    bool has_pattern_of_first() const { return has_pattern_of_first_; }
    /// The indices of some runs, a column for each mode. @param wanted  their numbers; null: all
    IndexColumns indices_of(const std::vector<std::int64_t>* wanted = nullptr) const;
    /// Values of an operand, of so many bytes, in the order in which its nonzeros are counted here; `room` holds them where they have
    /// moved. Collective.
    const std::byte* values(std::size_t operand, const std::byte* from, std::int64_t element_bytes, Buffer<std::byte>& room) const;
    /// Gives the indices up, which are not needed to move values; those that have not moved are the operands' own. Local.
    void forget_indices() {
        nonzeros_.forget();
        moved_.clear();
    }
    /// Bytes of indices that were sent from this rank, and of values of an operand that each run sends.
    std::int64_t inspected_bytes() const { return inspected_bytes_; }
    std::int64_t sent_bytes(std::size_t operand, std::int64_t element_bytes) const;
    /// Nonzeros that are put side by side at most while values of an operand move. Local.
    std::int64_t packed() const;
    /// Memory of the lists, in bytes.
    std::int64_t list_bytes() const;

private:
    std::deque<SparseMove> moves_;
    std::deque<IndexColumns> moved_;  // of operands whose nonzeros do not stay
    sparse::JoinedLists nonzeros_;
    sparse::Runs runs_;
    bool has_pattern_of_first_ = false;
    std::int64_t inspected_bytes_ = 0;
};

/// The indices of a factor's nonzeros on this rank, a column for each label.
struct SampledFactor {
    IndexSpans shared;  ///< labels of both factors, in the same order for both
    IndexSpans output;  ///< labels of the result that the other factor lacks
    IndexSpans common;  ///< labels of the result that both factors have, in the same order for both; they are among `shared`, too
};

/// Estimates multiplications by the nonzeros of the second factor that nonzeros of the first meet, for evenly spaced ones of these, and the
/// nonzeros of the result by rows drawn in proportion to their lengths (Hansen and Hurwitz, 1943), whose different columns are counted by
/// hashes (Whang, Vander-Zanden, Taylor, ACM Trans. Database Syst. 15, 1990). Every nonzero of the second factor is looked at twice; what
/// is sent does not grow with the factors. The same on all ranks. Collective. @param comm null for one rank
ProductCounts sample_product(const Communicator* comm, const SampledFactor& a, const SampledFactor& b);

/// What sampling takes on a rank, an upper bound. Pure. @param nonzeros_of_a, nonzeros_of_b  over all ranks
std::int64_t sample_bytes(std::int64_t nonzeros_of_a, std::int64_t nonzeros_of_b);

}  // namespace arges

/// The nonempty slices of a tensor whose nonzeros lie on all ranks, for those who cut layers and choose distributions.
#pragma once

#include "comm/communicator.hpp"
#include "comm/values.hpp"
#include "partition/tensor_part.hpp"
#include "sparse/nonzeros.hpp"

namespace arges::decompose {

/// The ranks of a communicator.
class RankTeam : public partition::Team {
public:
    explicit RankTeam(const Communicator& comm) : comm_(comm) {}
    std::int64_t size() const override { return comm_.size(); }
    std::int64_t rank() const override { return comm_.rank(); }
    void sum(Numbers& values) const override { comm_.sum(values.data(), std::ssize(values)); }
    void agree(const std::function<void()>& work) const override { comm_.agree(work); }
    Numbers all_gather(const Numbers& mine) const override { return gathered(comm_, mine); }
    std::vector<Numbers> all_to_all(std::vector<Numbers> to_rank) const override;
    partition::SlicePart count(std::span<const std::int64_t> indices) const override;
    Numbers pass_along(Numbers state, const std::function<Numbers(const Numbers&)>& step) const override;

private:
    const Communicator& comm_;
};

/// A rank's nonzeros as distributions see them. Looks at `nonzeros` as long as it lives. Local.
inline partition::IndexView view_of(const sparse::NonzeroIndices& nonzeros) {
    return {nonzeros.lengths, {nonzeros.indices.begin(), nonzeros.indices.end()}};
}

}  // namespace arges::decompose

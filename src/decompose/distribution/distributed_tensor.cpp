#include "decompose/distribution/distributed_tensor.hpp"

namespace arges::decompose {

template <class T>
DistributedTensor<T> distribute_tensor(SparseState& source, bool gives_up, const DistributionRequest& request) {
    const auto& comm = source.comm();
    const auto before = source.pattern()->count();
    const auto lengths = source.lengths();
    auto priced = request;
    priced.costs = iteration_costs(source.world->machine());
    priced.costs.bytes_per_element = sizeof(T);
    auto chosen = choose_distribution(comm, *source.pattern(), priced);
    sparse::Nonzeros<T> mine;
    if (gives_up)
        mine = source.take<T>();
    else
        comm.agree([&] { mine = source.nonzeros<T>(); });
    auto nonzeros = distribute(comm, std::move(mine), chosen.plan);
    auto share = share_of(comm, nonzeros, lengths, before, request.columns);
    share.keeps_source = !gives_up;
    return {std::move(chosen), std::move(nonzeros), std::move(share)};
}

template DistributedTensor<float> distribute_tensor(SparseState&, bool, const DistributionRequest&);
template DistributedTensor<double> distribute_tensor(SparseState&, bool, const DistributionRequest&);

}  // namespace arges::decompose

#include "decompose/distribution/distributed_tensor.hpp"

namespace arges::decompose {

template <class T>
DistributedTensor<T> distribute_tensor(SparseState<T>& source, bool gives_up, const DistributionRequest& request) {
    const auto& comm = source.comm();
    const auto before = source.local().count();
    const auto lengths = source.local().lengths;
    auto priced = request;
    priced.costs = iteration_costs(source.world->machine());
    auto chosen = choose_distribution(comm, source.local(), priced);
    sparse::Nonzeros<T> mine;
    comm.agree([&] {
        if (gives_up)
            mine = source.take();
        else
            mine = source.local();
    });
    auto nonzeros = distribute(comm, std::move(mine), chosen.plan);
    auto share = share_of(comm, nonzeros, lengths, before, request.columns);
    share.keeps_source = !gives_up;
    return {std::move(chosen), std::move(nonzeros), std::move(share)};
}

template DistributedTensor<float> distribute_tensor(SparseState<float>&, bool, const DistributionRequest&);
template DistributedTensor<double> distribute_tensor(SparseState<double>&, bool, const DistributionRequest&);

}  // namespace arges::decompose

#include "decompose/deal_out.hpp"

namespace arges::decompose {

template <class T>
DealtOut<T> deal_out(SparseState<T>& source, bool gives_up, const DistributionRequest& request) {
    const auto& comm = source.comm();
    const auto before = source.local().count();
    const auto lengths = source.local().lengths;
    auto chosen = choose_distribution(comm, source.local(), request);
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

template DealtOut<float> deal_out(SparseState<float>&, bool, const DistributionRequest&);
template DealtOut<double> deal_out(SparseState<double>&, bool, const DistributionRequest&);

}  // namespace arges::decompose

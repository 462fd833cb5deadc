#include "decompose/cp/group_copies.hpp"

#include "arges/subworlds.hpp"
#include "base/math.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/cp/cp_known.hpp"
#include "decompose/dense_memory.hpp"
#include "decompose/sparse_memory.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/sparse/sparse_tensor_exchange.hpp"

#include <omp.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

namespace arges::decompose {

namespace {

constexpr std::int64_t elements_at_a_time = 1 << 18;  // of a dense tensor

}  // namespace

CopyMemory copy_memory(const std::vector<std::int64_t>& lengths, std::int64_t nonzeros, std::int64_t here, std::int64_t value_bytes,
                       std::int64_t ranks, std::int64_t ranks_of_group, const CpOptions& options) {
    const auto distribution = has_loss(options) ? element_distribution(options, ranks_of_group) : options.distribution;
    auto share = expected_share(ranks_of_group, value_bytes, lengths, nonzeros, distribution.starts_with("coarse"), options.rank);
    share.keeps_source = true;
    // Beside both a copy of the nonzeros with the ranks that they go to, a column of it that is sent, and one that arrives.
    constexpr std::int64_t column = 16;
    const auto arriving = share.before + ranks;
    return {here * share.global_bytes(),
            here * (2 * share.global_bytes() + std::int64_t{sizeof(std::int32_t)} + column) + arriving * (share.global_bytes() + column),
            cp_memory(share, options, omp_get_max_threads()).peak()};
}

CopyMemory copy_memory(const Layout& whole, const Layout& copy, std::int64_t rank_in_group, std::int64_t value_bytes,
                       const CpOptions& options) {
    constexpr std::int64_t reading = 100;  // bytes of each element that is read, an upper bound
    const auto original = whole.max_local_size() * value_bytes, count = copy.local_size(rank_in_group);
    return {original, original + count * (value_bytes + std::int64_t{sizeof(std::int64_t)}) + std::min(elements_at_a_time, count) * reading,
            dense_cp_memory(value_bytes, copy, rank_in_group, options, omp_get_max_threads()).peak()};
}

template <class T>
CopyMemory copy_memory(const SparseTensor<T>& tensor, const RankGroups& groups, const CpOptions& options) {
    return copy_memory(tensor.lengths(), tensor.nonzeros(), tensor.local_nonzeros(), sizeof(T), tensor.world().size(),
                       groups.size(groups.own), options);
}

template <class T>
CopyMemory copy_memory(const Tensor<T>& tensor, const RankGroups& groups, const CpOptions& options) {
    const auto copy = new_layout(*groups.world.state(), tensor.extents(), Symmetry::none(tensor.order()));
    return copy_memory(state_of(tensor, "cp_decompose").shape(), copy, groups.world.rank(), sizeof(T), options);
}

template <class T>
SparseTensor<T> copy_of_group(const SparseTensor<T>& tensor, bool gives_up, const RankGroups& groups) {
    auto& source = state_of(tensor, "cp_decompose");
    const auto& comm = source.comm();
    sparse::Nonzeros<T> mine;
    for (int g = 0; g < groups.count(); ++g) {
        sparse::Nonzeros<T> all;
        std::vector<std::int32_t> to;
        comm.agree([&] {
            to.resize(source.count());
            for (std::size_t i = 0; i < to.size(); ++i)
                to[i] = static_cast<std::int32_t>(groups.first[g] + (comm.rank() + static_cast<std::int64_t>(i)) % groups.size(g));
        });
        if (gives_up && g + 1 == groups.count())
            all = source.template take<T>();
        else
            comm.agree([&] { all = source.template nonzeros<T>(); });
        all = route(comm, std::move(all), to);
        if (g == groups.own) mine = std::move(all);
    }
    std::shared_ptr<SparseState> state;
    comm.agree([&] {
        state = std::make_shared<SparseState>(element_kernels<T>(), groups.world, source.lengths(), Symmetry::none(source.order()),
                                              source.name);
        state->replace(std::move(mine), SparsePattern::Place::anywhere);
    });
    return SparseTensor<T>(std::move(state));
}

template <class T>
Tensor<T> copy_of_group(const Tensor<T>& tensor, bool, const RankGroups& groups) {
    const auto& world = *tensor.world().state();
    Tensor<T> copy;
    world.agree([&] { copy = Tensor<T>(groups.world, tensor.extents(), Symmetry::none(tensor.order()), tensor.name()); });
    const auto keys = subworlds::keys_of(tensor, copy, {}, false);
    const auto count = std::ssize(keys);
    auto pieces = world.communicator().maximum(ceil_div(count, elements_at_a_time));  // that all ranks still have to read together
    std::vector<T> values;
    std::int64_t next = 0;
    const auto read = [&] {
        const auto begin = std::min(next, count);
        values = tensor.read(std::span(keys).subspan(begin, std::min(elements_at_a_time, count - begin)));
        --pieces;
    };
    copy.for_each_local([&](Index, T& element) {
        if (next % elements_at_a_time == 0) read();
        element = values[next++ % elements_at_a_time];
    });
    while (pieces > 0) read();
    return copy;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template CopyMemory copy_memory(const SparseTensor<T>&, const RankGroups&, const CpOptions&);                                          \
    template CopyMemory copy_memory(const Tensor<T>&, const RankGroups&, const CpOptions&);                                                \
    template SparseTensor<T> copy_of_group(const SparseTensor<T>&, bool, const RankGroups&);                                               \
    template Tensor<T> copy_of_group(const Tensor<T>&, bool, const RankGroups&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose

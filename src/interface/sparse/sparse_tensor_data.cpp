// Writing to sparse tensors, and removing elements. What is given goes to home ranks, where it meets what is stored.
#include "comm/collective_call.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_calls.hpp"
#include "interface/sparse/sparse_symmetry.hpp"
#include "interface/sparse/sparse_tensor_exchange.hpp"
#include "interface/sparse/sparse_tensor_keys.hpp"
#include "interface/sparse/sparse_tensor_merge.hpp"
#include "interface/world/call_arguments.hpp"

#include <cmath>

namespace arges {

namespace {

void check_pairs(std::int64_t keys, std::int64_t values, const std::string& title) {
    if (keys != values)
        throw InvalidArgument(title + ": " + std::to_string(keys) + " keys but " + std::to_string(values) +
                              " values; give one value per key");
}

void check_tuples(std::int64_t indices, std::int64_t values, const SparseState& state) {
    const auto n = state.order();
    if (indices != n * values)
        throw InvalidArgument(state.title() + ": " + std::to_string(indices) + " indices for " + std::to_string(values) + " values; give " +
                              std::to_string(n) + " for each");
}

/// Brings the nonzeros of a tensor to their home ranks. Collective.
void bring_home(SparseState& state) {
    if (state.pattern()->place == SparsePattern::Place::by_hash) return;
    const auto& comm = state.comm();
    std::vector<std::int32_t> to;
    AnyNonzeros all;
    comm.agree([&] {
        all = state.nonzeros();
        to = home_ranks(all, comm.size());
    });
    state.replace(route(comm, std::move(all), to), SparsePattern::Place::by_hash);
}

/// Brings the nonzeros of a tensor, and others, which any rank may have, to their home ranks. Collective.
AnyNonzeros brought_home(SparseState& state, AnyNonzeros more) {
    bring_home(state);
    const auto& comm = state.comm();
    std::vector<std::int32_t> to;
    comm.agree([&] { to = home_ranks(more, comm.size()); });
    return route(comm, std::move(more), to);
}

/// Adds nonzeros, which any rank may have, to those of the tensor. Collective.
void add(SparseState& state, AnyNonzeros more, Duplicates duplicates) {
    state.world->agree([&] { take_representatives(state.symmetry, *state.kernels, state.title(), more); });
    more = brought_home(state, std::move(more));
    AnyNonzeros all;
    state.comm().agree([&] {
        all = state.nonzeros();
        append(all, more);
        more = {};
        const auto report = merge_local(all, join_for(*state.kernels, duplicates));
        if (report.second >= 0)
            throw InvalidArgument(state.title() + ": element " + coordinate_text(report.where, 0) +
                                  (report.first < state.count() ? " is stored already" : " is given more than once") +
                                  "; give each element once, or ask for Duplicates::sum, Duplicates::keep_first or Duplicates::keep_last");
    });
    state.replace(std::move(all), SparsePattern::Place::by_hash);
}

/// Adds alpha times nonzeros, which any rank may have, to beta times those of the tensor. Collective.
void accumulate(SparseState& state, AnyNonzeros more, const void* alpha, const void* beta) {
    const auto& kernels = *state.kernels;
    state.world->agree([&] {
        if (kernels.as_number(beta).imag() != 0 && contains_kind(state.symmetry, NodeKind::hermitian))
            throw InvalidArgument(state.title() + ": accumulate into a hermitian tensor needs a real beta");
        if (!kernels.is_one(alpha)) kernels.scale(more.values.data(), more.values.count(), alpha);
        take_representatives(state.symmetry, kernels, state.title(), more);
    });
    more = brought_home(state, std::move(more));
    AnyNonzeros all;
    state.world->agree([&] {
        merge_local(more, join_for(kernels, Duplicates::sum));  // so that a stored element meets one value, and beta once
        all = state.nonzeros();
        append(all, more);
        more = {};
        const bool clears = kernels.is_zero(beta), scales = !clears && !kernels.is_one(beta);
        merge_local(all, [&](std::byte* stored, const std::byte* given) {
            if (clears) return copy_element(stored, given, kernels.size);
            if (scales) kernels.scale(stored, 1, beta);
            kernels.transfer_listed({.count = 1}, given, stored, nullptr, {.accumulate = true});
        });
    });
    state.replace(std::move(all), SparsePattern::Place::by_hash);
}

}  // namespace

namespace sparse_calls {

void write_pairs(const AnyTensor& tensor, std::span<const std::int64_t> keys, const void* values, std::int64_t count,
                 Duplicates duplicates) {
    auto& state = sparse_state_of(tensor, "write");
    const CollectiveCall call(state.world->movement_communicator(), "SparseTensor::write", state, duplicates);
    AnyNonzeros more;
    state.world->agree([&] {
        check_policy(*state.kernels, duplicates, state.title());
        check_pairs(std::ssize(keys), count, state.title());
        more = {elements_of(tensor, keys), SparseValues(*state.kernels, values, count)};
    });
    add(state, std::move(more), duplicates);
}

void accumulate_pairs(const AnyTensor& tensor, std::span<const std::int64_t> keys, const void* values, std::int64_t count,
                      const void* alpha, const void* beta) {
    auto& state = sparse_state_of(tensor, "accumulate");
    const CollectiveCall call(state.world->movement_communicator(), "SparseTensor::accumulate", state,
                              ElementArgument{*state.kernels, beta});
    require_same_factor(state.world->movement_communicator(), *state.kernels, !keys.empty(), alpha, "SparseTensor::accumulate");
    AnyNonzeros more;
    state.world->agree([&] {
        check_pairs(std::ssize(keys), count, state.title());
        more = {elements_of(tensor, keys), SparseValues(*state.kernels, values, count)};
    });
    accumulate(state, std::move(more), alpha, beta);
}

void fill(SparseState& state, const void* value) {
    const CollectiveCall call(state.world->movement_communicator(), "SparseTensor::fill", state, ElementArgument{*state.kernels, value});
    const bool is_zero = state.kernels->is_zero(value), is_real = state.kernels->as_number(value).imag() == 0;
    if ((contains_kind(state.symmetry, NodeKind::antisymmetric) && !is_zero) ||
        (contains_kind(state.symmetry, NodeKind::hermitian) && !is_real))
        throw InvalidArgument(state.title() + ": fill with " + state.kernels->text(value) + " does not have the symmetry " +
                              state.symmetry.to_string());
    state.kernels->fill(state.values().data(), state.count(), value);
}

}  // namespace sparse_calls

void AnyTensor::write_tuples(std::span<const std::int64_t> tuples, const void* values, std::int64_t count, Duplicates duplicates) {
    auto& state = sparse_state_of(*this, "write_at");
    const CollectiveCall call(state.world->movement_communicator(), "SparseTensor::write_at", state, duplicates);
    AnyNonzeros more;
    state.world->agree([&] {
        check_policy(*state.kernels, duplicates, state.title());
        check_tuples(std::ssize(tuples), count, state);
        more = {elements_at(*this, tuples), SparseValues(*state.kernels, values, count)};
    });
    add(state, std::move(more), duplicates);
}

void AnyTensor::accumulate_tuples(std::span<const std::int64_t> tuples, const void* values, std::int64_t count, const void* alpha,
                                  const void* beta) {
    auto& state = sparse_state_of(*this, "accumulate_at");
    const CollectiveCall call(state.world->movement_communicator(), "SparseTensor::accumulate_at", state,
                              ElementArgument{*state.kernels, beta});
    require_same_factor(state.world->movement_communicator(), *state.kernels, !tuples.empty(), alpha, "SparseTensor::accumulate_at");
    AnyNonzeros more;
    state.world->agree([&] {
        check_tuples(std::ssize(tuples), count, state);
        more = {elements_at(*this, tuples), SparseValues(*state.kernels, values, count)};
    });
    accumulate(state, std::move(more), alpha, beta);
}

AnyTensor AnyTensor::made_from(const ElementKernels& kernels, const World& world, std::vector<std::int64_t> lengths,
                               const std::vector<std::vector<std::int64_t>>& indices, std::int64_t count,
                               const std::function<void(void*)>& copy_values, Duplicates duplicates, std::string name) {
    const CollectiveCall call(ranks_of(world), "SparseTensor::from_entries", lengths, duplicates, std::string_view(kernels.type->name()));
    AnyTensor tensor(kernels, Storage::sparse, world, std::move(lengths), GivenSymmetry(), std::move(name));
    auto& state = sparse_state_of(tensor, "from_entries");
    AnyNonzeros more;
    state.world->agree([&] {
        check_policy(kernels, duplicates, state.title());
        const auto& n = state.lengths();
        if (indices.size() != n.size())
            throw InvalidArgument(state.title() + ": indices for " + std::to_string(indices.size()) + " modes, but the tensor has " +
                                  std::to_string(n.size()) + "; give one array of indices for each mode");
        for (std::size_t m = 0; m < indices.size(); ++m) {
            if (std::ssize(indices[m]) != count)
                throw InvalidArgument(state.title() + ": " + std::to_string(indices[m].size()) + " indices in mode " +
                                      std::to_string(m + 1) + " for " + std::to_string(count) +
                                      " values; give an index in each mode for every value");
            for (auto index : indices[m]) check_index(index, n[m], m, state.title());
        }
        more = {{n, indices}, SparseValues(kernels, count)};
        copy_values(more.values.data());
    });
    arges::add(state, std::move(more), duplicates);
    return tensor;
}

void AnyTensor::erase() {
    auto& state = sparse_state_of(*this, "erase");
    const CollectiveCall call(state.world->movement_communicator(), "SparseTensor::erase", state);
    state.replace({no_indices(extents()), SparseValues(*state.kernels, 0)}, SparsePattern::Place::by_hash);
}

void AnyTensor::keep_if(const char* where, const ElementTest& stays, double cutoff) {
    auto& state = sparse_state_of(*this, where);
    const CollectiveCall call(state.world->movement_communicator(), where, state, cutoff);
    if (std::isnan(cutoff))
        throw InvalidArgument(state.title() + ": drop() with a cutoff that is not a number; give zero or a positive one");
    const auto& comm = state.comm();
    AnyNonzeros kept;
    comm.agree([&] {
        const auto bytes = state.kernels->size;
        const auto* const values = std::as_const(state).values().data();
        const auto& columns = state.pattern()->indices;
        std::vector<std::size_t> places;
        std::vector<std::int64_t> index(columns.size());
        for (std::int64_t i = 0; i < state.count(); ++i) {
            for (std::size_t m = 0; m < index.size(); ++m) index[m] = columns[m][i];
            if (stays(index, element_at(values, i, bytes))) places.push_back(i);
        }
        kept = selected(*state.pattern(), state.values(), places);
    });
    if (comm.sum(kept.count()) == state.pattern()->total) return;
    state.replace(std::move(kept), state.pattern()->place);
}

}  // namespace arges

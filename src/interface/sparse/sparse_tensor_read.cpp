// Reading elements of sparse tensors: questions go to the home ranks of the elements, which look through their nonzeros once.
#include "comm/collective_call.hpp"
#include "interface/sparse/sparse_calls.hpp"
#include "interface/sparse/sparse_symmetry.hpp"
#include "interface/sparse/sparse_tensor_exchange.hpp"
#include "interface/sparse/sparse_tensor_keys.hpp"
#include "interface/sparse/sparse_tensor_merge.hpp"
#include "interface/sparse/sparse_tensor_places.hpp"

#include <numeric>

namespace arges {

namespace {

/// The values of elements, in the order asked; zeros where none is stored. Local.
SparseValues values_at(const ElementKernels& kernels, const sparse::NonzeroIndices& stored, const SparseValues& values,
                       const sparse::NonzeroIndices& asked) {
    const std::size_t count = asked.count();
    SparseValues result(kernels, asked.count());
    kernels.fill(result.data(), asked.count(), kernels.zero);
    FirstPlaces table(count);
    std::vector<std::size_t> first(count);  // of the questions for the same element
    for (std::size_t i = 0; i < count; ++i)
        first[i] = table.find(coordinate_hash(asked.indices, i), i, [&](std::size_t j) { return equal_coordinates(asked, i, asked, j); });
    const auto bytes = kernels.size;
    auto* const to = result.data();
    const auto* const from = values.data();
    visit_in_batches(
        static_cast<std::size_t>(stored.count()), table, [&](std::size_t i) { return coordinate_hash(stored.indices, i); },
        [&](std::size_t i, std::uint64_t hash) {
            const auto place = table.known(hash, [&](std::size_t j) { return equal_coordinates(stored, i, asked, j); });
            if (place) copy_element(element_at(to, *place, bytes), element_at(from, i, bytes), bytes);
            return true;
        });
    for (std::size_t i = 0; i < count; ++i)
        if (first[i] != i) copy_element(element_at(to, i, bytes), element_at(to, first[i], bytes), bytes);
    return result;
}

/// Copies of the nonzeros on their home ranks. Collective. @throws OutOfMemory
AnyNonzeros copied_home(const SparseState& state) {
    const auto& comm = state.comm();
    AnyNonzeros copy;
    std::vector<std::int32_t> to;
    comm.agree([&] {
        state.world->require_free(2 * (SparsePattern::bytes(state.order(), state.count()) + state.values().bytes()),
                                  state.title() + ": read of a tensor that write() has not put in order");
        copy = state.nonzeros();
        to = home_ranks(copy, comm.size());
    });
    return route(comm, std::move(copy), to);
}

/// Writes the values of elements that any rank may ask for. Collective.
void read_elements(const SparseState& state, sparse::NonzeroIndices asked, const ElementRoom& room) {
    const auto& comm = state.comm();
    const std::size_t ranks = comm.size();
    std::vector<std::int32_t> to, from;
    Representatives asked_for;
    comm.agree([&] {
        if (!state.symmetry.trivial()) asked_for = to_representatives(state.symmetry, asked);
        to = home_ranks(asked, comm.size());
        from.assign(to.size(), static_cast<std::int32_t>(comm.rank()));
    });
    for (auto& column : asked.indices) column = route_column(comm, to, std::move(column));
    from = route_column(comm, to, std::move(from));
    const bool is_home = ranks == 1 || state.pattern()->place == SparsePattern::Place::by_hash;
    const auto copy = is_home ? AnyNonzeros() : copied_home(state);
    SparseValues answers;
    comm.agree([&] {
        answers = is_home ? values_at(*state.kernels, *state.pattern(), state.values(), asked)
                          : values_at(*state.kernels, copy, copy.values, asked);
    });
    answers = route_column(comm, from, std::move(answers));  // by home rank, each in the order of the questions
    comm.agree([&] {
        std::vector<std::int64_t> next(ranks + 1, 0);
        for (auto r : to) ++next[r + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        const auto& kernels = *state.kernels;
        const auto bytes = kernels.size, count = std::ssize(to);
        auto* const results = static_cast<std::byte*>(room(count));
        auto* result = results;
        for (auto r : to) {
            copy_element(result, element_at(std::as_const(answers).data(), next[r]++, bytes), bytes);
            result += bytes;
        }
        if (state.symmetry.trivial()) return;
        kernels.transfer_listed({.count = count, .factors = asked_for.factors.data()}, results, results, nullptr, {});
        for (auto k : asked_for.zeros) copy_element(results + static_cast<std::int64_t>(k) * bytes, kernels.zero, bytes);
    });
}

}  // namespace

void sparse_calls::read_pairs(const AnyTensor& tensor, std::span<const std::int64_t> keys, const ElementRoom& room) {
    const auto& state = sparse_state_of(tensor, "read");
    const CollectiveCall call(state.world->movement_communicator(), "SparseTensor::read", state);
    sparse::NonzeroIndices asked;
    state.world->agree([&] { asked = elements_of(tensor, keys); });
    read_elements(state, std::move(asked), room);
}

void AnyTensor::read_tuples(std::span<const std::int64_t> tuples, const ElementRoom& room) const {
    const auto& state = sparse_state_of(*this, "read_at");
    const CollectiveCall call(state.world->movement_communicator(), "SparseTensor::read_at", state);
    sparse::NonzeroIndices asked;
    state.world->agree([&] {
        if (tuples.size() % extents().size() != 0)
            throw InvalidArgument(state.title() + ": " + std::to_string(tuples.size()) + " indices to read elements; give " +
                                  std::to_string(extents().size()) + " for each");
        asked = elements_at(*this, tuples);
    });
    read_elements(state, std::move(asked), room);
}

}  // namespace arges

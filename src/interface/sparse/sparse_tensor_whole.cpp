// Sparse tensors as a whole: dense conversion, gathering and reductions.
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/sparse/sparse_symmetry.hpp"
#include "interface/sparse/sparse_tensor_keys.hpp"
#include "interface/world/call_arguments.hpp"
#include "sparse/blocked_sum.hpp"
#include "sparse/coordinates.hpp"
#include "sparse/index_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace arges {

namespace {

/// The sum of f(value) over the values of this rank, as real numbers where they are doubles, else as complex ones.
template <class F>
double sum_over(const SparseState& state, F&& f) {
    if (*state.kernels->type == typeid(double)) {  // without a call for each
        const auto values = state.values_of<double>();
        return sparse::blocked_sum(state.count(), [&](std::int64_t i) { return f(values[i]); });
    }
    const auto bytes = state.kernels->size;
    const auto* const values = state.values().data();
    return sparse::blocked_sum(state.count(), [&](std::int64_t i) { return f(state.kernels->as_number(element_at(values, i, bytes))); });
}

/// The largest part of a value of this rank.
double largest_part(const SparseState& state) {
    double largest = 0;
    for (std::int64_t i = 0; i < state.count(); ++i) {
        const auto value = state.kernels->as_number(element_at(state.values().data(), i, state.kernels->size));
        largest = std::max({largest, std::abs(value.real()), std::abs(value.imag())});
    }
    return largest;
}

}  // namespace

AnyTensor AnyTensor::sparse_where(const std::function<bool(const void*)>& stays, double cutoff) const {
    const CollectiveCall call(ranks_of(world()), "SparseTensor::from_dense", *this, cutoff);
    if (std::isnan(cutoff))
        throw InvalidArgument("from_dense(" + title() + ") with a cutoff that is not a number; give zero or a positive one");
    const auto& kernels = this->kernels();
    AnyTensor result(kernels, Storage::sparse, world(), extents(), symmetry(), name());
    auto& state = sparse_state_of(result, "from_dense");
    AnyNonzeros kept;
    state.comm().agree([&] {
        SparseValues values(kernels, 0);
        auto keys = pairs_here([&](std::int64_t count) {
            values.renew(count);
            return values.data();
        });
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < keys.size(); ++i)
            if (stays(element_at(std::as_const(values).data(), i, kernels.size))) places.push_back(i);
        kept = selected({{}, {std::move(keys)}}, values, places);
        keys = std::move(kept.indices.front());
        static_cast<sparse::NonzeroIndices&>(kept) = coordinates_of(keys, extents());
        take_representatives(symmetry(), kernels, state.title(), kept);
    });
    state.replace(std::move(kept), SparsePattern::Place::anywhere);
    return result;
}

AnyTensor AnyTensor::to_dense() const {
    if (!any_state_of(*this, "to_dense").is_sparse) return *this;
    const auto& state = sparse_state_of(*this, "to_dense");
    const CollectiveCall call(state.world->movement_communicator(), "SparseTensor::to_dense", state);
    check_keys(*this);
    AnyTensor dense(*state.kernels, Storage::dense, world(), extents(), state.symmetry, name());
    std::vector<std::int64_t> keys;
    state.comm().agree([&] { keys = keys_of(*state.pattern()); });
    dense.write_pairs(keys, state.values().data(), state.count(), Duplicates::refuse);
    return dense;
}

std::vector<std::vector<std::int64_t>> AnyTensor::gather_entries(const ElementRoom& room, bool last_index_fastest) const {
    const auto& own = sparse_state_of(*this, "gather");
    const CollectiveCall call(own.world->movement_communicator(), "SparseTensor::gather", own, last_index_fastest);
    const auto whole = whole_state_of(*this, "gather");
    const auto& state = *whole;
    const auto& comm = state.comm();
    const auto bytes = state.kernels->size;
    std::vector<std::vector<std::int64_t>> indices;
    for (const auto& column : state.pattern()->indices) indices.push_back(gathered(comm, column));
    std::vector<std::byte> of_all;
    if (comm.size() > 1) {
        comm.all_gather(state.values().data(), state.values().bytes(), [&](std::int64_t all) {
            of_all = large_vector<std::byte>(static_cast<std::size_t>(all));
            return of_all.data();
        });
    }
    comm.agree([&] {
        const auto count = indices.empty() ? 0 : std::ssize(indices.front());
        sparse::Columns columns(indices.begin(), indices.end());
        auto lengths = state.lengths();
        if (!last_index_fastest) {
            std::reverse(columns.begin(), columns.end());
            std::reverse(lengths.begin(), lengths.end());
        }
        const auto* const from = comm.size() > 1 ? of_all.data() : state.values().data();
        auto* const to = static_cast<std::byte*>(room(count));
        const auto order = sparse::order_unless_sorted(count, columns, lengths);
        if (!order) return copy_array(to, from, count * bytes, nullptr);
        for (auto& column : indices) column = sparse::reordered(column, *order);
        with_element_bytes(bytes, [&](auto each) {
            for (std::int64_t i = 0; i < count; ++i) copy_element(element_at(to, i, each), element_at(from, (*order)[i], each), each);
        });
    });
    return indices;
}

std::complex<double> AnyTensor::sum_of_stored() const {
    const auto& own = sparse_state_of(*this, "sum");
    const CollectiveCall call(own.world->movement_communicator(), "SparseTensor::sum", own);
    const auto whole = whole_state_of(*this, "sum");
    const auto& state = *whole;
    std::array<double, 2> total{sum_over(state, [](auto value) { return std::real(value); }), 0};
    if (state.kernels->is_complex) total[1] = sum_over(state, [](auto value) { return std::imag(value); });
    state.comm().sum(total.data(), 2);
    return {total[0], total[1]};
}

double AnyTensor::norm_of_stored() const {
    const auto& own = sparse_state_of(*this, "norm");
    const CollectiveCall call(own.world->movement_communicator(), "SparseTensor::norm", own);
    const auto whole = whole_state_of(*this, "norm");
    const auto& state = *whole;
    double total = sum_over(state, [](auto value) { return std::norm(value); });
    state.comm().sum(&total, 1);
    if (!must_be_scaled(total)) return std::sqrt(total);
    double largest = largest_part(state);
    // NaN has been excluded; bits of numbers that are not negative compare as integers.
    largest = std::bit_cast<double>(state.comm().maximum(std::bit_cast<std::int64_t>(largest)));
    if (largest == 0 || std::isinf(largest)) return largest;
    const int exponent = std::ilogb(largest);
    total = sum_over(state, [&](auto value) {
        return std::norm(std::complex<double>(std::ldexp(std::real(value), -exponent), std::ldexp(std::imag(value), -exponent)));
    });
    state.comm().sum(&total, 1);
    return std::ldexp(std::sqrt(total), exponent);
}

}  // namespace arges

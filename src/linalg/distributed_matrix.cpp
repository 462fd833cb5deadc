#include "linalg/distributed_matrix.hpp"

#include "base/instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace arges::linalg {

namespace {

MatrixSide side_of(const std::vector<std::int64_t>& extents, int first) {
    MatrixSide side;
    side.extents = extents;
    side.dimensions.resize(extents.size());
    std::iota(side.dimensions.begin(), side.dimensions.end(), first);
    for (auto n : extents) side.size *= n;
    return side;
}

/// False if one of the values is infinite or not a number; without a branch in the loop.
template <class R>
bool all_finite(const R* values, std::int64_t count) {
    R sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < count; ++i) sum += values[i] * R(0);
    return sum == R(0);
}

template <class T>
bool elements_finite(const T* values, std::int64_t count) {
    constexpr std::int64_t parts = sizeof(T) / sizeof(real_of<T>);
    return all_finite(reinterpret_cast<const real_of<T>*>(values), count * parts);
}

OutOfMemory over_limit(const std::string& what, std::int64_t bytes, const std::string& purpose, std::int64_t left) {
    return OutOfMemory(what + ": " + std::to_string(bytes) + " bytes per rank for " + purpose + ", with " + std::to_string(left) +
                       " left under the limit; use more ranks or raise the limit (World::set_memory_limit, ARGES_MEMORY_LIMIT)");
}

}  // namespace

HeldMemory::HeldMemory(std::shared_ptr<WorldState> world, std::int64_t bytes, const std::string& what, const char* purpose)
    : world_(std::move(world)), bytes_(bytes) {
    const auto left = world_->least_free_bytes();
    world_->make_room(bytes);
    if (bytes > left) {
        world_.reset();
        throw over_limit(what, bytes, purpose, left);
    }
    world_->hold(bytes);
}

void reserve_buffers(WorldState& world, const MatrixExchange& exchange, std::int64_t element_bytes, const std::string& what) {
    const auto& comm = world.communicator();
    const auto buffers = comm.maximum(exchange.buffer_elements() * element_bytes), lists = comm.maximum(exchange.list_bytes());
    const auto left = world.least_free_bytes();
    if (buffers + lists > left) throw over_limit(what, buffers + lists, "moving a matrix", left);
    world.note_working(buffers + lists);
    world.agree([&] { world.workspace().reserve(Workspace::padded(buffers) + 64); });
}

template <class T>
DistributedMatrix<T>::DistributedMatrix(std::shared_ptr<WorldState> world, MatrixLayout layout, const std::string& what,
                                        std::int64_t least_rows)
    : DistributedMatrix(std::move(world), std::move(layout), nullptr, 0) {
    check_size(layout_.resized(std::max(rows(), least_rows * layout_.rows.grid_length), columns()), what);
    const auto most = std::max(layout_.rows.max_count(), least_rows) * layout_.columns.max_count();
    held_.emplace(world_, most * std::int64_t{sizeof(T)}, what);
    if (takes_part()) distance_ = std::max<std::int64_t>({1, local_rows_, least_rows});
    world_->agree([&] {
        if (takes_part()) own_ = Buffer<T>(distance_ * local_columns_);
    });
    data_ = own_.data();
}

template <class T>
DistributedMatrix<T>::DistributedMatrix(std::shared_ptr<WorldState> world, MatrixLayout layout, Buffer<T> elements, const std::string& what)
    : DistributedMatrix(std::move(world), std::move(layout), nullptr, 0) {
    held_.emplace(world_, layout_.max_local_size() * std::int64_t{sizeof(T)}, what);
    own_ = std::move(elements);
    data_ = own_.data();
}

template <class T>
DistributedMatrix<T>::DistributedMatrix(std::shared_ptr<WorldState> world, MatrixLayout layout, T* data, std::int64_t leading_dimension)
    : world_(std::move(world)), layout_(std::move(layout)), position_(layout_.position(world_->rank())), data_(data) {
    if (!takes_part()) return;
    local_rows_ = layout_.rows.count(layout_.grid_row(position_));
    local_columns_ = layout_.columns.count(layout_.grid_column(position_));
    distance_ = std::max<std::int64_t>({1, local_rows_, leading_dimension});
}

template <class T>
void DistributedMatrix<T>::clear_above_diagonal() {
    for (std::int64_t j = 0; j < local_columns_; ++j) std::fill_n(column(j), rows_below(column_index(j)), T(0));
}

template <class T>
void DistributedMatrix<T>::clear_below_diagonal() {
    for (std::int64_t j = 0; j < local_columns_; ++j) {
        const auto first = std::min(local_rows_, rows_below(column_index(j) + 1));
        std::fill_n(column(j) + first, local_rows_ - first, T(0));
    }
}

template <class T>
void DistributedMatrix<T>::clear() {
    for (std::int64_t j = 0; j < local_columns_; ++j) std::fill_n(column(j), local_rows_, T(0));
}

template <class T>
Buffer<T> DistributedMatrix<T>::release() {
    if (own_.size() == 0 || distance_ != local_rows_) return {};
    data_ = nullptr;
    return std::move(own_);
}

template <class T>
void check_finite(const DistributedMatrix<T>& matrix, Part part, const std::string& text) {
    matrix.world().agree([&] {
        for (std::int64_t j = 0; j < matrix.local_columns(); ++j) {
            std::int64_t first = 0, end = matrix.local_rows();
            if (part == Part::lower) first = std::min(end, matrix.rows_below(matrix.column_index(j)));
            if (part == Part::upper) end = std::min(end, matrix.rows_below(matrix.column_index(j) + 1));
            if (elements_finite(matrix.column(j) + first, end - first)) continue;
            while (elements_finite(matrix.column(j) + first, 1)) ++first;
            throw InvalidArgument(text + ": the element in row " + std::to_string(matrix.row(first)) + ", column " +
                                  std::to_string(matrix.column_index(j)) + " of the matrix is infinite or not a number");
        }
    });
}

template <class T>
const TensorState& unpacked(const std::shared_ptr<TensorState>& tensor, Tensor<T>& copy) {
    const auto& layout = tensor->shape();
    bool plain = layout.slots() == layout.order();
    for (int s = 0; s < layout.slots() && plain; ++s)
        plain = layout.slot(s).node().kind() == NodeKind::leaf && layout.slot(s).size() == layout.slot(s).node().size();
    if (plain) return *tensor;
    copy = Tensor<T>(tensor).with_symmetry(Symmetry::none(layout.order()));
    return *copy.state();
}

template <class T>
DistributedMatrix<T> load(const TensorState& tensor, const Matricization& labels, const MatrixLayout& layout, bool adjoint, Part part,
                          std::int64_t least_rows) {
    DistributedMatrix<T> matrix(tensor.world, layout, labels.text, least_rows);
    {
        const MatrixExchange exchange(tensor.world->movement_communicator(), tensor.shape(), adjoint ? labels.flipped() : labels, layout,
                                      matrix.distance(), tensor.rank());
        reserve_buffers(*tensor.world, exchange, sizeof(T), labels.text);
        exchange.gather(HostElements(tensor).of<T>(), matrix.data(), adjoint, tensor.world->workspace());
    }
    check_finite(matrix, part, labels.text);
    return matrix;
}

template <class T>
Tensor<T> store(const World& world, DistributedMatrix<T>&& matrix, const std::vector<std::int64_t>& row_extents,
                const std::vector<std::int64_t>& column_extents, const std::string& name, bool adjoint) {
    auto& state = *world.state();
    const auto extents = joined(row_extents, column_extents);
    const Matricization labels{side_of(row_extents, 0), side_of(column_extents, row_extents.size()), name};
    const auto layout = new_layout(state, extents, Symmetry::none(extents.size()));
    const MatrixExchange exchange(state.movement_communicator(), layout, adjoint ? labels.flipped() : labels, matrix.layout(),
                                  matrix.distance(), state.rank());
    // The elements come in one step, so the tensor is made without any, and with the account of its memory.
    auto result = TensorState::make<T>(
        world, [&] { return new_layout(state, {0}, Symmetry::none(1)); }, name);
    Buffer<T> elements;
    if (exchange.is_identity()) elements = matrix.release();
    const bool adopted = elements.size() > 0;
    if constexpr (!std::is_same_v<T, real_of<T>>)
        if (adopted && adjoint)
            for (std::int64_t i = 0; i < elements.size(); ++i) elements[i] = std::conj(elements[i]);
    {
        const HeldMemory room(world.state(), layout.max_local_size() * std::int64_t{sizeof(T)}, name);
        reserve_buffers(state, exchange, sizeof(T), name);
        state.agree([&] {
            if (!adopted) elements = Buffer<T>(layout.local_size(state.rank()));
        });
        // A matrix that is adopted sends and receives nothing.
        if (!adopted) exchange.scatter(matrix.data(), elements.data(), adjoint, state.workspace());
    }
    result->relocate(layout, std::move(elements).template reinterpreted<std::byte>());
    return Tensor<T>(std::move(result));
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template class DistributedMatrix<T>;                                                                                                   \
    template DistributedMatrix<T> load(const TensorState&, const Matricization&, const MatrixLayout&, bool, Part, std::int64_t);           \
    template Tensor<T> store(const World&, DistributedMatrix<T>&&, const std::vector<std::int64_t>&, const std::vector<std::int64_t>&,     \
                             const std::string&, bool);                                                                                    \
    template void check_finite(const DistributedMatrix<T>&, Part, const std::string&);                                                     \
    template const TensorState& unpacked(const std::shared_ptr<TensorState>&, Tensor<T>&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::linalg

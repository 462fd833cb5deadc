#include "linalg/distributed_matrix.hpp"

#include <algorithm>
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

}  // namespace

MatrixMemory::MatrixMemory(std::shared_ptr<WorldState> world, std::int64_t bytes, const std::string& what, const char* purpose)
    : world_(std::move(world)) {
    world_->require_everywhere(bytes, what + ": " + purpose);
    world_->hold(bytes_ = bytes);
}

void reserve_buffers(WorldState& world, const MatrixExchange& exchange, std::int64_t element_bytes, const std::string& what) {
    const auto buffers = world.most(exchange.buffer_elements() * element_bytes);
    world.require_everywhere(buffers + world.most(exchange.list_bytes()), what + ": moving a matrix");
    world.agree([&] { world.workspace().reserve(Workspace::padded(buffers) + 64); });
}

DistributedMatrix::DistributedMatrix(const MatrixKernels& kernels, std::shared_ptr<WorldState> world, MatrixLayout layout,
                                     const std::string& what, std::int64_t least_rows)
    : DistributedMatrix(kernels, std::move(world), std::move(layout), nullptr, 0) {
    check_size(layout_.resized(std::max(rows(), least_rows * layout_.rows.grid_length), columns()), what);
    const auto most = std::max(layout_.rows.max_count(), least_rows) * layout_.columns.max_count();
    held_.emplace(world_, most * kernels.size, what);
    if (takes_part()) distance_ = std::max<std::int64_t>({1, local_rows_, least_rows});
    world_->agree([&] {
        if (takes_part()) own_ = Buffer<std::byte>(distance_ * local_columns_ * kernels.size);
    });
    data_ = own_.data();
}

DistributedMatrix::DistributedMatrix(const MatrixKernels& kernels, std::shared_ptr<WorldState> world, MatrixLayout layout,
                                     Buffer<std::byte> elements, const std::string& what)
    : DistributedMatrix(kernels, std::move(world), std::move(layout), nullptr, 0) {
    held_.emplace(world_, layout_.max_local_size() * kernels.size, what);
    own_ = std::move(elements);
    data_ = own_.data();
}

DistributedMatrix::DistributedMatrix(const MatrixKernels& kernels, std::shared_ptr<WorldState> world, MatrixLayout layout, void* data,
                                     std::int64_t leading_dimension)
    : kernels_(&kernels), world_(std::move(world)), layout_(std::move(layout)), position_(layout_.position(world_->rank())),
      data_(static_cast<std::byte*>(data)) {
    if (!takes_part()) return;
    local_rows_ = layout_.rows.count(layout_.grid_row(position_));
    local_columns_ = layout_.columns.count(layout_.grid_column(position_));
    distance_ = std::max<std::int64_t>({1, local_rows_, leading_dimension});
}

void DistributedMatrix::clear_above_diagonal() {
    for (std::int64_t j = 0; j < local_columns_; ++j) clear(0, j, rows_below(column_index(j)));
}

void DistributedMatrix::clear() {
    for (std::int64_t j = 0; j < local_columns_; ++j) clear(0, j, local_rows_);
}

void DistributedMatrix::copy_from(const DistributedMatrix& other) {
    for (std::int64_t j = 0; j < other.local_columns(); ++j)
        copy_array(at(0, j), other.at(0, j), other.local_rows() * kernels_->size, nullptr);
}

Buffer<std::byte> DistributedMatrix::release() {
    if (own_.size() == 0 || distance_ != local_rows_) return {};
    data_ = nullptr;
    return std::move(own_);
}

void check_finite(const DistributedMatrix& matrix, Part part, const std::string& text) {
    const auto finite = matrix.kernels().all_finite;
    matrix.world().agree([&] {
        for (std::int64_t j = 0; j < matrix.local_columns(); ++j) {
            std::int64_t first = 0, end = matrix.local_rows();
            if (part == Part::lower) first = std::min(end, matrix.rows_below(matrix.column_index(j)));
            if (part == Part::upper) end = std::min(end, matrix.rows_below(matrix.column_index(j) + 1));
            if (finite(matrix.at(first, j), end - first)) continue;
            while (finite(matrix.at(first, j), 1)) ++first;
            throw InvalidArgument(text + ": the element in row " + std::to_string(matrix.row(first)) + ", column " +
                                  std::to_string(matrix.column_index(j)) + " of the matrix is infinite or not a number");
        }
    });
}

DistributedMatrix load(const TensorState& tensor, const Matricization& labels, const MatrixLayout& layout, bool adjoint, Part part,
                       std::int64_t least_rows) {
    const auto& kernels = matrix_kernels(*tensor.kernels);
    DistributedMatrix matrix(kernels, tensor.world, layout, labels.text, least_rows);
    {
        const MatrixExchange exchange(tensor.world->movement_communicator(), tensor.shape(), adjoint ? labels.flipped() : labels, layout,
                                      matrix.distance(), tensor.rank());
        reserve_buffers(*tensor.world, exchange, kernels.size, labels.text);
        exchange.gather(kernels, HostElements(tensor).data(), matrix.data(), adjoint, tensor.world->workspace());
    }
    check_finite(matrix, part, labels.text);
    return matrix;
}

AnyTensor store(const World& world, DistributedMatrix&& matrix, const std::vector<std::int64_t>& row_extents,
                const std::vector<std::int64_t>& column_extents, const std::string& name, bool adjoint) {
    auto& state = *world.state();
    const auto& kernels = matrix.kernels();
    const auto extents = joined(row_extents, column_extents);
    const Matricization labels{side_of(row_extents, 0), side_of(column_extents, row_extents.size()), name};
    const auto layout = new_layout(state, extents, Symmetry::none(extents.size()));
    const MatrixExchange exchange(state.movement_communicator(), layout, adjoint ? labels.flipped() : labels, matrix.layout(),
                                  matrix.distance(), state.rank());
    // The elements come in one step, so the tensor is made without any, and with the account of its memory.
    auto result = TensorState::make(
        state.kernels(kernels.elements()), world, [&] { return new_layout(state, {0}, Symmetry::none(1)); }, name);
    Buffer<std::byte> elements;
    if (exchange.is_identity()) elements = matrix.release();
    const bool adopted = elements.size() > 0;
    if (adopted && adjoint)
        kernels.elements().transfer_listed({elements.size() / kernels.size}, elements.data(), elements.data(), nullptr,
                                           {.conjugate = true});
    {
        const MatrixMemory room(world.state(), layout.max_local_size() * kernels.size, name);
        reserve_buffers(state, exchange, kernels.size, name);
        state.agree([&] {
            if (!adopted) elements = Buffer<std::byte>(layout.local_size(state.rank()) * kernels.size);
        });
        // A matrix that is adopted sends and receives nothing.
        if (!adopted) exchange.scatter(kernels, matrix.data(), elements.data(), adjoint, state.workspace());
    }
    result->relocate(layout, std::move(elements));
    state.settle(result->kernels->space);
    return AnyTensor(std::move(result));
}

}  // namespace arges::linalg

// Tensor to block-cyclic matrix and back, without keys: a message is a list of rows times a list of columns, which both sides make alike.
#include "base/element_at.hpp"
#include "base/first_error.hpp"
#include "layout/element_locator.hpp"
#include "linalg/distributed_matrix.hpp"

#include <algorithm>

namespace arges::linalg {

namespace {

const OffsetList nothing;

void find_stride(OffsetList& list) {
    const auto& o = list.offsets;
    if (o.size() < 2) return;
    list.stride = o[1] - o[0];
    for (std::size_t i = 2; i < o.size() && list.stride >= 0; ++i)
        if (o[i] - o[i - 1] != list.stride) list.stride = -1;
}

/// A dimension of the tensor as one side of the matrix sees it.
struct Digit {
    std::int64_t extent = 1, grid_length = 1, coordinate = 0;  ///< `coordinate` of this rank
    std::int64_t local = 0, stride = 0;                        ///< number of elements here, and their distance
    std::int64_t weight = 1;                                   ///< of the coordinate in the combination
    std::vector<std::int64_t> rank_part;                       ///< by coordinate: what it adds to the rank
};

std::vector<Digit> digits_of(const Layout& tensor, const MatrixSide& side, std::int64_t rank) {
    const bool idle = tensor.grid().is_idle(rank);
    const auto strides = tensor.strides(rank);
    std::vector<Digit> result;
    std::int64_t weight = 1;
    for (int d : side.dimensions) {
        int s = 0;
        while (tensor.slot_dimensions(s)[0] != d) ++s;
        Digit digit;
        digit.extent = tensor.extents()[d];
        digit.grid_length = tensor.slot(s).grid_length();
        digit.coordinate = idle ? -1 : tensor.coordinate(rank, s);
        digit.local = idle ? 0 : tensor.slot(s).local_size(digit.coordinate);
        digit.stride = strides[s];
        digit.weight = weight;
        weight *= digit.grid_length;
        for (std::int64_t p = 0; p < digit.grid_length; ++p) digit.rank_part.push_back(tensor.rank_at(p, s));
        result.push_back(std::move(digit));
    }
    return result;
}

/// Calls f(index, offset) for this rank's elements along a side, by ascending index.
template <class F>
void for_each_local(const std::vector<Digit>& digits, std::size_t left, std::int64_t scale, F&& f, std::int64_t index = 0,
                    std::int64_t offset = 0) {
    if (left == 0) {
        f(index, offset);
        return;
    }
    const auto& digit = digits[left - 1];
    const auto below = scale / std::max<std::int64_t>(1, digit.extent);
    for (std::int64_t l = 0; l < digit.local; ++l)
        for_each_local(digits, left - 1, below, f, index + (digit.coordinate + digit.grid_length * l) * below, offset + l * digit.stride);
}

SideLists make_lists(const Layout& tensor, const MatrixSide& side, const BlockAxis& axis, std::int64_t rank, std::int64_t matrix_place,
                     std::int64_t distance) {
    const auto digits = digits_of(tensor, side, rank);
    SideLists lists;
    lists.in_tensor.resize(axis.grid_length);
    if (!tensor.grid().is_idle(rank) && side.size > 0)
        for_each_local(digits, digits.size(), side.size,
                       [&](std::int64_t index, std::int64_t offset) { lists.in_tensor[axis.coordinate(index)].offsets.push_back(offset); });
    std::int64_t combinations = 1;
    for (const auto& digit : digits) combinations *= digit.grid_length;
    lists.in_matrix.resize(combinations);
    for (std::int64_t c = 0; c < combinations; ++c) {
        std::int64_t part = 0;
        for (const auto& digit : digits) part += digit.rank_part[c / digit.weight % digit.grid_length];
        lists.rank_part.push_back(part);
    }
    const auto count = matrix_place < 0 ? 0 : axis.count(matrix_place);
    for (std::int64_t l = 0; l < count; ++l) {
        auto rest = axis.global(matrix_place, l);
        std::int64_t combination = 0;
        for (const auto& digit : digits) {
            combination += rest % digit.extent % digit.grid_length * digit.weight;
            rest /= digit.extent;
        }
        lists.in_matrix[combination].offsets.push_back(l * distance);
    }
    for (auto& list : lists.in_tensor) find_stride(list);
    for (auto& list : lists.in_matrix) find_stride(list);
    return lists;
}

/// One side of a transfer: listed offsets, or dense ones at a distance.
struct TransferSide {
    const OffsetList* list = nullptr;
    std::int64_t distance = 1;  ///< where there is no list
    std::int64_t stride() const { return list != nullptr ? list->stride : distance; }
    std::int64_t first() const { return list != nullptr && list->stride >= 0 ? list->first() : 0; }
};

/// Both axes of a message of so many elements along the first one.
std::array<TransferSide, 2> dense_sides(std::int64_t count) { return {TransferSide{nullptr, 1}, TransferSide{nullptr, count}}; }

std::array<TransferSide, 2> listed_sides(const std::array<const OffsetList*, 2>& lists) {
    return {TransferSide{lists[0]}, TransferSide{lists[1]}};
}

/// Copies a two-dimensional set of elements, the first axis fastest.
void copy(const MatrixKernels& kernels, const std::array<TransferSide, 2>& from_sides, const std::array<TransferSide, 2>& to_sides,
          const std::array<std::int64_t, 2>& counts, const void* from, void* to, bool conjugate) {
    std::array<local::TransferAxis, 2> axes;
    std::vector<std::int64_t> dense[2];
    for (int a = 0; a < 2; ++a) {
        axes[a].count = counts[a];
        const auto &f = from_sides[a], &t = to_sides[a];
        if (f.stride() >= 0 && t.stride() >= 0) {
            axes[a].from_stride = f.stride();
            axes[a].to_stride = t.stride();
            from = element_at(from, f.first(), kernels.size);
            to = element_at(to, t.first(), kernels.size);
            continue;
        }
        const auto listed = [&](const TransferSide& side) {
            if (side.list != nullptr) return side.list->offsets.data();
            for (std::int64_t i = 0; i < counts[a]; ++i) dense[a].push_back(i * side.distance);
            return static_cast<const std::int64_t*>(dense[a].data());
        };
        axes[a].from = listed(f);
        axes[a].to = listed(t);
    }
    kernels.elements().transfer(axes, from, to, nullptr, {.conjugate = conjugate});
}

}  // namespace

MatrixExchange::MatrixExchange(const Communicator* comm, const Layout& tensor, const Matricization& labels, const MatrixLayout& matrix,
                               std::int64_t leading_dimension, std::int64_t rank)
    : comm_(comm), rank_(rank) {
    const auto at = matrix.position(rank);
    rows_ = make_lists(tensor, labels.rows, matrix.rows, rank, at < 0 ? -1 : matrix.grid_row(at), 1);
    columns_ = make_lists(tensor, labels.columns, matrix.columns, rank, at < 0 ? -1 : matrix.grid_column(at), leading_dimension);
    const auto fastest = *std::min_element(labels.rows.dimensions.begin(), labels.rows.dimensions.end());
    rows_first_ = fastest < *std::min_element(labels.columns.dimensions.begin(), labels.columns.dimensions.end());
    tensor_size_ = tensor.local_size(rank);
    matrix_size_ = at < 0 ? 0 : matrix.rows.count(matrix.grid_row(at)) * matrix.columns.count(matrix.grid_column(at));
    own_in_tensor_ = own_in_matrix_ = {rank, &nothing, &nothing};
    list_blocks(tensor, matrix);
}

void MatrixExchange::list_blocks(const Layout& tensor, const MatrixLayout& matrix) {
    const auto my_copy = tensor.copy_offset(rank_);
    const auto add = [&](const Block& block, Block& own, std::vector<Block>& others) {
        if (block.count() == 0) return;
        if (block.peer == rank_)
            own = block;
        else
            others.push_back(block);
    };
    if (tensor_size_ > 0)
        for (std::int64_t c = 0; c < matrix.columns.grid_length; ++c)
            for (std::int64_t r = 0; r < matrix.rows.grid_length; ++r) {
                const auto peer = matrix.rank_at(r, c);
                add({peer, &rows_.in_tensor[r], &columns_.in_tensor[c], tensor.copy_offset(peer) == my_copy}, own_in_tensor_, in_tensor_);
            }
    if (matrix_size_ == 0) return;
    for (auto copy : copy_offsets(tensor))
        for (std::size_t c = 0; c < columns_.in_matrix.size(); ++c)
            for (std::size_t r = 0; r < rows_.in_matrix.size(); ++r)
                add({rows_.rank_part[r] + columns_.rank_part[c] + copy, &rows_.in_matrix[r], &columns_.in_matrix[c], copy == my_copy},
                    own_in_matrix_, in_matrix_);
}

std::int64_t MatrixExchange::elements(const std::vector<Block>& blocks, bool to_matrix) const {
    std::int64_t sum = 0;
    for (const auto& block : blocks)
        if (block.same_copy || !to_matrix) sum += block.count();
    return sum;
}

std::int64_t MatrixExchange::buffer_elements() const {
    return std::max(elements(in_tensor_, true) + elements(in_matrix_, true), elements(in_tensor_, false) + elements(in_matrix_, false));
}

std::int64_t MatrixExchange::list_bytes() const {
    std::size_t count = 0;
    for (const auto* side : {&rows_, &columns_})
        for (const auto* lists : {&side->in_tensor, &side->in_matrix})
            for (const auto& list : *lists) count += list.offsets.capacity();
    return count * sizeof(std::int64_t);
}

bool MatrixExchange::is_identity() const {
    const auto &t = own_in_tensor_, &m = own_in_matrix_;
    return tensor_size_ == matrix_size_ && t.count() == tensor_size_ && in_matrix_.empty() && t.rows->offsets == m.rows->offsets &&
           t.columns->offsets == m.columns->offsets;
}

void MatrixExchange::move(const MatrixKernels& kernels, const void* from, void* to, bool to_matrix, bool conjugate,
                          Workspace& workspace) const {
    const auto &out = to_matrix ? in_tensor_ : in_matrix_, &in = to_matrix ? in_matrix_ : in_tensor_;
    const Workspace::Scope scope(workspace);
    FirstError error;
    auto* next = workspace.take<std::byte>((elements(out, to_matrix) + elements(in, to_matrix)) * kernels.size);
    const auto pieces = [&](const std::vector<Block>& blocks) {
        std::vector<Piece> result;
        for (const auto& block : blocks) {
            if (to_matrix && !block.same_copy) continue;
            result.push_back({block.peer, next, block.count() * kernels.size});
            next += result.back().bytes;
        }
        return result;
    };
    // Between a block of a side and its message, which is dense.
    const auto copy_block = [&](const Block& block, const void* source, void* target, bool packs) {
        const auto sides = lists(block);
        const auto listed = listed_sides(sides), dense = dense_sides(sides[0]->count());
        copy(kernels, packs ? listed : dense, packs ? dense : listed, {sides[0]->count(), sides[1]->count()}, source, target,
             !packs && conjugate);
    };
    const auto sends = pieces(out), receives = pieces(in);
    std::size_t piece = 0;
    error.run([&] {
        for (const auto& block : out)
            if (block.same_copy || !to_matrix) copy_block(block, from, sends[piece++].data, true);
    });
    PendingExchange pending;
    if (comm_ != nullptr) pending = comm_->start(sends, receives);
    error.run([&] {
        const auto source = lists(to_matrix ? own_in_tensor_ : own_in_matrix_), target = lists(to_matrix ? own_in_matrix_ : own_in_tensor_);
        if (source[0]->count() * source[1]->count() > 0)
            copy(kernels, listed_sides(source), listed_sides(target), {source[0]->count(), source[1]->count()}, from, to, conjugate);
    });
    if (comm_ != nullptr) comm_->finish(pending);
    error.rethrow();
    piece = 0;
    for (const auto& block : in)
        if (block.same_copy || !to_matrix) copy_block(block, receives[piece++].data, to, false);
}

}  // namespace arges::linalg

// Cyclic distributions of a symmetric slot: by packed index, by rows of a triangle, or in blocks
// with virtual ones (cyclops-2012, section 3).
#include "layout/slot_layout.hpp"

#include "arges/error.hpp"

#include <algorithm>

namespace arges {

namespace {

/// The node with its leaves renumbered 0, 1, ... by position.
SymmetryNode by_position(const SymmetryNode& node, int& next) {
    SymmetryNode result{node.kind, -1, {}};
    if (node.kind == NodeKind::leaf) {
        result.dimension = next++;
        return result;
    }
    for (const auto& child : node.children) result.children.push_back(by_position(child, next));
    return result;
}

SymmetryNode by_position(const SymmetryNode& node) {
    int next = 0;
    return by_position(node, next);
}

std::vector<std::int64_t> extents_by_position(const SymmetryNode& slot, std::span<const std::int64_t> extents) {
    std::vector<std::int64_t> result;
    for (int d : slot.dimensions()) result.push_back(extents[d]);
    return result;
}

/// Throws unless corresponding leaves of permuted children have equal phases.
void check_phases(const SymmetryNode& node, const std::vector<std::int64_t>& phase) {
    if (node.kind == NodeKind::leaf) return;
    for (const auto& child : node.children) check_phases(child, phase);
    if (node.kind == NodeKind::product) return;
    const auto first = node.children[0].dimensions();
    for (const auto& child : node.children) {
        const auto other = child.dimensions();
        for (std::size_t l = 0; l < first.size(); ++l)
            if (phase[first[l]] != phase[other[l]])
                throw InvalidArgument("layout: dimensions that a symmetry exchanges need the same cyclic phase; make up the "
                                      "difference by a virtual factor");
    }
}

}  // namespace

SlotLayout::SlotLayout(const SymmetryNode& slot, std::span<const std::int64_t> extents, std::span<const std::int64_t> local_extents,
                       bool keep_equal)
    : tree_(by_position(slot)), node_(tree_, local_extents, keep_equal), extents_(extents.begin(), extents.end()), width_(extents.size()) {}

SlotLayout SlotLayout::packed(const SymmetryNode& slot, std::span<const std::int64_t> extents, std::int64_t grid_length, std::int64_t begin,
                              std::int64_t end) {
    const auto by_pos = extents_by_position(slot, extents);
    SlotLayout result(slot, by_pos, by_pos, false);
    result.grid_length_ = grid_length;
    result.by_grid_length_ = Divider(grid_length);
    result.begin_ = begin;
    result.end_ = end < 0 ? result.node_.size() : end;
    return result;
}

SlotLayout SlotLayout::rows(const SymmetryNode& slot, std::span<const std::int64_t> extents, std::int64_t grid_length) {
    auto result = packed(slot, extents, grid_length);
    if (result.node_.children().size() != 2) throw InvalidArgument("layout: only a node over two children can be distributed by rows");
    result.rows_ = true;
    return result;
}

SlotLayout SlotLayout::blocks(const SymmetryNode& slot, std::span<const std::int64_t> extents, std::vector<std::int64_t> physical,
                              std::vector<std::int64_t> virtual_factor, std::int64_t begin, std::int64_t end) {
    const auto by_pos = extents_by_position(slot, extents);
    std::vector<std::int64_t> phase, local;
    bool cut = false;
    for (std::size_t d = 0; d < by_pos.size(); ++d) {
        phase.push_back(physical[d] * virtual_factor[d]);
        local.push_back(ceil_div(by_pos[d], phase[d]));
        cut = cut || phase[d] > 1;
    }
    check_phases(by_position(slot), phase);
    if (!cut || slot.kind == NodeKind::leaf) {
        std::int64_t grid_length = 1;
        for (auto p : physical) grid_length *= p;
        return packed(slot, extents, grid_length, begin, end);
    }
    SlotLayout result(slot, by_pos, local, true);
    result.blocks_ = true;
    for (std::size_t d = 0; d < by_pos.size(); ++d) {
        result.grid_length_ *= physical[d];
        result.virtual_blocks_ *= virtual_factor[d];
    }
    result.physical_ = std::move(physical);
    result.virtual_ = std::move(virtual_factor);
    result.begin_ = begin;
    result.end_ = end < 0 ? result.virtual_blocks_ * result.node_.size() : end;
    return result;
}

std::int64_t SlotLayout::local_size(std::int64_t coordinate) const {
    if (blocks_) return size();
    if (rows_) return row_start(coordinate, count_residues(node_.children()[0].size(), coordinate, grid_length_));
    const auto first = begin_ + ((coordinate - begin_) % grid_length_ + grid_length_) % grid_length_;
    return first < end_ ? ceil_div(end_ - first, grid_length_) : 0;
}

std::int64_t SlotLayout::max_local_size() const {
    // In rows, the coordinate of the last and longest row has the most elements.
    if (rows_) return local_size(std::max<std::int64_t>(0, node_.children()[0].size() - 1) % grid_length_);
    return local_size(blocks_ ? 0 : begin_ % grid_length_);
}

SlotLocation SlotLayout::locate(std::int64_t* x) const {
    SlotLocation at;
    if (!blocks_) {
        const auto c = node_.canonicalize(x, nullptr);
        at.negative = c.negative;
        at.conjugate = c.conjugate;
        at.zero = c.zero;
        at.real = c.real;
        at.outside = c.index < begin_ || c.index >= end_;
        if (rows_) {
            const auto split = node_.children()[0].width();
            const auto row = node_.children()[1].pack(x + split);
            at.coordinate = row % grid_length_;
            at.index = row_start(at.coordinate, row / grid_length_) + node_.children()[0].pack(x);
            return at;
        }
        at.coordinate = c.index % grid_length_;
        at.index = (c.index - begin_) / grid_length_;
        return at;
    }
    std::array<std::int64_t, max_slot_order> local, residue;
    const std::size_t w = width_;
    for (std::size_t d = 0; d < w; ++d) {
        const auto phase = physical_[d] * virtual_[d];
        local[d] = x[d] / phase;
        residue[d] = x[d] % phase;
    }
    const auto c = node_.canonicalize(local.data(), residue.data());
    at.negative = c.negative;
    at.conjugate = c.conjugate;
    at.zero = c.zero;
    at.real = c.real;
    std::int64_t block = 0;
    for (std::size_t d = w; d-- > 0;) {
        at.coordinate = at.coordinate * physical_[d] + residue[d] % physical_[d];
        block = block * virtual_[d] + residue[d] / physical_[d];
        x[d] = local[d] * physical_[d] * virtual_[d] + residue[d];
    }
    at.index = block * node_.size() + c.index - begin_;
    at.outside = at.index < 0 || at.index >= size();
    return at;
}

SlotLocation SlotLayout::find(const std::int64_t* x) const {
    std::array<std::int64_t, max_slot_order> copy;
    if (blocks_) {
        std::copy(x, x + width_, copy.begin());
        return locate(copy.data());
    }
    const auto c = node_.find(x, copy.data());
    SlotLocation at;
    at.negative = c.negative;
    at.conjugate = c.conjugate;
    at.zero = c.zero;
    at.real = c.real;
    if (c.zero) return at;
    const auto distributed = rows_ ? copy[1] : c.index;
    const auto turn = by_grid_length_.quotient(distributed);
    at.coordinate = distributed - turn * grid_length_;
    at.index = rows_ ? row_start(at.coordinate, turn) + copy[0] : turn;
    return at;
}

std::int64_t SlotLayout::orbit_size(const std::int64_t* x) const {
    if (!blocks_) return node_.orbit_size(x, nullptr);
    std::array<std::int64_t, max_slot_order> local, residue;
    for (std::int64_t d = 0; d < width_; ++d) {
        const auto phase = physical_[d] * virtual_[d];
        local[d] = x[d] / phase;
        residue[d] = x[d] % phase;
    }
    return node_.orbit_size(local.data(), residue.data());
}

bool SlotLayout::operator==(const SlotLayout& other) const {
    return tree_ == other.tree_ && extents_ == other.extents_ && blocks_ == other.blocks_ && rows_ == other.rows_ &&
           grid_length_ == other.grid_length_ && begin_ == other.begin_ && end_ == other.end_ && physical_ == other.physical_ &&
           virtual_ == other.virtual_;
}

}  // namespace arges

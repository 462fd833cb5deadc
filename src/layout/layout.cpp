// The layout of a tensor at rest: the longest torus dimensions go to the slots that are longest per coordinate, after cyclops-2012,
// section 4.2; in the block way virtual factors make phases equal (section 4.1).
#include "layout/layout.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <numeric>

namespace arges {

std::int64_t RankGrid::ranks() const {
    std::int64_t product = 1;
    for (auto l : lengths) product *= l;
    return product;
}

std::int64_t RankGrid::coordinate(std::int64_t rank, int dimension) const { return rank / stride(dimension) % lengths[dimension]; }

std::int64_t RankGrid::stride(int dimension) const {
    std::int64_t product = 1;
    for (int d = 0; d < dimension; ++d) product *= lengths[d];
    return product;
}

std::int64_t RankGrid::coordinate_of(std::span<const int> along, std::int64_t rank) const {
    std::int64_t result = 0, stride = 1;
    for (int d : along) {
        result += coordinate(rank, d) * stride;
        stride *= lengths[d];
    }
    return result;
}

std::vector<int> SlotMapping::all() const {
    if (!is_blocks()) return torus;
    std::vector<int> result;
    for (const auto& list : torus_by_position) result.insert(result.end(), list.begin(), list.end());
    return result;
}

namespace {

std::int64_t product_of_lengths(const RankGrid& grid, const std::vector<int>& torus) {
    std::int64_t product = 1;
    for (int t : torus) product *= grid.lengths[t];
    return product;
}

SlotLayout make_slot(const RankGrid& grid, const SymmetryNode& slot, const std::vector<std::int64_t>& extents, const SlotMapping& mapping) {
    if (mapping.rows) return SlotLayout::rows(slot, extents, product_of_lengths(grid, mapping.torus));
    if (!mapping.is_blocks()) return SlotLayout::packed(slot, extents, product_of_lengths(grid, mapping.torus), mapping.begin, mapping.end);
    std::vector<std::int64_t> physical;
    for (const auto& list : mapping.torus_by_position) physical.push_back(product_of_lengths(grid, list));
    return SlotLayout::blocks(slot, extents, physical, mapping.virtual_factor, mapping.begin, mapping.end);
}

}  // namespace

Layout::Layout() {
    static const auto nothing = std::make_shared<const Held>();
    held_ = nothing;
}

Layout::Layout(RankGrid grid, std::vector<std::int64_t> extents, Symmetry symmetry, std::vector<SlotMapping> mapping,
               const std::vector<int>& partial) {
    auto held = std::make_shared<Held>();
    held->user.assign(grid.lengths.size(), -1);
    held->partial.assign(grid.lengths.size(), false);
    for (std::size_t s = 0; s < mapping.size(); ++s) {
        const auto& slot = symmetry.slots()[s];
        held->slots.push_back({make_slot(grid, slot, extents, mapping[s]), slot.dimensions(), {}});
        for (int t : mapping[s].all()) {
            auto& user = held->user[t];
            if (user >= 0) throw InvalidArgument("layout: torus dimension " + std::to_string(t) + " is used twice");
            user = s;
            held->slots.back().torus.push_back({grid.stride(t), grid.lengths[t]});
        }
    }
    for (int t : partial) held->partial[t] = true;
    held->grid = std::move(grid);
    held->extents = std::move(extents);
    held->symmetry = std::move(symmetry);
    held->mapping = std::move(mapping);
    held_ = std::move(held);
}

std::int64_t Layout::coordinate(std::int64_t rank, int s) const {
    std::int64_t result = 0, shorter = 1;
    for (const auto& [stride, length] : held_slot(s).torus) {
        result += rank / stride % length * shorter;
        shorter *= length;
    }
    return result;
}

std::int64_t Layout::rank_at(std::int64_t coordinate, int s) const {
    std::int64_t rank = 0;
    for (const auto& [stride, length] : held_slot(s).torus) {
        rank += coordinate % length * stride;
        coordinate /= length;
    }
    return rank;
}

std::int64_t Layout::copy_offset(std::int64_t rank) const {
    std::int64_t offset = 0;
    if (grid().is_idle(rank)) return offset;
    for (int t = 0; t < grid().dimensions(); ++t)
        if (slot_of_torus(t) < 0) offset += grid().coordinate(rank, t) * grid().stride(t);
    return offset;
}

std::vector<std::int64_t> Layout::local_sizes(std::int64_t rank) const {
    std::vector<std::int64_t> result(held_->slots.size(), 0);
    if (grid().is_idle(rank)) return result;
    for (int s = 0; s < slots(); ++s) result[s] = slot(s).local_size(coordinate(rank, s));
    return result;
}

std::int64_t Layout::local_size(std::int64_t rank) const {
    if (grid().is_idle(rank)) return 0;
    std::int64_t product = 1;
    for (int s = 0; s < slots(); ++s) product *= slot(s).local_size(coordinate(rank, s));
    return product;
}

std::int64_t Layout::max_local_size() const {
    std::int64_t product = 1;
    for (const auto& s : held_->slots) product *= s.layout.max_local_size();
    return product;
}

std::vector<std::int64_t> Layout::strides(std::int64_t rank) const {
    auto result = local_sizes(rank);
    std::int64_t stride = 1;
    for (auto& s : result) {
        const auto n = s;
        s = stride;
        stride *= n;
    }
    return result;
}

std::int64_t Layout::copies() const {
    std::int64_t product = 1;
    for (int t = 0; t < grid().dimensions(); ++t)
        if (slot_of_torus(t) < 0) product *= grid().lengths[t];
    return product;
}

bool Layout::has_padding() const {
    return std::any_of(held_->slots.begin(), held_->slots.end(), [](const Slot& slot) { return slot.layout.is_blocks(); });
}

bool Layout::is_first_copy(std::int64_t rank) const {
    if (grid().is_idle(rank)) return false;
    for (int t = 0; t < grid().dimensions(); ++t)
        if (slot_of_torus(t) < 0 && !is_partial(t) && grid().coordinate(rank, t) != 0) return false;
    return true;
}

std::int64_t Layout::full_size() const {
    std::int64_t product = 1;
    for (auto n : extents()) product *= n;
    return product;
}

std::int64_t Layout::packed_size() const {
    std::int64_t product = 1;
    for (const auto& slot : symmetry().slots()) product *= PackedNode(slot, extents(), false).size();
    return product;
}

bool Layout::operator==(const Layout& other) const {
    if (held_ == other.held_) return true;
    return grid() == other.grid() && extents() == other.extents() && symmetry() == other.symmetry() &&
           held_->mapping == other.held_->mapping && held_->partial == other.held_->partial;
}

std::string Layout::to_string(const std::vector<std::string>& names) const {
    std::string text;
    auto name = [&](int d) { return static_cast<std::size_t>(d) < names.size() ? names[d] : "[" + std::to_string(d) + "]"; };
    for (int s = 0; s < slots(); ++s) {
        std::string part;
        const auto& m = mapping(s);
        for (std::size_t i = 0; i < slot_dimensions(s).size(); ++i) {
            part += name(slot_dimensions(s)[i]);
            if (m.is_blocks()) {
                part += "/" + std::to_string(slot(s).is_blocks() ? slot(s).physical()[i] : 1);
                if (m.virtual_factor[i] > 1) part += "v" + std::to_string(m.virtual_factor[i]);
            }
        }
        if (slot(s).width() > 1) part = "(" + part + ")";
        if (!m.is_blocks() && slot(s).grid_length() > 1) part += "/" + std::to_string(slot(s).grid_length()) + (m.rows ? " by rows" : "");
        text += (text.empty() ? "" : " ") + part;
    }
    if (text.empty()) text = "scalar";
    std::int64_t replicas = 1, parts = 1;
    for (int t = 0; t < grid().dimensions(); ++t)
        if (slot_of_torus(t) < 0) (is_partial(t) ? parts : replicas) *= grid().lengths[t];
    if (replicas > 1) text += " x" + std::to_string(replicas) + " copies";
    if (parts > 1) text += " x" + std::to_string(parts) + " parts of a sum";
    return text;
}

std::vector<int> longest_first(const RankGrid& grid) {
    std::vector<int> order;
    for (int t = 0; t < grid.dimensions(); ++t) order.push_back(t);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return grid.lengths[a] > grid.lengths[b]; });
    return order;
}

namespace {

/// Index of the largest length that can still be divided by `factor`, or -1. Later entries win ties: they vary slowest.
int longest_divisible(const std::vector<double>& lengths, std::int64_t factor) {
    int best = -1;
    for (std::size_t i = 0; i < lengths.size(); ++i)
        if (lengths[i] >= static_cast<double>(factor) && (best < 0 || lengths[i] >= lengths[best])) best = i;
    return best;
}

/// Rows of a triangle are distributed where no coordinate has more than this times the mean.
constexpr double max_row_imbalance = 1.05;

/// Should the slot be distributed by rows?
bool prefers_rows(const RankGrid& grid, const SymmetryNode& slot, const std::vector<std::int64_t>& extents, const SlotMapping& mapping) {
    if (slot.children.size() != 2 || slot.kind == NodeKind::product || slot.children[0].kind == NodeKind::leaf) return false;
    const auto layout = SlotLayout::rows(slot, extents, product_of_lengths(grid, mapping.torus));
    return static_cast<double>(layout.max_local_size() * layout.grid_length()) <= max_row_imbalance * static_cast<double>(layout.size());
}

}  // namespace

Layout default_layout(const RankGrid& grid, const std::vector<std::int64_t>& extents, const Symmetry& symmetry) {
    std::vector<SlotMapping> mapping(symmetry.slots().size());
    std::vector<double> remaining;
    for (const auto& slot : symmetry.slots()) remaining.push_back(PackedNode(slot, extents, false).size());
    for (int t : longest_first(grid)) {
        const auto length = grid.lengths[t];
        const int s = longest_divisible(remaining, length);
        if (s < 0) continue;
        mapping[s].torus.push_back(t);
        remaining[s] /= static_cast<double>(length);
    }
    for (std::size_t s = 0; s < mapping.size(); ++s)
        mapping[s].rows = !mapping[s].torus.empty() && prefers_rows(grid, symmetry.slots()[s], extents, mapping[s]);
    return Layout(grid, extents, symmetry, mapping);
}

Layout spread_layout(std::span<const RankGrid> grids, const std::vector<std::int64_t>& extents, const Symmetry& symmetry) {
    constexpr std::int64_t small = 1000;  // elements of which every rank may as well have a copy
    auto best = default_layout(grids.front(), extents, symmetry);
    for (const auto& grid : grids.subspan(1)) {
        if (best.copies() == 1 || best.max_local_size() <= small) break;
        auto other = default_layout(grid, extents, symmetry);
        if (other.max_local_size() < best.max_local_size()) best = std::move(other);
    }
    return best;
}

namespace {

/// Raises virtual factors until dimensions that `node` exchanges have equal phases.
void equalize_phases(const SymmetryNode& node, const std::vector<int>& position, std::vector<std::int64_t>& phase) {
    for (const auto& child : node.children) equalize_phases(child, position, phase);
    if (node.kind == NodeKind::leaf || node.kind == NodeKind::product) return;
    const auto width = node.children[0].dimensions().size();
    for (std::size_t l = 0; l < width; ++l) {
        std::int64_t common = 1;
        for (const auto& child : node.children) common = std::lcm(common, phase[position[child.dimensions()[l]]]);
        for (const auto& child : node.children) phase[position[child.dimensions()[l]]] = common;
    }
}

}  // namespace

SlotMapping block_mapping(const RankGrid& grid, const SymmetryNode& slot, std::vector<std::vector<int>> torus_by_position) {
    const auto dims = slot.dimensions();
    std::vector<int> position(static_cast<std::size_t>(*std::max_element(dims.begin(), dims.end())) + 1, 0);
    for (std::size_t i = 0; i < dims.size(); ++i) position[dims[i]] = i;
    std::vector<std::int64_t> physical;
    for (const auto& list : torus_by_position) physical.push_back(product_of_lengths(grid, list));
    auto phase = physical;
    for (auto before = std::vector<std::int64_t>(); before != phase;) {
        before = phase;
        equalize_phases(slot, position, phase);
    }
    SlotMapping mapping;
    if (slot.kind == NodeKind::leaf) {
        mapping.torus = torus_by_position[0];
        return mapping;
    }
    mapping.torus_by_position = std::move(torus_by_position);
    for (std::size_t i = 0; i < phase.size(); ++i) mapping.virtual_factor.push_back(phase[i] / physical[i]);
    return mapping;
}

Layout block_layout(const RankGrid& grid, const std::vector<std::int64_t>& extents, const Symmetry& symmetry) {
    std::vector<std::vector<int>> torus(extents.size());
    std::vector<double> remaining(extents.begin(), extents.end());
    for (int t : longest_first(grid)) {
        const auto length = grid.lengths[t];
        const int d = longest_divisible(remaining, length);
        if (d < 0) continue;
        torus[d].push_back(t);
        remaining[d] /= static_cast<double>(length);
    }
    std::vector<SlotMapping> mapping;
    for (const auto& slot : symmetry.slots()) {
        std::vector<std::vector<int>> by_position;
        for (int d : slot.dimensions()) by_position.push_back(torus[d]);
        mapping.push_back(block_mapping(grid, slot, by_position));
    }
    return Layout(grid, extents, symmetry, mapping);
}

bool is_plain(const Layout& layout) {
    if (layout.slots() != layout.order()) return false;
    for (int s = 0; s < layout.slots(); ++s) {
        const auto& slot = layout.slot(s);
        if (layout.slot_dimensions(s)[0] != s || slot.is_blocks() || slot.size() != layout.extents()[s]) return false;
    }
    return true;
}

std::vector<std::int64_t> plain_index(const Layout& layout, std::int64_t rank, std::int64_t offset) {
    std::vector<std::int64_t> x;
    for (int s = 0; s < layout.slots(); ++s) {
        const auto coordinate = layout.coordinate(rank, s), length = layout.slot(s).local_size(coordinate);
        x.push_back(coordinate + offset % length * layout.slot(s).grid_length());
        offset /= length;
    }
    return x;
}

}  // namespace arges

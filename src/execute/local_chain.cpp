// The local products of a fused product. Where a result between two of them would not stay in the cache they run tile by tile, as
// plan/product/chain_tiles says.
#include "execute/local_chain.hpp"

#include "base/element_at.hpp"

#include <algorithm>

namespace arges {

namespace {

/// The place of an axis in a list, as long as the list if it is not there.
std::size_t place_of(const std::vector<int>& axes, int axis) { return std::find(axes.begin(), axes.end(), axis) - axes.begin(); }

void multiply(const ElementKernels& kernels, const LocalPiece& a, const LocalPiece* b, const void* alpha, const void* beta,
              const LocalPiece& c) {
    const auto fold = local::folded(a.block, b != nullptr ? &b->block : nullptr, c.block);
    if (b == nullptr) return kernels.reduce(fold, alpha, a.array, beta, c.array);
    kernels.contract(fold, alpha, a.array, b->array, beta, c.array);
}

}  // namespace

/// One call of run().
struct LocalChain::Call {
    const ElementKernels& kernels;
    const LocalPiece& result;
    const void *alpha, *beta;
    std::vector<std::int64_t> length;  // by axis
    std::vector<std::byte*> buffers;
    std::vector<LocalPiece> nodes;  // the factors, then what the products have made
};

LocalChain::LocalChain(const ProductPlan& plan, std::vector<std::int64_t> length, std::int64_t tile_bytes)
    : element_bytes_(plan.spec.element_bytes), factors_(plan.result()), buffers_(plan.buffers), chain_(plan.chain),
      length_(std::move(length)), parts_(tiled_products(plan, length_, tile_bytes / element_bytes_)) {}

std::vector<std::int64_t> LocalChain::buffer_elements(const std::vector<std::int64_t>& length) const {
    std::vector<std::int64_t> result(buffers_, 0);
    for (const auto& part : parts_)
        for (auto s = part.first; s <= part.last; ++s) {
            if (chain_[s].buffer < 0) continue;
            std::int64_t elements = 1;
            for (int a : chain_[s].axes) {
                const auto whole = length[a];
                elements *= s == part.last ? whole : part.tile_length(a, whole);
            }
            auto& most = result[chain_[s].buffer];
            most = std::max(most, elements);
        }
    return result;
}

std::int64_t LocalChain::workspace_bytes() const {
    std::int64_t sum = 0;
    for (const auto elements : buffer_elements(length_)) sum += Workspace::padded(elements * element_bytes_);
    return sum;
}

void LocalChain::run(const ElementKernels& kernels, const std::vector<LocalPiece>& operands, const void* alpha, const void* beta,
                     Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    Call call{kernels, operands.back(), alpha, beta, std::vector<std::int64_t>(length_.size(), 0), {}, {}};
    for (std::size_t o = 0; o < factors_; ++o) {
        const auto& block = operands[o].block;
        for (std::size_t i = 0; i < block.axes.size(); ++i) call.length[block.axes[i]] = block.sizes[i];
        call.nodes.push_back(operands[o]);
    }
    for (const auto elements : buffer_elements(call.length)) call.buffers.push_back(workspace.take(elements, kernels.size, kernels.space));
    call.nodes.resize(factors_ + chain_.size());
    for (const auto& part : parts_) run_part(call, part);
}

void LocalChain::run_part(Call& call, const TiledProducts& part) const {
    const auto& last = chain_[part.last];
    call.nodes[factors_ + part.last] =
        last.buffer < 0 ? call.result : LocalPiece{local::dense_block(last.axes, call.length), call.buffers[last.buffer]};
    std::vector<std::int64_t> begin(part.tiles.size(), 0);
    for (bool more = true; more;) {
        run_tile(call, part, begin);
        more = false;
        for (auto t = part.tiles.size(); t-- > 0 && !more;) {
            begin[t] += part.tiles[t].length;
            more = begin[t] < call.length[part.tiles[t].axis];
            if (!more) begin[t] = 0;
        }
    }
}

/// The products of a part on the tile that begins at index begin[t] of the axis of its t-th tile.
void LocalChain::run_tile(Call& call, const TiledProducts& part, const std::vector<std::int64_t>& begin) const {
    auto length = call.length;
    for (std::size_t t = 0; t < begin.size(); ++t) {
        auto& size = length[part.tiles[t].axis];
        size = std::min(part.tiles[t].length, size - begin[t]);
    }
    bool adds = false;  // to what earlier tiles have summed
    const auto cut = [&](LocalPiece piece) {
        for (std::size_t t = 0; t < begin.size(); ++t) {
            const auto place = place_of(piece.block.axes, part.tiles[t].axis);
            if (place == piece.block.axes.size()) continue;
            piece.block.sizes[place] = length[part.tiles[t].axis];
            piece.array = element_at(static_cast<void*>(piece.array), begin[t] * piece.block.strides[place], element_bytes_);
        }
        return piece;
    };
    const auto input = [&](int node) {
        const std::size_t n = node;
        return n < factors_ + part.first ? cut(call.nodes[n]) : call.nodes[n];
    };
    for (std::size_t t = 0; t < begin.size(); ++t)
        adds = adds || (begin[t] > 0 && place_of(chain_[part.last].axes, part.tiles[t].axis) == chain_[part.last].axes.size());
    for (auto s = part.first; s <= part.last; ++s) {
        const auto& step = chain_[s];
        auto& made = call.nodes[factors_ + s];
        if (s < part.last) made = {local::dense_block(step.axes, length), call.buffers[step.buffer]};
        const bool is_result = step.buffer < 0;
        const void* const beta = s == part.last && adds ? nullptr : is_result ? call.beta : call.kernels.zero;
        const auto first = input(step.first);
        const auto second = step.second == LocalProduct::no_second ? LocalPiece() : input(step.second);
        multiply(call.kernels, first, step.second == LocalProduct::no_second ? nullptr : &second, is_result ? call.alpha : nullptr, beta,
                 s == part.last ? cut(made) : made);
    }
}

}  // namespace arges

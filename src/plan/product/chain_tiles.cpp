// Tiles of the axes that all results between some products of a chain have: no product is computed twice, and only the last one sums over
// several tiles. (Loop tiling; for fused tensor products as in deinsum-2022, section IV, on the level of the cache.)
#include "plan/product/chain_tiles.hpp"

#include "base/math.hpp"

#include <algorithm>
#include <optional>

namespace arges {

namespace {

constexpr std::int64_t shortest_run = 64;  // elements of the largest operand that follow each other in memory, where they are cut

class ChainTiler {
public:
    ChainTiler(const ProductPlan& plan, const std::vector<std::int64_t>& length, std::int64_t room)
        : plan_(plan), length_(length), room_(room) {}

    std::vector<TiledProducts> parts() const {
        std::vector<TiledProducts> result;
        for (std::size_t s = 0; s < plan_.chain.size(); s = result.back().last + 1) {
            result.push_back({s, s, {}});
            while (auto longer = extended(result.back())) result.back() = *std::move(longer);
        }
        return result;
    }

private:
    /// With the next product, if the result in between is large and there are tiles.
    std::optional<TiledProducts> extended(const TiledProducts& part) const {
        const auto next = part.last + 1;
        if (next == plan_.chain.size() || elements(plan_.chain[part.last].axes) <= room_) return std::nullopt;
        const auto& product = plan_.chain[next];
        if (!takes(product, plan_.result() + part.last) || overwrites_an_input(part, product)) return std::nullopt;
        TiledProducts longer{part.first, next, {}};
        if (!find_tiles(longer)) return std::nullopt;
        return longer;
    }

    static bool takes(const LocalProduct& product, int node) { return product.first == node || product.second == node; }

    /// Would the product write to a buffer from which the next tile still reads, or to which it writes before it adds to the result?
    bool overwrites_an_input(const TiledProducts& part, const LocalProduct& product) const {
        for (auto s = part.first; s <= part.last; ++s)
            if (product.buffer >= 0 && plan_.chain[s].buffer == product.buffer) return true;
        const auto outside = outer_nodes(part);
        return std::any_of(outside.begin(), outside.end(), [&](int node) {
            const std::size_t n = node;
            return n >= plan_.result() && product.buffer >= 0 && plan_.chain[n - plan_.result()].buffer == product.buffer;
        });
    }

    /// What a part reads and does not make, and its result.
    std::vector<int> outer_nodes(const TiledProducts& part) const {
        const int made = plan_.result() + part.first, result = plan_.result() + part.last;
        std::vector<int> nodes{result};
        for (auto s = part.first; s <= part.last; ++s)
            for (int node : {plan_.chain[s].first, plan_.chain[s].second})
                if (node != LocalProduct::no_second && node < made) nodes.push_back(node);
        return nodes;
    }

    std::int64_t elements(const std::vector<int>& axes) const {
        std::int64_t product = 1;
        for (int a : axes) product = saturated_product(product, length_[a]);
        return product;
    }

    /// Elements of the results inside of a part, in one tile or as a whole.
    std::int64_t inside(const TiledProducts& part) const {
        std::int64_t sum = 0;
        for (auto s = part.first; s < part.last; ++s) {
            std::int64_t product = 1;
            for (int a : plan_.chain[s].axes) product = saturated_product(product, part.tile_length(a, length_[a]));
            sum = saturated_sum(sum, product);
        }
        return sum;
    }

    /// Elements that are read and written more than once because their operands lack axes of the tiles.
    std::int64_t again(const TiledProducts& part) const {
        std::int64_t sum = 0;
        for (int node : outer_nodes(part)) {
            const auto& axes = plan_.axes_of_node(node);
            std::int64_t times = 1;
            for (const auto& tile : part.tiles)
                if (!contains(axes, tile.axis)) times = saturated_product(times, ceil_div(length_[tile.axis], tile.length));
            sum = saturated_sum(sum, saturated_product(elements(axes), times - 1));
        }
        return sum;
    }

    /// Axes of all results inside: those first along which least is read again, then the slowest ones of the largest operand.
    std::vector<int> axes_to_cut(const TiledProducts& part) const {
        const auto nodes = outer_nodes(part);
        auto axes = plan_.chain[part.first].axes;
        std::erase_if(axes, [&](int a) {
            for (auto s = part.first; s < part.last; ++s)
                if (!contains(plan_.chain[s].axes, a)) return true;
            return length_[a] < 2;
        });
        const auto& largest = axes_of_largest(nodes);
        const auto place = [&](int a) { return std::find(largest.begin(), largest.end(), a) - largest.begin(); };
        const auto lacking = [&](int a) {
            std::int64_t sum = 0;
            for (int node : nodes)
                if (!contains(plan_.axes_of_node(node), a)) sum = saturated_sum(sum, elements(plan_.axes_of_node(node)));
            return sum;
        };
        std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) {
            const auto of_a = lacking(a), of_b = lacking(b);
            return of_a != of_b ? of_a < of_b : place(a) > place(b);
        });
        return axes;
    }

    const std::vector<int>& axes_of_largest(const std::vector<int>& nodes) const {
        return plan_.axes_of_node(*std::max_element(
            nodes.begin(), nodes.end(), [&](int a, int b) { return elements(plan_.axes_of_node(a)) < elements(plan_.axes_of_node(b)); }));
    }

    /// Cuts one axis after the other until the results inside fit.
    bool find_tiles(TiledProducts& part) const {
        const auto& largest = axes_of_largest(outer_nodes(part));
        for (int a : axes_to_cut(part)) {
            const auto length = length_[a];
            part.tiles.push_back({a, 1});
            const auto fitting = room_ / inside(part);
            auto& tile = part.tiles.back().length;
            tile = fitting < 1 ? 1 : ceil_div(length, ceil_div(length, std::min(length, fitting)));
            if (!largest.empty() && a == largest.front() && tile < std::min(length, shortest_run)) return false;
            if (fitting >= 1) return again(part) < inside({part.first, part.last, {}});
        }
        return false;
    }

    const ProductPlan& plan_;
    const std::vector<std::int64_t>& length_;
    const std::int64_t room_;
};

}  // namespace

std::int64_t TiledProducts::tile_length(int axis, std::int64_t length) const {
    for (const auto& tile : tiles)
        if (tile.axis == axis) return std::min(length, tile.length);
    return length;
}

std::vector<TiledProducts> tiled_products(const ProductPlan& plan, const std::vector<std::int64_t>& length, std::int64_t room) {
    return ChainTiler(plan, length, room).parts();
}

}  // namespace arges

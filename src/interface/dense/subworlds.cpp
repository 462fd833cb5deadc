#include "arges/subworlds.hpp"

#include "arges/error.hpp"
#include "comm/collective_call.hpp"
#include "interface/dense/tensor_shares.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/world/call_arguments.hpp"
#include "plan/product/axes.hpp"

#include <numeric>

namespace arges {

namespace {

/// The place with nothing left out. @throws InvalidArgument if it is none for the two orders
PartPlace completed(const std::string& title, int order, const AnyTensor& part, PartPlace place) {
    const auto refuse = [&](const std::string& why) { throw InvalidArgument(title + ": " + why); };
    const std::size_t count = order;
    if (part.order() != order)
        refuse("a part of order " + std::to_string(part.order()) + " in a tensor of order " + std::to_string(order) +
               "; give both the same order");
    if (place.begin.empty()) place.begin.resize(count, 0);
    if (place.dimension.empty()) {
        place.dimension.resize(count);
        std::iota(place.dimension.begin(), place.dimension.end(), 0);
    }
    if (place.begin.size() != count || place.dimension.size() != count)
        refuse("a place of " + std::to_string(place.begin.size()) + " begins and " + std::to_string(place.dimension.size()) +
               " dimensions for a tensor of order " + std::to_string(order));
    std::vector<bool> seen(count, false);
    for (int d : place.dimension) {
        if (d < 0 || d >= order || seen[d])
            refuse("the dimensions of a part's place are not a permutation; name each of 0 to " + std::to_string(order - 1) + " once");
        seen[d] = true;
    }
    return place;
}

}  // namespace

std::vector<std::int64_t> subworlds::keys_of(const AnyTensor& whole, const AnyTensor& part, const PartPlace& given, bool once) {
    const auto& state = state_of(whole, once ? "add_part" : "read_part");
    const char* const name = once ? "add_part" : "read_part";
    const CollectiveCall call(state.world->movement_communicator(), name, state);
    const auto* const own_world = part.any_state() ? part.any_state()->world.get() : nullptr;
    require_same_in_worlds(state.world->movement_communicator(), own_world,
                           Digest().add(part).add(given.begin).add(given.dimension).value(), name);
    std::vector<std::int64_t> keys;
    state.world->agree([&] {
        if (!part.any_state()) return;
        const auto& own = state_of(part, "a part");
        const auto title = own.title() + " in " + state.title();
        const auto place = completed(title, whole.order(), part, given);
        auto end = place.begin;
        std::vector<int> whole_dimension(end.size());
        for (std::size_t d = 0; d < end.size(); ++d) {
            const std::size_t from = place.dimension[d];
            end[d] = place.begin[d] > whole.extents()[d] ? place.begin[d] : place.begin[d] + part.extents()[from];
            whole_dimension[from] = d;
        }
        const Ranges ranges{place.begin, end};
        check_ranges(title, whole.extents(), ranges);
        if (once) {
            std::vector<SymmetryNode> slots;
            for (const auto& slot : part.symmetry().slots()) slots.push_back(with_labels(slot, whole_dimension));
            check_part(title, whole.symmetry(), Symmetry(whole.order(), product(std::move(slots))), ranges);
        }
        if (own.world->dry() || (once && !own.shape().is_first_copy(own.rank()))) return;
        state.world->require_free(own.count() * std::int64_t{sizeof(std::int64_t)}, title);
        keys.reserve(own.count());
        std::vector<std::int64_t> stride(end.size(), 1);  // of the part's dimensions, in keys of the whole
        std::int64_t first = 0, step = 1;
        for (std::size_t d = 0; d < end.size(); step *= whole.extents()[d], ++d) {
            stride[place.dimension[d]] = step;
            first += place.begin[d] * step;
        }
        for_each_element(own.shape(), own.rank(), [&](std::int64_t, const std::vector<std::int64_t>& x) {
            keys.push_back(std::inner_product(x.begin(), x.end(), stride.begin(), first));
        });
    });
    return keys;
}

}  // namespace arges

// A chain of local products over one grid (deinsum-2022, section IV), or one over packed axes (cyclops-2012); with windows over summed axes
// it is recursive SUMMA.
#include "execute/run_product.hpp"

#include "arges/error.hpp"
#include "base/element_at.hpp"
#include "base/math.hpp"
#include "layout/slot_layout.hpp"
#include "plan/movement/movement.hpp"
#include "plan/product/step_memory.hpp"

#include <omp.h>

#include <algorithm>

namespace arges {

namespace {

/// Both queues of a device: products run in the first one while copies in the second one bring what they need next. They begin and end
/// together with everything else, which is in the first one.
class Queues {
public:
    /// @param space  null: all is done at once, in its order
    explicit Queues(const MemorySpace* space) : space_(space != nullptr && space->use_queue != nullptr ? space : nullptr) {
        if (space_ == nullptr) return;
        follow_products();
        space_->use_queue(copies);
    }
    ~Queues() {
        if (space_ == nullptr) return;
        space_->follow(products);
        space_->use_queue(products);
    }
    Queues(const Queues&) = delete;
    Queues& operator=(const Queues&) = delete;

    /// Copies from now on follow the products so far.
    void follow_products() const {
        if (space_ != nullptr) space_->follow(copies);
    }
    /// Calls f, whose products follow all copies so far. Copies from now on follow the products before these.
    template <class F>
    void multiply(F&& f) const {
        if (space_ == nullptr) return f();
        follow_products();
        space_->follow(products);
        space_->use_queue(products);
        f();
        space_->use_queue(copies);
    }

private:
    static constexpr int products = 0, copies = 1;
    const MemorySpace* space_;
};

}  // namespace

ProductRun::ProductRun(ProductPlan plan, const Communicator* comm, std::int64_t tile_bytes)
    : plan_(std::move(plan)), comm_(comm), rank_(comm != nullptr ? comm->rank() : 0) {
    for (std::size_t o = 0; o < plan_.operands.size(); ++o) {
        cut_by_.push_back(plan_.window_that_cuts(o));
        whole_.push_back(cut_by_[o] ? Block{} : block_of(o, plan_.operands[o].layout));
        const bool moves = !plan_.operands[o].in_place, in_parts = plan_.moves_in_parts(o);
        movements_.push_back(moves && !in_parts ? std::make_unique<MovementRun>(comm, plan_.movement(o), rank_) : nullptr);
        const auto once = movements_[o] ? movements_[o]->volume() : moves ? movement_volume(plan_.movement(o), rank_) : Volume{};
        volume_.push_back(moves && plan_.has_halved_parts(o) ? exact_volume(plan_, o, rank_) : plan_.repeated(o, once));
        message_elements_.push_back(movements_[o] ? movements_[o]->workspace_elements() : once.sent + once.received);
        const auto lists = moves && cut_by_[o] ? part_lists(plan_, o) : PartLists();
        kept_bytes_ += lists.kept;
        kept_.emplace_back(lists.kept > 0 ? static_cast<std::size_t>(plan_.parts(o)) : 0);
        small_parts_.push_back(lists.are_small());
        if (cut_by_[o]) movements_[o].reset();
        stay_.emplace_back();
        if (o >= plan_.stay.size() || !plan_.stay[o]) continue;
        if (cut_by_[o]) throw Error("a plan moves an input to another layout that windows cut, so that no rank has all of its elements");
        stay_.back() = std::make_unique<MovementRun>(comm, plan_.movement_to_stay(o), rank_);
    }
    if (!is_idle() && !plan_.rows) chain_.emplace(plan_, most_in_window(), tile_bytes);
}

Volume ProductRun::volume() const {
    Volume total;
    for (const auto& v : volume_) {
        total.sent += v.sent;
        total.received += v.received;
    }
    return total;
}

std::int64_t ProductRun::sent_bytes() const {
    std::int64_t bytes = 0;
    for (std::size_t o = 0; o < volume_.size(); ++o) bytes += volume_[o].sent * bytes_in_messages(o);
    return bytes;
}

/// Of an element of an operand.
std::int64_t ProductRun::bytes_in_messages(std::size_t o) const {
    const auto own = o < plan_.result() ? plan_.spec.factors[o].element_bytes : 0;
    return own != 0 ? own : plan_.spec.element_bytes;
}

std::int64_t ProductRun::list_bytes() const {
    auto sum = kept_bytes_;
    for (const auto* runs : {&movements_, &stay_})
        for (const auto& run : *runs)
            if (run) sum += run->list_bytes();
    return sum;
}

/// By axis: most indices that the rank has of it in a window.
std::vector<std::int64_t> ProductRun::most_in_window() const {
    std::vector<std::int64_t> result(plan_.axes.size(), 0);
    for (std::size_t a = 0; a < result.size(); ++a) {
        const auto count = windows_of(plan_.windows, a);
        const auto coordinate = is_idle() ? 0 : plan_.grid.coordinate_of(plan_.mapping[a].all(), rank_);
        const auto until = [&](std::int64_t range) {
            return count_residues(part_begin(plan_.axes[a].size, range, count), coordinate, plan_.grid_lengths[a]);
        };
        for (std::int64_t range = 0; range < count; ++range) result[a] = std::max(result[a], until(range + 1) - until(range));
    }
    if (!plan_.rows)  // an axis that is spread by rows is not cut, one in blocks by its local indices
        for (std::size_t o = 0; o < plan_.result() && !is_idle(); ++o)
            for (std::size_t s = 0; s < plan_.operands[o].axes.size(); ++s)
                if (const auto& slot = plan_.operands[o].layout.slot(s); slot.is_blocks() || slot.is_rows())
                    result[plan_.operands[o].axes[s]] = ceil_div(slot.local_size(plan_.operands[o].layout.coordinate(rank_, s)),
                                                                 windows_of(plan_.windows, plan_.operands[o].axes[s]));
    return result;
}

std::int64_t ProductRun::most_elements(const std::vector<int>& axes, const std::vector<std::int64_t>& length) const {
    std::int64_t product = is_idle() ? 0 : 1;
    for (int a : axes) product *= length[a];
    return product;
}

std::int64_t ProductRun::workspace_bytes() const {
    const auto bytes = [&](std::int64_t count) { return Workspace::padded(count * plan_.spec.element_bytes); };
    const auto length = most_in_window();
    std::int64_t arrays = 0, messages = 0;
    for (std::size_t o = 0; o < plan_.operands.size(); ++o) {
        const auto& operand = plan_.operands[o];
        if (operand.in_place) continue;
        const auto elements = cut_by_[o] ? most_elements(operand.axes, length) : operand.layout.local_size(rank_);
        arrays += plan_.rooms(o) * bytes(elements);
        const auto in_messages = [&](std::int64_t count) { return Workspace::padded(count * bytes_in_messages(o)); };
        std::int64_t own = in_messages(message_elements_[o]);
        if (plan_.has_uneven_parts(o)) {
            own = 0;
            plan_.for_each_part(o, [&](const auto& range) {
                const auto volume = movement_volume(plan_.movement(o, range), rank_);
                own = std::max(own, in_messages(volume.sent) + in_messages(volume.received));
            });
        } else if (cut_by_[o]) {
            own = ceil_div(own, plan_.parts(o)) + 128;
        }
        const auto written = o == plan_.result() ? plan_.spec.output.layout.local_size(rank_) : elements;
        own += conversion_bytes(plan_.movement(o), written, plan_.spec.element_bytes);
        messages = plan_.streams ? messages + own : std::max(messages, own);
    }
    if (chain_) arrays += chain_->workspace_bytes();
    if (plan_.rows) arrays += bytes(row_copies(row_product()) * plan_.operands.back().layout.local_size(rank_));
    return arrays + messages;
}

int ProductRun::slot_of(std::size_t o, int axis) const {
    const auto& list = plan_.operands[o].axes;
    return std::find(list.begin(), list.end(), axis) - list.begin();
}

/// The block of an operand in a layout: its own one in place, of which a window is a range of each slot, or that of a copy.
ProductRun::Block ProductRun::block_of(std::size_t o, const Layout& layout) const {
    const auto& operand = plan_.operands[o];
    Block block{operand.axes, layout.local_sizes(rank_), (operand.in_place ? operand.layout : layout).strides(rank_), 0};
    if (!operand.in_place || is_idle()) return block;
    for (int s = 0; s < layout.slots(); ++s)
        if (const auto& slot = layout.slot(s); !slot.is_rows())
            block.offset +=
                (slot.is_blocks() ? slot.begin() : count_residues(slot.begin(), layout.coordinate(rank_, s), slot.grid_length())) *
                block.strides[s];
    return block;
}

/// Brings a whole input to where the products find it.
void ProductRun::bring_in(Call& call, std::size_t o) const {
    auto& piece = call.pieces[o];
    const auto& operand = plan_.operands[o];
    piece.block = whole_[o];
    const auto size = call.kernels.size;
    if (operand.in_place) {
        piece.array = const_cast<std::byte*>(element_at(call.inputs[o].elements, piece.block.offset, size));
        return;
    }
    piece.array = call.workspace.take(operand.layout.local_size(rank_), size, call.kernels.space);
    call.error.run([&] {
        movements_[o]->run(call.kernels, call.inputs[o], piece.array, nullptr, call.kernels.zero, plan_.spec.factors[o].conjugated,
                           call.workspace);
    });
    if (plan_.is_weighted(o) && !call.error.any()) call.error.run([&] { apply_weights(call.kernels, o, operand.layout, piece); });
}

/// The movement of a part of an operand. Every rank throws if one cannot make its lists, unless they are as small as what a message takes
/// anyway. @param made  holds one that is not kept
const MovementRun& ProductRun::part_of(std::size_t o, const std::vector<std::int64_t>& range, std::unique_ptr<MovementRun>& made) {
    std::size_t part = 0, stride = 1;
    for (std::size_t w = 0; w < plan_.windows.size(); ++w) {
        if (!plan_.axes[plan_.windows[w].axis].in(o)) continue;
        part += static_cast<std::size_t>(range[w]) * stride;
        stride *= static_cast<std::size_t>(plan_.windows[w].count);
    }
    auto& run = kept_[o].empty() ? made : kept_[o][part];
    if (run && !kept_[o].empty()) return *run;
    const auto build = [&] { run = std::make_unique<MovementRun>(comm_, plan_.movement(o, range), rank_); };
    if (small_parts_[o])
        build();
    else
        agree(comm_, build);
    return *run;
}

/// Begins to move the parts of inputs that belong to a range of each window. @param changed  windows before this one are at another range
void ProductRun::start_inputs(Call& call, const std::vector<std::int64_t>& range, std::size_t changed) {
    call.mark = call.workspace.mark();
    for (std::size_t o = 0; o < plan_.result(); ++o) {
        if (!arrives(o, changed) || plan_.operands[o].in_place) continue;
        call.parts[o] = nullptr;
        call.error.run([&] {
            call.parts[o] = &part_of(o, range, call.made[o]);
            call.flights[o] = std::make_unique<MovementRun::Flight>();
            call.flights[o]->channel = static_cast<int>(o) + 1;
            call.parts[o]->start(*call.flights[o], call.kernels, call.inputs[o], call.workspace);
        });
    }
}

/// Takes what has arrived for the range of the call.
void ProductRun::finish_inputs(Call& call, std::size_t changed) {
    const auto size = call.kernels.size;
    for (std::size_t o = 0; o < plan_.result(); ++o) {
        if (!arrives(o, changed)) continue;
        auto& piece = call.pieces[o];
        const auto layout = plan_.window_layout(o, call.range);
        piece.block = block_of(o, layout);
        if (plan_.operands[o].in_place) {
            piece.array = const_cast<std::byte*>(element_at(call.inputs[o].elements, piece.block.offset, size));
            continue;
        }
        piece.array = call.arrays[o].next();
        if (call.flights[o] == nullptr) continue;
        call.error.run([&] {
            call.parts[o]->finish(*call.flights[o], call.kernels, call.inputs[o], piece.array, nullptr, call.kernels.zero,
                                  plan_.spec.factors[o].conjugated);
        });
        call.flights[o].reset();
        if (plan_.is_weighted(o) && !call.error.any()) call.error.run([&] { apply_weights(call.kernels, o, layout, piece); });
    }
    call.workspace.release(call.mark);
}

/// Multiplies the working copy by the orbit size of each element of summed symmetric axes.
void ProductRun::apply_weights(const ElementKernels& kernels, std::size_t o, const Layout& layout, Piece& piece) const {
    if (is_idle()) return;
    for (std::size_t a = 0; a < plan_.axes.size(); ++a) {
        if (plan_.weighted[a] != static_cast<int>(o)) continue;
        const int s = slot_of(o, a);
        kernels.scale_along(piece.block.sizes, piece.block.strides, s, orbit_sizes(layout.slot(s), layout.coordinate(rank_, s)),
                            piece.array);
    }
}

void ProductRun::take_result(Call& call) const {
    const auto o = plan_.result();
    auto& piece = call.pieces[o];
    const auto& operand = plan_.operands[o];
    piece.block = cut_by_[o] ? block_of(o, plan_.window_layout(o, call.range)) : whole_[o];
    piece.array = operand.in_place ? static_cast<std::byte*>(element_at(call.c.elements, piece.block.offset, call.kernels.size))
                  : cut_by_[o]     ? call.arrays[o].next()
                                   : call.workspace.take(operand.layout.local_size(rank_), call.kernels.size, call.kernels.space);
}

/// Are the windows before `end` that do not cut the result at their beginning?
bool ProductRun::is_first(const Call& call, std::size_t end) const {
    for (std::size_t w = 0; w < end; ++w)
        if (!plan_.axes[plan_.windows[w].axis].in(plan_.result()) && call.range[w] != 0) return false;
    return true;
}

void ProductRun::move_out(Call& call, const Part& part) {
    const auto o = plan_.result();
    if (plan_.operands[o].in_place) return;
    // The first movement scales all of the output.
    const bool first = std::all_of(part.range.begin() + cut_by_[o].value_or(0), part.range.end(), [](auto range) { return range == 0; });
    const void* const beta = first ? call.beta : nullptr;
    call.error.run([&] {
        std::unique_ptr<MovementRun> made;
        const auto& movement = movements_[o] ? *movements_[o] : part_of(o, part.range, made);
        movement.run(call.c.kernels_or(call.kernels), {part.array, &call.kernels}, call.c.elements, nullptr, beta, false, call.workspace);
    });
}

void ProductRun::run(const ElementKernels& kernels, const std::vector<SourceArray>& inputs, const TargetArray& c, const void* alpha,
                     const void* beta, const std::vector<void*>& stay, Workspace& workspace) {
    const Workspace::Scope scope(workspace);
    ElementValue weighted;
    if (plan_.weight != 1) {
        weighted = ElementValue(kernels.size);
        kernels.multiple(plan_.weight, alpha != nullptr ? alpha : kernels.one, weighted.data());
        alpha = weighted.data();
    }
    Call call{kernels,
              inputs,
              c,
              alpha,
              beta,
              workspace,
              std::vector<std::int64_t>(plan_.windows.size(), 0),
              std::vector<Piece>(plan_.operands.size()),
              {}};
    const auto result = plan_.result();
    const auto length = most_in_window();
    for (std::size_t o = 0; o <= result; ++o) {
        auto& array = call.arrays.emplace_back();
        if (!cut_by_[o] || plan_.operands[o].in_place) continue;
        const auto take = [&] { return workspace.take(most_elements(plan_.operands[o].axes, length), kernels.size, kernels.space); };
        array.rooms.fill(take());
        if (plan_.rooms(o) == 2) array.rooms.back() = take();
    }
    call.flights.resize(result);
    call.parts.resize(result);
    call.made.resize(result);
    if (!cut_by_[result]) take_result(call);
    for (std::size_t o = 0; o < result; ++o) {
        if (cut_by_[o]) continue;
        bring_in(call, o);
        if (o < stay.size() && stay[o] != nullptr && stay_[o])
            call.error.run([&] { stay_[o]->run(kernels, call.pieces[o].array, stay[o], nullptr, kernels.zero, false, workspace); });
    }
    run_windows(call);
    if (!cut_by_[result]) move_out(call, {call.range, call.pieces[result].array});
    call.error.rethrow();
}

/// The next range of each window, the first window fastest. @return the number of windows that are at another one; 0 at the end
std::size_t ProductRun::next_range(std::vector<std::int64_t>& range) const {
    for (std::size_t w = 0; w < range.size(); ++w) {
        if (++range[w] < plan_.windows[w].count) return w + 1;
        range[w] = 0;
    }
    return 0;
}

/// Runs through the windows. Where the plan streams, the inputs of a window are under way while those of the one before are multiplied; on
/// a device they also arrive then, and the part of the result before leaves.
void ProductRun::run_windows(Call& call) {
    if (plan_.windows.empty()) return multiply(call);
    const auto result = plan_.result();
    const bool is_doubled = plan_.doubles_arrays();
    const Queues queues(is_doubled ? call.kernels.space : nullptr);
    std::optional<Part> made;  // of the result, and has not left
    const auto leave = [&] {
        if (made) move_out(call, *made);
        made.reset();
    };
    auto changed = plan_.windows.size();
    start_inputs(call, call.range, changed);
    for (;;) {
        finish_inputs(call, changed);
        if (arrives(result, changed)) take_result(call);
        auto next = call.range;
        const auto moved = next_range(next);
        const bool is_ahead = plan_.streams && moved > 0;
        if (is_ahead && !is_doubled) start_inputs(call, next, moved);
        queues.multiply([&] { multiply(call); });
        if (is_ahead && is_doubled) start_inputs(call, next, moved);
        leave();
        if (cut_by_[result] && (moved == 0 || arrives(result, moved))) made = {call.range, call.pieces[result].array};
        if (!is_doubled) leave();
        if (moved == 0) break;
        if (!plan_.streams) start_inputs(call, next, moved);
        call.range = std::move(next);
        changed = moved;
    }
    queues.follow_products();
    leave();
    std::fill(call.range.begin(), call.range.end(), 0);
}

void ProductRun::multiply(Call& call) const {
    if (!call.error.any() && !is_idle()) call.error.run([&] { plan_.rows ? multiply_by_rows(call) : multiply_chain(call); });
}

/// The products of one window.
void ProductRun::multiply_chain(Call& call) const {
    const auto result = plan_.result();
    const bool direct = plan_.operands[result].in_place;
    const auto end = direct || !cut_by_[result] ? plan_.windows.size() : *cut_by_[result];  // of the windows that add to one array
    const void* const beta = !is_first(call, end) ? nullptr : direct ? call.beta : call.kernels.zero;
    chain_->run(call.kernels, call.pieces, call.alpha, beta, call.workspace);
}

local::RowProduct ProductRun::row_product() const {
    const auto& pair = *plan_.rows;
    const auto other = 1 - pair.operand, result = plan_.result();
    const auto& layout = plan_.operands[pair.operand].layout;
    const auto& slot = layout.slot(0);
    local::RowProduct product;
    if (layout.grid().is_idle(rank_)) return product;  // no rows
    product.first_row = layout.coordinate(rank_, 0);
    product.row_step = slot.grid_length();
    product.rows = count_residues(slot.node().children()[0].size(), product.first_row, product.row_step);
    product.strict = slot.node().strict();
    product.once = pair.once;
    product.swapped = slot.node().kind() == NodeKind::antisymmetric ? -1 : 1;
    const auto other_strides = plan_.operands[other].layout.strides(rank_);
    const auto result_strides = plan_.operands[result].layout.strides(rank_);
    for (const auto& axis : plan_.axes)
        if (!axis.in(pair.operand)) product.columns *= axis.size;
    for (std::size_t c = 0; c < 2; ++c) {
        const auto& factors = pair.factors[c];
        for (std::size_t f = 0; f < factors.size(); ++f) {
            const int a = factors[f];
            auto& axis = product.child[c][f];
            axis.count = plan_.axes[a].size;
            axis.summed = plan_.axes[a].is_contracted();
            axis.stride = axis.summed ? other_strides[slot_of(other, a)] : result_strides[slot_of(result, a)];
        }
        // Two factors that are both free, or both summed, follow each other in their array: they are one.
        if (factors.size() == 2 && product.child[c][0].summed == product.child[c][1].summed) {
            product.child[c][0].count *= product.child[c][1].count;
            product.child[c][1] = {};
        }
    }
    return product;
}

/// Copies of the result that the local product takes.
std::int64_t ProductRun::row_copies(const local::RowProduct& product) const {
    const auto result = plan_.operands.back().layout.local_size(rank_);
    return local::row_product_threads(product, result, std::min<std::int64_t>(omp_get_max_threads(), plan_.rows->threads)) - 1;
}

void ProductRun::multiply_by_rows(Call& call) const {
    const Workspace::Scope scope(call.workspace);
    const auto result = plan_.operands.back().layout.local_size(rank_);
    const auto product = row_product();
    const auto copies = row_copies(product);
    std::byte* const room = call.workspace.take(copies * result, call.kernels.size, call.kernels.space);
    const auto stays = plan_.rows->operand;
    auto* const c = call.pieces.back().array;
    call.kernels.fill(c, result, call.kernels.zero);
    call.kernels.multiply_rows(product, call.alpha, call.pieces[stays].array, call.pieces[1 - stays].array, c, result, room, copies + 1);
}

}  // namespace arges

// Runs a movement without keys: both sides walk their elements in the same order (cyclops-2012, section 4.3,
// generalised), and the receiver adds in a fixed order.
#include "redistribute/movement_run.hpp"

#include "base/element_at.hpp"
#include "base/first_error.hpp"
#include "base/math.hpp"
#include "device/device.hpp"
#include "device/failure.hpp"
#include "plan/movement/loops.hpp"
#include "plan/product/pair_split.hpp"
#include "redistribute/pair_kernels.hpp"

#include <algorithm>

namespace arges {

namespace {

/// Stride of an arithmetic progression that starts at list[0], or -1.
std::int64_t progression(const std::vector<std::int64_t>& list) {
    if (list.size() < 2) return 1;
    const auto stride = list[1] - list[0];
    for (std::size_t i = 2; i < list.size(); ++i)
        if (list[i] - list[i - 1] != stride) return -1;
    return stride;
}

/// The table for messages, which lie on the host unless MPI takes them as they are.
const ElementKernels& for_messages(const ElementKernels& kernels) { return device::has_messages() ? kernels : kernels.on_host(); }

/// Room for messages. Where something has failed on the device there may be none, but others wait for what this rank sends.
std::byte* message_room(std::int64_t count, const ElementKernels& kernels, Workspace& workspace) {
    const auto& messages = for_messages(kernels);
    const auto taken = workspace.mark();
    auto* const room = workspace.take(count, kernels.size, messages.space);
    if (messages.space == nullptr || !device::Failure::the().any()) return room;
    workspace.release(taken);
    return workspace.take(count, kernels.size);
}

/// Waits until messages on a device may be sent, and received where kernels have read.
void reach(const ElementKernels& messages) {
    if (messages.space != nullptr && messages.space->finish != nullptr) messages.space->finish();
}

/// The movement that names the target's elements without reading anything: a scalar broadcast over all labels.
Movement naming(const Movement& spec) {
    Movement result = spec;
    result.from = Layout(spec.to.grid(), {}, Symmetry::none(0), {});
    result.from_labels.clear();
    result.from_offset.clear();
    result.terms = {spec.identity()};
    return result;
}

/// to = alpha * from on the elements of the target that the labels name; `from` is the target itself, or a single element for all of them.
void transfer_named(const ElementKernels& kernels, const Movement& spec, std::int64_t rank, const void* from, bool is_single, void* to,
                    const void* alpha) {
    const MovementLists lists(naming(spec), rank);
    std::vector<std::int64_t> zeros;
    for (const auto& m : lists.receives()) {
        if (m.peer != rank) continue;
        std::vector<local::TransferAxis> axes;
        std::int64_t first = 0;
        for (const auto* group : m.groups) {
            auto& axis = axes.emplace_back(local::TransferAxis{.count = group->count()});
            if (group->progression) {
                first += group->progression->to;
                axis.to_stride = group->progression->to_stride;
                axis.from_stride = is_single ? 0 : axis.to_stride;
                continue;
            }
            if (is_single && zeros.size() < group->to.size()) zeros.resize(group->to.size(), 0);
            axis.to = group->to.data();
        }
        for (auto& axis : axes)
            if (axis.to != nullptr) axis.from = is_single ? zeros.data() : axis.to;
        kernels.transfer(axes, is_single ? from : element_at(from, first, kernels.size), element_at(to, first, kernels.size), alpha, {});
    }
}

}  // namespace

MovementRun::MovementRun(const Communicator* comm, const Movement& spec, std::int64_t rank, LoopUse loops)
    : comm_(comm), spec_(spec), rank_(rank), lists_(spec_, rank, spec.stages.empty() ? loops : LoopUse::by_size),
      same_order_(!lists_.single_source() && spec_.to.copies() > 1) {
    if (!spec_.stages.empty() && comm_ != nullptr && !spec_.to.grid().is_idle(rank)) relay_.emplace(spec_, rank_);
    if (lists_.loops() != nullptr) return;
    for (const auto& m : lists_.sends()) pack_.push_back(axes(m, true, false));
    for (const auto& m : lists_.receives()) {
        if (m.peer == rank_)
            direct_ = axes(m, false, false);
        else
            unpack_.push_back(axes(m, false, true));
    }
}

std::int64_t MovementRun::workspace_elements() const {
    if (relay_) return relay_->elements() + (relay_->gathers() ? 0 : relay_->most_received());
    return volume().sent + volume().received;
}

std::int64_t MovementRun::workspace_bytes(std::int64_t element_bytes) const {
    const auto bytes = spec_.message_bytes(element_bytes);
    const auto sent = relay_ ? relay_->elements() : volume().sent;
    return Workspace::padded(sent * bytes) + Workspace::padded((workspace_elements() - sent) * bytes) +
           conversion_bytes(spec_, spec_.to.local_size(rank_), element_bytes);
}

std::int64_t MovementRun::list_bytes() const {
    auto sum = lists_.bytes();
    for (const auto& list : dense_lists_) sum += static_cast<std::int64_t>(list.size() * sizeof(std::int64_t));
    return sum;
}

std::vector<Piece> MovementRun::pieces(const std::vector<MovementMessage>& messages, std::byte* buffer, std::int64_t element_bytes) const {
    std::vector<Piece> result;
    for (const auto& m : messages) {
        if (m.peer == rank_) continue;
        result.push_back({m.peer, buffer, m.count * element_bytes});
        buffer += m.count * element_bytes;
    }
    return result;
}

/// Axes of a message's transfer. Packing writes to a dense buffer and unpacking reads from one; the rank's own
/// elements go straight from source to target. Factors are applied on the side that fills the target.
MovementRun::MessageAxes MovementRun::axes(const MovementMessage& message, bool pack, bool unpack) {
    MessageAxes result;
    result.count = message.count;
    std::int64_t dense = 1;
    for (const auto* group : message.groups) {
        local::TransferAxis axis;
        axis.count = group->count();
        if (const auto& p = group->progression) {
            axis.from_stride = unpack ? dense : p->from_stride;
            axis.to_stride = pack ? dense : p->to_stride;
            if (!unpack) result.from += p->from;
            if (!pack) result.to += p->to;
            if (!pack) result.factor ^= p->factor;
            dense *= axis.count;
            result.axes.push_back(axis);
            continue;
        }
        const auto from_stride = unpack ? dense : progression(group->from);
        const auto to_stride = pack ? dense : progression(group->to);
        const bool has_factor = !pack && !group->factor.empty();
        if (has_factor) axis.factor = group->factor.data();
        if (from_stride >= 0 && to_stride >= 0 && !has_factor) {
            axis.from_stride = from_stride;
            axis.to_stride = to_stride;
            if (!unpack) result.from += group->from[0];
            if (!pack) result.to += group->to[0];
        } else {
            auto dense_list = [&] {
                auto& list = dense_lists_.emplace_back(static_cast<std::size_t>(axis.count));
                for (std::int64_t i = 0; i < axis.count; ++i) list[i] = i * dense;
                return list.data();
            };
            axis.from = unpack ? dense_list() : group->from.data();
            axis.to = pack ? dense_list() : group->to.data();
        }
        dense *= axis.count;
        result.axes.push_back(axis);
    }
    return result;
}

void MovementRun::loop(Step step, const ElementTransfer& transfer, const MovementMessage& message, const void* from, void* to,
                       const void* alpha, local::TransferMode mode) const {
    const auto& loops = *lists_.loops();
    const auto& group = *message.groups[0];
    const auto from_coordinate = step == Step::unpack ? group.peer : loops.from_coordinate(rank_);
    const auto to_coordinate = step == Step::pack ? group.peer : loops.to_coordinate(rank_);
    const auto& parts = loops.parts();
    const auto* const scale = alpha == nullptr || transfer.target().is_one(alpha) ? nullptr : alpha;
    FirstError error;
    const auto run_part = [&](std::size_t p) {
        auto at = group.part_begin[p];  // in the message
        loops.for_each_run(parts[p], from_coordinate, to_coordinate, [&](LoopRun& run) {
            auto& list = run.list;
            const auto source = element_at(from, step == Step::unpack ? at : run.from, transfer.from_bytes());
            const auto target = element_at(to, step == Step::pack ? at : run.to, transfer.to_bytes());
            at += list.count;
            if (step == Step::unpack) list.from = nullptr;
            if (step == Step::pack) list = {.count = list.count, .from = list.from};
            transfer.listed(list, source, target, scale, mode);
        });
    };
    // Parts of different terms may have the same targets: one term after the other.
    for (std::size_t first = 0; first < parts.size();) {
        auto last = first;
        while (last < parts.size() && parts[last].term == parts[first].term) ++last;
#pragma omp parallel for schedule(dynamic) if (message.count > 65536)
        for (std::size_t p = first; p < last; ++p) error.run([&] { run_part(p); });
        first = last;
    }
    error.rethrow();
}

void MovementRun::prepare_target(const ElementKernels& kernels, void* to, const void* beta, bool& accumulate) const {
    const auto local = spec_.to.local_size(rank_);
    if (lists_.pattern()) {
        if (kernels.is_zero(beta))
            transfer_named(kernels, spec_, rank_, kernels.zero, true, to, nullptr);
        else
            scale_named(kernels, spec_, rank_, to, beta);
        return;
    }
    if (kernels.is_zero(beta)) {
        if (lists_.single_source() && lists_.written() == local)
            accumulate = false;
        else
            kernels.fill(to, local, kernels.zero);
    } else if (!kernels.is_one(beta)) {
        kernels.scale(to, local, beta);
    }
}

/// Fills the buffer of messages, one behind the other, or the blocks that a relay begins with.
void MovementRun::pack(const ElementKernels& kernels, const void* from, std::byte* buffer) const {
    const auto bytes = kernels.size;
    if (relay_) {
        const auto own = relay_->block_of(rank_);
        if (!relay_->gathers()) for_messages(kernels).fill(element_at(buffer, own.begin, bytes), own.count, kernels.zero);
    }
    std::int64_t offset = 0;
    auto m = pack_.begin();
    for (const auto& message : lists_.sends()) {
        if (relay_) offset = relay_->block_of(relay_->gathers() ? rank_ : message.peer).begin;
        const auto target = element_at(buffer, offset, bytes);
        if (lists_.loops() != nullptr) {
            loop(Step::pack, ElementTransfer(kernels), message, from, target, nullptr, {});
        } else {
            kernels.transfer(m->axes, element_at(from, m->from, bytes), target, nullptr, {});
            ++m;
        }
        if (relay_ && relay_->gathers()) return;  // the others get the same
        offset += message.count;
    }
}

/// Posts the messages of a step of the relay.
void MovementRun::begin_step(Flight& flight, std::int64_t element_bytes) const {
    const auto& step = relay_->steps()[flight.step];
    std::vector<Piece> sends, receives;
    for (const auto& piece : step.sends)
        sends.push_back({piece.peer, element_at(flight.send, piece.begin, element_bytes), piece.count * element_bytes});
    std::int64_t offset = 0;
    for (const auto& piece : step.receives) {
        auto* const target =
            relay_->gathers() ? element_at(flight.send, piece.begin, element_bytes) : element_at(flight.receive, offset, element_bytes);
        receives.push_back({piece.peer, target, piece.count * element_bytes});
        offset += piece.count;
    }
    flight.pending = comm_->start(sends, receives, flight.channel);
}

/// Waits for them, adds what a sum has received, and begins the next step.
void MovementRun::end_step(Flight& flight, const ElementKernels& kernels) const {
    comm_->finish(flight.pending);
    const auto bytes = kernels.size;
    std::int64_t offset = 0;
    for (const auto& piece : relay_->steps()[flight.step].receives) {
        if (relay_->gathers()) break;
        const std::array<local::TransferAxis, 1> axes{local::TransferAxis{.count = piece.count, .from_stride = 1, .to_stride = 1}};
        flight.error.run([&] {
            for_messages(kernels).transfer(axes, element_at(flight.receive, offset, bytes), element_at(flight.send, piece.begin, bytes),
                                           nullptr, {.conjugate = false, .accumulate = true});
        });
        offset += piece.count;
    }
    ++flight.step;
    if (is_last_step(flight)) return;
    flight.error.run([&] { reach(for_messages(kernels)); });
    begin_step(flight, bytes);
}

void MovementRun::start(Flight& flight, const ElementKernels& kernels, const SourceArray& from, Workspace& workspace) const {
    const auto& own = from.kernels_or(kernels);
    const auto bytes = own.size;
    flight.send = message_room(relay_ ? relay_->elements() : volume().sent, own, workspace);
    flight.receive = message_room(!relay_ ? volume().received : relay_->gathers() ? 0 : relay_->most_received(), own, workspace);
    if (*own.type != *kernels.type || own.space != kernels.space)
        flight.room = conversion_room(saturated_product(spec_.to.local_size(rank_), std::ssize(spec_.terms)), own, kernels, workspace);
    flight.error.run([&] { pack(own, from.elements, flight.send); });
    if (comm_ == nullptr) return;
    flight.error.run([&] { reach(for_messages(own)); });
    if (!relay_)
        flight.pending =
            comm_->start(pieces(lists_.sends(), flight.send, bytes), pieces(lists_.receives(), flight.receive, bytes), flight.channel);
    else if (!is_last_step(flight))
        begin_step(flight, bytes);
}

void MovementRun::run(const ElementKernels& kernels, const SourceArray& from, void* to, const void* alpha, const void* beta, bool conjugate,
                      Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    Flight flight;
    start(flight, kernels, from, workspace);
    finish(flight, kernels, from, to, alpha, beta, conjugate);
}

void MovementRun::finish(Flight& flight, const ElementKernels& kernels, const SourceArray& from, void* to, const void* alpha,
                         const void* beta, bool conjugate) const {
    const auto& own = from.kernels_or(kernels);
    const auto bytes = own.size;
    const ElementTransfer elements(own, kernels, flight.room);
    // Messages are one element behind the other: the kernels of the target read them as they are.
    const auto received = elements.converts() ? elements : ElementTransfer(for_messages(own), kernels, {});
    auto& error = flight.error;
    bool accumulate = true;
    error.run([&] {
        prepare_target(kernels, to, beta, accumulate);
        if (lists_.split() != nullptr) elements.reaching_both().split_pair(*lists_.split(), from.elements, to, alpha, conjugate);
        if (lists_.pair() != nullptr)
            unpack_pair(elements.reaching_both(), *lists_.pair(), from.elements, to, alpha, conjugate, accumulate);
    });
    ElementValue negative(kernels.size);
    if (kernels.has_negative) kernels.multiple(-1, alpha != nullptr ? alpha : kernels.one, negative.data());
    const auto transfer = [&](const ElementTransfer& by, const MessageAxes& m, const void* source) {
        by.along(m.axes, element_at(source, m.from, bytes), element_at(to, m.to, kernels.size),
                 (m.factor & 1) != 0 ? negative.data() : alpha, {conjugate != ((m.factor & 2) != 0), accumulate});
    };
    auto take_own = [&] {
        for (const auto& message : lists_.receives())
            if (lists_.loops() != nullptr && message.peer == rank_)
                loop(Step::direct, elements, message, from.elements, to, alpha, {conjugate, accumulate});
        if (direct_) transfer(elements, *direct_, from.elements);
    };
    if (!same_order_ || relay_) error.run(take_own);
    if (relay_)
        while (!is_last_step(flight)) end_step(flight, own);
    else if (comm_ != nullptr)
        comm_->finish(flight.pending);
    error.rethrow();
    if (relay_ && !relay_->gathers()) {
        // The sum of what the others have.
        if (!unpack_.empty()) transfer(received, unpack_.front(), element_at(flight.send, relay_->block_of(rank_).begin, bytes));
        return;
    }
    std::int64_t offset = 0;
    auto m = unpack_.begin();
    for (const auto& message : lists_.receives()) {
        if (message.peer == rank_) {
            if (same_order_) take_own();
            continue;
        }
        const auto source =
            relay_ ? element_at(flight.send, relay_->block_of(message.peer).begin, bytes) : element_at(flight.receive, offset, bytes);
        if (lists_.loops() != nullptr) {
            loop(Step::unpack, received, message, source, to, alpha, {conjugate, accumulate});
        } else {
            transfer(received, *m, source);
            ++m;
        }
        offset += message.count;
    }
}

void scale_named(const ElementKernels& kernels, const Movement& spec, std::int64_t rank, void* to, const void* beta) {
    if (!kernels.is_one(beta)) transfer_named(kernels, spec, rank, to, false, to, beta);
}

}  // namespace arges

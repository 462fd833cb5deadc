/// Moves elements between layouts without keys: both sides walk their elements in an order that they agree on
/// (cyclops-2012, section 4.3, generalised to unpacking, packing, symmetrisation, gathering and reduction).
#pragma once

#include "arges/element_kernels.hpp"
#include "base/first_error.hpp"
#include "base/workspace.hpp"
#include "comm/communicator.hpp"
#include "local/transfer.hpp"
#include "plan/movement/lists.hpp"
#include "plan/movement/relay.hpp"
#include "redistribute/element_transfer.hpp"

#include <deque>
#include <optional>
#include <vector>

namespace arges {

/// One movement, prepared: its lists are there and can be used again and again.
class MovementRun {
public:
    /// Local. @param comm null for one rank
    MovementRun(const Communicator* comm, const Movement& spec, std::int64_t rank, LoopUse loops = LoopUse::by_size);

    /// to = alpha * (sum over terms of from) + beta * to on the elements that the target's labels name; `from` and `to` must not
    /// overlap. Collective: the messages of all ranks are delivered also where a rank's own work fails, whose exception comes
    /// behind them and leaves `to` undefined; callers let all ranks know of it.
    /// @param alpha, beta  single elements
    /// @param from  with kernels of its own if the movement says that elements are converted; else without
    void run(const ElementKernels& kernels, const SourceArray& from, void* to, const void* alpha, const void* beta, bool conjugate,
             Workspace& workspace) const;
    /// A run that has begun: its messages are under way.
    struct Flight {
        int channel = 0;  ///< see Communicator::start(); set before start()
        std::byte *send = nullptr, *receive = nullptr;
        ConversionRoom room;
        PendingExchange pending;
        std::size_t step = 0;  // of a relay
        FirstError error;
    };
    /// Begins a run: packs and posts messages, for which there is room in the workspace until finish(). Collective.
    /// @param from  stays as it is until finish()
    void start(Flight& flight, const ElementKernels& kernels, const SourceArray& from, Workspace& workspace) const;
    /// Waits for the messages and does the rest of run().
    void finish(Flight& flight, const ElementKernels& kernels, const SourceArray& from, void* to, const void* alpha, const void* beta,
                bool conjugate) const;
    /// Likewise for elements of a type.
    template <class T>
    void run(const T* from, T* to, T alpha, T beta, bool conjugate, Workspace& workspace) const {
        run(element_kernels<T>(), from, to, &alpha, &beta, conjugate, workspace);
    }

    Volume volume() const { return relay_ ? relay_->volume() : lists_.volume(); }
    /// Bytes of an element in messages, of which the target's has so many.
    std::int64_t message_bytes(std::int64_t element_bytes) const { return spec_.message_bytes(element_bytes); }
    /// Elements of messages in the workspace that run() takes.
    std::int64_t workspace_elements() const;
    /// Bytes of that workspace, with the room in which elements are converted. @param element_bytes  of the target's
    std::int64_t workspace_bytes(std::int64_t element_bytes) const;
    /// Memory of the lists, in bytes.
    std::int64_t list_bytes() const;

private:
    /// Axes of one message, and the offsets at which its first element is read and written.
    struct MessageAxes {
        std::vector<local::TransferAxis> axes;
        std::int64_t from = 0, to = 0;
        std::int64_t count = 0;
        std::uint8_t factor = 0;  // of all elements
    };
    void prepare_target(const ElementKernels& kernels, void* to, const void* beta, bool& accumulate) const;
    MessageAxes axes(const MovementMessage& message, bool pack, bool unpack);
    /// What to do with the elements of a message.
    enum class Step { pack, unpack, direct };
    /// Goes through the loops of a message.
    void loop(Step step, const ElementTransfer& transfer, const MovementMessage& message, const void* from, void* to, const void* alpha,
              local::TransferMode mode) const;
    std::vector<Piece> pieces(const std::vector<MovementMessage>& messages, std::byte* buffer, std::int64_t element_bytes) const;
    void pack(const ElementKernels& kernels, const void* from, std::byte* buffer) const;
    void begin_step(Flight& flight, std::int64_t element_bytes) const;
    void end_step(Flight& flight, const ElementKernels& kernels) const;
    bool is_last_step(const Flight& flight) const { return !relay_ || flight.step >= relay_->steps().size(); }

    const Communicator* comm_;
    Movement spec_;
    std::int64_t rank_;
    MovementLists lists_;
    std::optional<Relay> relay_;
    bool same_order_;  // ranks that hold copies add up the parts of a sum in the same order, so that their bits agree
    std::deque<std::vector<std::int64_t>> dense_lists_;  // buffer offsets of axes that need lists
    std::vector<MessageAxes> pack_, unpack_;             // of messages to and from other ranks, in order
    std::optional<MessageAxes> direct_;                  // of the rank's own elements
};

/// to *= beta on the elements that labels (a slice or a diagonal) name, also for beta = 0, where NaN stays; local.
void scale_named(const ElementKernels& kernels, const Movement& spec, std::int64_t rank, void* to, const void* beta);

}  // namespace arges

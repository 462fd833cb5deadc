/// Runs the plan of a product.
#pragma once

#include "arges/element_kernels.hpp"
#include "base/first_error.hpp"
#include "base/workspace.hpp"
#include "comm/communicator.hpp"
#include "execute/local_chain.hpp"
#include "local/row_products.hpp"
#include "plan/product/product_plan.hpp"
#include "redistribute/movement_run.hpp"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace arges {

/// A plan made ready to run on one rank, again and again: its movements' lists are built once, those of the parts into which windows cut an
/// operand when they are met first, unless they are very many.
class ProductRun {
public:
    /// Local.
    /// @param comm        null for one rank
    /// @param tile_bytes  of results between local products that stay in the cache
    ProductRun(ProductPlan plan, const Communicator* comm, std::int64_t tile_bytes = LocalChain::cached_bytes);

    /// C = alpha * (projection of the product) + beta * C. Collective, as MovementRun::run(): what fails on a rank is thrown there
    /// when all messages are delivered.
    /// @param kernels  of the memory in which the product is computed
    /// @param inputs arrays of the inputs on this rank, in their tensors' own layouts; with their kernels where they have another type or
    /// lie in another memory, as C
    /// @param stay   for inputs that will lie as plan.stay says: where to write their elements; else null. May be empty
    /// @param alpha, beta  single elements; null stands for one
    void run(const ElementKernels& kernels, const std::vector<SourceArray>& inputs, const TargetArray& c, const void* alpha,
             const void* beta, const std::vector<void*>& stay, Workspace& workspace);

    /// Bytes of workspace that run() takes on this rank.
    std::int64_t workspace_bytes() const;
    /// Memory of the lists, in bytes.
    std::int64_t list_bytes() const;
    /// Elements that run() sends and receives on this rank, counted from the lists of whole operands.
    Volume volume() const;
    /// Bytes that it sends.
    std::int64_t sent_bytes() const;

private:
    using Block = local::OperandBlock;
    using Piece = LocalPiece;
    /// Room for the largest part of an operand that windows cut; where the plan doubles arrays, for two that take turns.
    struct CutArray {
        std::array<std::byte*, 2> rooms{};
        std::size_t turn = 0;
        std::byte* next() { return rooms[turn ^= 1]; }
    };
    /// A part of the result.
    struct Part {
        std::vector<std::int64_t> range;  // of each window
        const std::byte* array = nullptr;
    };
    /// One call of run().
    struct Call {
        const ElementKernels& kernels;
        const std::vector<SourceArray>& inputs;
        TargetArray c;
        const void *alpha, *beta;
        Workspace& workspace;
        std::vector<std::int64_t> range;  // of each window
        std::vector<Piece> pieces;        // of the operands
        FirstError error;
        std::vector<CutArray> arrays{};  // of operands that windows cut
        /// Of inputs that are under way.
        std::vector<std::unique_ptr<MovementRun::Flight>> flights{};
        std::vector<const MovementRun*> parts{};
        std::vector<std::unique_ptr<MovementRun>> made{};  // that are not kept
        Workspace::Mark mark{};                            // before their messages
    };

    /// True if the plan leaves this rank without work: it only sends what it owns and receives what it shall own.
    bool is_idle() const { return plan_.grid.is_idle(rank_); }
    Block block_of(std::size_t o, const Layout& layout) const;
    std::int64_t most_elements(const std::vector<int>& axes, const std::vector<std::int64_t>& length) const;
    std::vector<std::int64_t> most_in_window() const;
    void bring_in(Call& call, std::size_t o) const;
    const MovementRun& part_of(std::size_t o, const std::vector<std::int64_t>& range, std::unique_ptr<MovementRun>& made);
    std::size_t next_range(std::vector<std::int64_t>& range) const;
    bool arrives(std::size_t o, std::size_t changed) const { return cut_by_[o] && *cut_by_[o] < changed; }
    void start_inputs(Call& call, const std::vector<std::int64_t>& range, std::size_t changed);
    void finish_inputs(Call& call, std::size_t changed);
    void run_windows(Call& call);
    void take_result(Call& call) const;
    void move_out(Call& call, const Part& part);
    bool is_first(const Call& call, std::size_t end) const;
    void apply_weights(const ElementKernels& kernels, std::size_t o, const Layout& layout, Piece& piece) const;
    void multiply(Call& call) const;
    void multiply_chain(Call& call) const;
    void multiply_by_rows(Call& call) const;
    local::RowProduct row_product() const;
    std::int64_t row_copies(const local::RowProduct& product) const;
    int slot_of(std::size_t o, int axis) const;
    std::int64_t bytes_in_messages(std::size_t o) const;

    ProductPlan plan_;
    const Communicator* comm_;
    std::int64_t rank_;
    std::vector<std::optional<std::size_t>> cut_by_;               // by operand: the fastest window that cuts it
    std::vector<Block> whole_;                                     // of operands that are not cut
    std::vector<Volume> volume_;                                   // by operand
    std::vector<std::int64_t> message_elements_;                   // likewise, that there is room for
    std::vector<std::unique_ptr<MovementRun>> movements_;          // likewise; null: nothing moves, or part by part
    std::vector<std::vector<std::unique_ptr<MovementRun>>> kept_;  // likewise, of parts, as they have come; empty: none are kept
    std::int64_t kept_bytes_ = 0;                                  // of the lists of these
    std::vector<bool> small_parts_;                                // likewise: lists of a part are short
    std::optional<LocalChain> chain_;                              // where there are products, and not by rows
    std::vector<std::unique_ptr<MovementRun>> stay_;               // from the copies to where the inputs will lie; on this rank only
};

}  // namespace arges

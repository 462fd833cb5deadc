// Memory forecast of CP and Tucker decompositions of dense tensors: their steps gone through in order, as a tally of what each takes.
#include "decompose/dense_memory.hpp"

#include "base/buffer.hpp"
#include "base/math.hpp"
#include "decompose/cp/dense_cp_operator.hpp"
#include "decompose/cp/known_block.hpp"
#include "decompose/distribution/dense_block.hpp"
#include "decompose/factor_tensor.hpp"
#include "decompose/tucker/dense_unfolding.hpp"
#include "decompose/tucker/smallest_core.hpp"
#include "interface/dense/tensor_state.hpp"
#include "local/contract.hpp"
#include "plan/movement/movement.hpp"

#include <algorithm>

namespace arges::decompose {

namespace {

/// Steps of a Tucker decomposition on one rank.
class TruncationMemory {
public:
    TruncationMemory(const ElementKernels& elements, const World& world, const Layout& layout, const TuckerOptions& options, int threads)
        : elements_(elements), world_(world), layout_(layout), options_(options), threads_(threads), ranks_(layout.extents()) {
        for (std::size_t m = 0; m < options.ranks.size(); ++m) ranks_[m] = std::min<std::int64_t>(options.ranks[m], ranks_[m]);
        order_ = options.order;
        std::vector<std::int64_t> wanted(options.ranks.begin(), options.ranks.end());
        wanted.resize(ranks_.size(), 0);
        if (order_.empty()) order_ = cheapest_mode_order(layout, wanted, elements.size, world.state()->plan_options().machine);
        tally_.hold(bytes(layout_));
    }

    /// Truncates what is left of the tensor, mode after mode.
    void st_hosvd() {
        auto core = layout_;
        std::int64_t held = 0;  // of the core, which is the tensor itself at first
        std::vector<int> settled;
        for (int mode : order_) {
            core = move(core, mode, settled, held);
            truncate(core, mode);
            core = project(core, mode, held);
            settled.push_back(mode);
        }
        cut(held);
    }

    void hosvd() {
        for (int mode : order_) {
            std::int64_t held = 0;
            const auto whole = move(layout_, mode, {}, held);
            truncate(whole, mode);
            tally_.hold(-held);
        }
        auto core = layout_;
        std::int64_t held = 0;
        std::vector<int> settled;
        for (int mode : order_) {
            core = project(move(core, mode, settled, held), mode, held);
            settled.push_back(mode);
        }
        cut(held);
    }

    void hooi() {
        if (options_.missing) tally_.hold(2 * bytes(layout_));  // the filled tensor, and this one where the filled one is
        st_hosvd();
        World dry = World::dry_run({world_.size(), world_.torus()});
        dry.set_memory_limit(world_.memory_limit());
        const auto tensor = zeros(dry, layout_.extents());
        const auto in_use = dry.memory_in_use();
        dry.reset_peak();
        sweep(dry, tensor, 0, layout_.order());
        tally_.pass(dry.state()->taken_peak() - in_use + leaf_bytes_);
        if (options_.missing) tally_.pass(model_block_memory(elements_.size, ranks_, layout_, world_.rank()) + bytes(layout_));
    }

    void nonnegative() {
        World dry = World::dry_run({world_.size(), world_.torus()});
        dry.set_memory_limit(world_.memory_limit());
        const auto tensor = zeros(dry, layout_.extents());
        const auto in_use = dry.memory_in_use();
        std::int64_t rows = 0, core = 1;
        for (auto r : ranks_) core *= r;
        for (int m = 0; m < layout_.order(); ++m) {
            multiplied(dry, multiplied(dry, tensor, m + 1, layout_.order()), 0, m);
            rows = std::max(rows, ceil_div(layout_.extents()[m], world_.size()) * (core / ranks_[m]));
            // Of a factor: what this rank has, what all have, and a message of it; each column has a row of the core.
            tally_.hold(4 * layout_.extents()[m] * ranks_[m] * elements_.size);
        }
        tally_.hold(rows * elements_.size);
        constexpr int cores = 16, keys = 6;
        tally_.pass(dry.state()->taken_peak() - in_use + rows * (2 * elements_.size + keys * std::int64_t{sizeof(std::int64_t)}) +
                    cores * core * std::int64_t{sizeof(double)});
    }

    const MemoryTally& tally() const { return tally_; }

private:
    std::int64_t bytes(const Layout& layout) const { return array_memory(layout.local_size(world_.rank()) * elements_.size); }
    AnyTensor zeros(const World& dry, std::vector<std::int64_t> extents) const {
        return AnyTensor(elements_, Storage::dense, dry, std::move(extents), GivenSymmetry(), "");
    }

    /// Bytes of the messages and lists of a movement on the rank that has most.
    std::int64_t messages(const Layout& from, const Layout& to) const {
        const auto bound = movement_bound(copy_between(from, to));
        return (bound.volume.sent + bound.volume.received) * elements_.size + bound.list_bytes + bound.building_bytes;
    }

    /// To where a mode is whole; `held` is what the core holds by itself.
    Layout move(const Layout& core, int mode, const std::vector<int>& settled, std::int64_t& held) {
        if (core.slot(mode).grid_length() == 1) return core;
        auto moved = layout_with_whole_mode(core, mode, settled);
        tally_.hold(bytes(moved));
        tally_.pass(messages(core, moved));
        tally_.hold(-held);
        held = bytes(moved);
        return moved;
    }

    /// What finding the factor of a mode takes; u stays.
    std::int64_t truncation(const Layout& whole, int mode) const {
        const auto length = whole.extents()[mode];
        const auto square = length * length * std::int64_t{sizeof(double)};
        std::int64_t size = 1;
        for (auto n : whole.extents()) size *= n;
        const auto width = size / std::max<std::int64_t>(1, length);
        // Sums of threads and what they are made from; or the matrix with its eigenvectors and work.
        const auto gram = square * (threads_ + 3);
        const bool may_be_qr = options_.kernel != TuckerKernel::gram && whole.order() > 1 &&
                               (options_.kernel == TuckerKernel::qr || options_.relative_error > 0 ||
                                cheaper_kernel(length, width, world_.size()) == TuckerKernel::qr);
        if (!may_be_qr) return gram;
        const auto shorter = std::min(length, width);
        return std::max(gram, 2 * bytes(whole) + 8 * shorter * shorter * elements_.size);
    }
    void truncate(const Layout& whole, int mode) {
        tally_.pass(truncation(whole, mode));
        const std::size_t m = mode;
        tally_.hold(whole.extents()[m] * ranks_[m] * elements_.size);
    }

    Layout project(const Layout& whole, int mode, std::int64_t& held) {
        auto result = layout_with_length(whole, mode, ranks_[mode]);
        tally_.hold(bytes(result));
        tally_.pass(std::min(bytes(whole) + bytes(result), local::max_workspace_bytes));
        tally_.hold(-held);
        held = bytes(result);
        return result;
    }

    /// The core becomes a part of itself, as large as it is at most.
    void cut(std::int64_t held) {
        held_core_ = held;
        if (options_.relative_error > 0) tally_.pass(held + smallest_core_memory(layout_.extents()));
    }

    /// The statements of a sweep of hooi, in the dry run.
    void sweep(const World& dry, const AnyTensor& tensor, int begin, int end) {
        if (end - begin == 1) {
            const auto& layout = tensor.dense_state()->layout;
            std::int64_t leaf = truncation(layout, begin);
            if (layout.slot(begin).grid_length() > 1) leaf += 3 * bytes(layout_with_whole_mode(layout, begin, {}));
            const int cores = options_.relative_error > 0 ? 3 : 2;  // a smaller one is tried, and may be given back
            leaf_bytes_ = std::max(leaf_bytes_, leaf + cores * held_core_);
            return;
        }
        const int middle = (begin + end) / 2;
        sweep(dry, multiplied(dry, tensor, middle, end), begin, middle);
        sweep(dry, multiplied(dry, tensor, begin, middle), middle, end);
    }

    AnyTensor multiplied(const World& dry, const AnyTensor& tensor, int begin, int end) const {
        if (begin == end) return tensor;
        auto labels = numbered_labels('x', tensor.order());
        auto extents = tensor.extents();
        AnyExpression product = tensor[labels];
        for (int m = begin; m < end; ++m) {
            const std::size_t place = m;
            const auto factor = zeros(dry, {extents[place], ranks_[place]});
            const auto truncated = "y" + std::to_string(m + 1);
            product = product * factor[std::vector<std::string>{labels[place], truncated}];
            labels[place] = truncated;
            extents[place] = ranks_[place];
        }
        auto result = zeros(dry, extents);
        result[labels] = product;
        return result;
    }

    const ElementKernels& elements_;
    const World& world_;
    const Layout& layout_;
    const TuckerOptions& options_;
    int threads_;
    std::vector<std::int64_t> ranks_;
    std::vector<int> order_;
    std::int64_t held_core_ = 0, leaf_bytes_ = 0;
    MemoryTally tally_;
};

}  // namespace

FactorRows dense_factor_rows(const Layout& layout, std::int64_t rank) {
    FactorRows rows{block_position(layout, rank).sizes, {}, layout.extents(), layout.grid().ranks()};
    for (std::size_t m = 0; m < rows.all.size(); ++m) rows.owned.push_back(row_traffic(layout, m, rank).owned);
    return rows;
}

MemoryTally dense_cp_memory(std::int64_t element_bytes, const Layout& layout, std::int64_t rank, const CpOptions& options, int threads) {
    MemoryTally tally;
    tally.hold(array_memory(layout.local_size(rank) * element_bytes));
    if (has_loss(options)) tally.hold(known_block_memory(element_bytes, layout, rank, options.rank, threads));
    tally.add(dense_operator_memory(element_bytes, layout, rank, options.rank, options.pairwise_perturbation));
    tally.add(factors_memory(dense_factor_rows(layout, rank), options, element_bytes, threads, 0));
    return tally;
}

MemoryTally dense_tucker_memory(const ElementKernels& elements, const World& world, const Layout& layout, const TuckerOptions& options,
                                int threads) {
    TruncationMemory steps(elements, world, layout, options, threads);
    if (options.method == TuckerMethod::hosvd)
        steps.hosvd();
    else if (options.method == TuckerMethod::nonnegative)
        steps.nonnegative();
    else if (options.method == TuckerMethod::hooi || options.missing)
        steps.hooi();
    else
        steps.st_hosvd();
    return steps.tally();
}

std::int64_t error_memory(std::int64_t element_bytes, const World& world, const Layout& layout, const std::vector<std::int64_t>& ranks) {
    constexpr std::int64_t parts = 16;  // of relative_error(): a part of the tensor, of the model, and between two products
    auto between = static_cast<double>(layout.local_size(world.rank())) / parts;
    double largest = 0;
    for (std::size_t m = 0; m < ranks.size(); ++m)
        largest = std::max(largest, static_cast<double>(ranks[m]) / std::max<std::int64_t>(1, layout.extents()[m]));
    const int messages = world.size() > 1 ? 2 : 0;  // of a part of the tensor that is cut out: sent and received
    return static_cast<std::int64_t>((2 + messages + 2 * std::min(1.0, largest)) * between * static_cast<double>(element_bytes)) +
           local::max_workspace_bytes;
}

}  // namespace arges::decompose

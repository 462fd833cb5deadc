// Creating sparse tensors, their shape, and what is local. Writing: sparse_tensor_data.cpp; reductions: sparse_tensor_whole.cpp.
#include "arges/sparse_tensor.hpp"

#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/world/call_arguments.hpp"

#include <algorithm>

namespace arges {

namespace {

void check_lengths(const std::vector<std::int64_t>& lengths, const std::string& title) {
    if (lengths.empty() || lengths.size() > static_cast<std::size_t>(max_sparse_order))
        throw InvalidArgument(title + ": " + std::to_string(lengths.size()) + " lengths; a sparse tensor has 1 to " +
                              std::to_string(max_sparse_order) + " modes");
    for (std::size_t m = 0; m < lengths.size(); ++m)
        if (lengths[m] < 0 || lengths[m] > max_sparse_length)
            throw InvalidArgument(title + ": length " + std::to_string(lengths[m]) + " of mode " + std::to_string(m + 1) +
                                  "; lengths must be from 0 to 2^62");
}

}  // namespace

SparseState::SparseState(const ElementKernels& element, World handle, std::vector<std::int64_t> lengths, const Symmetry& tree,
                         std::string title_)
    : AnyTensorState(element.on_host(), std::move(handle), std::move(title_), true), symmetry(checked_symmetry(lengths, tree, title())),
      values_(element, 0) {
    check_lengths(lengths, title());
    if (!element.has_negative && contains_kind(symmetry, NodeKind::antisymmetric))
        throw InvalidArgument(title() + ": elements of type " + readable_type(element.name) +
                              " have no negatives, which antisymmetry needs; use another type, or a hollow tree");
    if (world->dry()) throw InvalidArgument(title() + ": the world is a dry run, which has no data; use a world of real ranks");
    number = world->next_number();
    pattern_ = std::make_shared<SparsePattern>(*world, no_indices(std::move(lengths)), SparsePattern::Place::by_hash, number, 0, 0);
}

SparseState::SparseState(const SparseState& other, std::uint64_t own_number, SparseValues values)
    : AnyTensorState(*other.kernels, other.world_handle, other.name, true), symmetry(other.symmetry), pattern_(other.pattern_),
      values_(std::move(values)), held_(other.held_) {
    number = own_number;
    world->hold(held_);
}

void SparseState::replace(AnyNonzeros nonzeros, SparsePattern::Place place) {
    const auto most = comm().maximum(nonzeros.values.count()), total = comm().sum(nonzeros.values.count());
    const auto pattern_number = world->next_number();
    const auto value_bytes = most * kernels->size, bytes = SparsePattern::bytes(order(), most) + value_bytes;
    std::shared_ptr<const SparsePattern> pattern;
    world->agree([&] {
        const auto given_back = held_ + (pattern_.use_count() == 1 ? pattern_->held() : 0);
        if (bytes - given_back > world->free_bytes())
            throw OutOfMemory(title() + ": a rank has " + std::to_string(bytes) + " bytes of nonzeros, which is over the limit of " +
                              std::to_string(world->memory_limit()) +
                              " for all that it holds; use more ranks or raise the limit "
                              "(World::set_memory_limit, ARGES_MEMORY_LIMIT)");
        pattern =
            std::make_shared<SparsePattern>(*world, static_cast<sparse::NonzeroIndices&&>(nonzeros), place, pattern_number, total, most);
    });
    pattern_ = std::move(pattern);
    values_ = std::move(nonzeros.values);
    world->hold(value_bytes - held_);
    held_ = value_bytes;
}

void SparseState::adopt(std::shared_ptr<const SparsePattern> pattern, SparseValues values) {
    const auto bytes = pattern->most_here * kernels->size;
    world->hold(bytes - held_);
    held_ = bytes;
    pattern_ = std::move(pattern);
    values_ = std::move(values);
}

std::shared_ptr<const SparsePattern> SparseState::pattern_of(const std::shared_ptr<WorldState>& world, sparse::NonzeroIndices indices,
                                                             const std::optional<SparseLayout>& layout) {
    const auto place = layout ? SparsePattern::Place::by_layout : SparsePattern::Place::anywhere;
    const auto& comm = world->communicator();
    const auto most = comm.maximum(indices.count()), total = comm.sum(indices.count());
    const auto pattern_number = world->next_number();
    std::shared_ptr<const SparsePattern> pattern;
    world->agree(
        [&] { pattern = std::make_shared<SparsePattern>(*world, std::move(indices), place, pattern_number, total, most, layout); });
    return pattern;
}

AnyNonzeros SparseState::take() {
    const auto pattern_number = world->next_number();
    AnyNonzeros given;
    world->agree([&] {
        auto none = std::make_shared<SparsePattern>(*world, no_indices(lengths()), SparsePattern::Place::by_hash, pattern_number, 0, 0);
        sparse::NonzeroIndices& coordinates = given;
        if (pattern_.use_count() == 1)
            coordinates = std::move(const_cast<SparsePattern&>(*pattern_));
        else
            coordinates = *pattern_;
        pattern_ = std::move(none);
    });
    given.values = std::exchange(values_, SparseValues(*kernels, 0));
    world->hold(-held_);
    held_ = 0;
    return given;
}

std::shared_ptr<SparseState> SparseState::copy() const {
    const CollectiveCall call(world->movement_communicator(), "SparseTensor", *this);
    const auto pattern_number = world->next_number();
    std::shared_ptr<SparseState> result;
    world->agree([&] {
        if (held_ > world->free_bytes())
            throw OutOfMemory(title() + ": a copy of " + std::to_string(held_) + " bytes is over the memory limit of " +
                              std::to_string(world->memory_limit()) + "; move the tensor, or raise the limit");
        result.reset(new SparseState(*this, pattern_number, values_.copy()));
    });
    return result;
}

double AnyTensor::density() const {
    double result = whole_state_of(*this, "density")->pattern()->total;
    for (auto n : extents()) result = n == 0 ? 0 : result / static_cast<double>(n);
    return result;
}

std::int64_t AnyTensor::local_nonzeros() const { return sparse_state_of(*this, "local_nonzeros").count(); }

std::span<const std::int64_t> AnyTensor::local_indices(int mode) const {
    const auto& state = sparse_state_of(*this, "local_indices");
    if (mode < 0 || mode >= state.order())
        throw InvalidArgument(state.title() + ": mode " + std::to_string(mode) + " of a tensor of order " + std::to_string(state.order()) +
                              "; modes count from 0");
    return state.pattern()->indices[mode];
}

const void* AnyTensor::values_here() const { return sparse_state_of(*this, "local_values").values().data(); }
void* AnyTensor::values_here() { return sparse_state_of(*this, "local_values").values().data(); }

}  // namespace arges

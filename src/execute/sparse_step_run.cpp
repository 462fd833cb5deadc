#include "execute/sparse_step_run.hpp"

#include "device/failure.hpp"
#include "execute/sparse_by_dense.hpp"
#include "execute/sparse_by_sparse.hpp"

namespace arges {

namespace {

/// No factor for one.
const void* unless_one(const ElementKernels& kernels, const void* alpha) {
    return alpha != nullptr && kernels.is_one(alpha) ? nullptr : alpha;
}

}  // namespace

SparseStepRun::SparseStepRun(const Communicator* comm, const SparseStep& step, const SparseStepPlan& plan,
                             const std::vector<IndexSpans>& indices, const RequireBytes& require)
    : comm_(comm), element_bytes_(step.element_bytes) {
    InspectionMemory memory(comm, require);
    for (std::size_t o = 0; o < step.sparse().size(); ++o) operands_.emplace_back(step, plan.grid, o, indices[o], memory);
    if (step.has_mask())
        product_ = std::make_unique<MaskedSparseBySparse>(step, plan, operands_, memory, result_);
    else if (step.sparse().size() == 2)
        product_ = std::make_unique<SparseBySparse>(step, plan, operands_, memory, result_);
    else
        product_ = std::make_unique<SparseByDense>(step, plan, operands_, memory, result_);
}

std::int64_t SparseStepRun::inspected_bytes() const {
    auto bytes = result_.inspected_bytes() + product_->inspected_bytes();
    for (const auto& operand : operands_) bytes += operand.inspected_bytes();
    return bytes;
}

std::int64_t SparseStepRun::sent_bytes() const {
    auto bytes = product_->sent_bytes() + result_.sent() * element_bytes_;
    for (const auto& operand : operands_) bytes += operand.sent_bytes();
    return bytes;
}

std::int64_t SparseStepRun::list_bytes() const {
    auto bytes = product_->list_bytes() + result_.list_bytes();
    for (const auto& operand : operands_) bytes += operand.list_bytes();
    return bytes;
}

std::int64_t SparseStepRun::workspace_bytes(const std::vector<bool>& conjugated, bool on_device) const {
    WorkspaceNeed need(on_device);
    product_->add_need(need, conjugated);
    return need.bytes();
}

std::int64_t SparseStepRun::working_bytes(const std::vector<bool>& conjugated, bool on_device) const {
    std::int64_t bytes = 0, packed = 0;
    for (std::size_t o = 0; o < operands_.size(); ++o) {
        const auto* const wanted = product_->wanted(o);
        const auto count = wanted != nullptr ? std::ssize(*wanted) : operands_[o].count();
        const auto converted = operands_[o].converted_bytes();
        bytes += operands_[o].moved_bytes();
        packed = std::max({packed, operands_[o].packed_bytes(), conversion_bytes(count, converted, element_bytes_)});
        if (wanted != nullptr || conjugated[o] || converted != 0) bytes += count * element_bytes_;
    }
    return bytes + packed + result_.held() * element_bytes_ + workspace_bytes(conjugated, on_device);
}

std::optional<DeviceNeed> SparseStepRun::device_need(const StepElements& elements) const {
    auto need = product_->device_need(elements);
    if (need) need->working += (operands_[0].count() + (product_->dense_result() == nullptr ? result_.made() : 0)) * element_bytes_;
    return need;
}

/// Values of the sparse operands where they are multiplied, of the type of the kernels. @param room  for those that are not where they lie
std::vector<const std::byte*> SparseStepRun::brought(const ElementKernels& kernels, const StepElements& elements,
                                                     std::vector<Buffer<std::byte>>& room) const {
    std::vector<const std::byte*> values;
    for (std::size_t o = 0; o < operands_.size(); ++o) {
        const auto& source = elements.operands[o];
        values.push_back(operands_[o].values(static_cast<const std::byte*>(source.elements), room));
        const auto* const wanted = product_->wanted(o);
        const bool conjugates = elements.conjugated[o] && kernels.is_complex, converts = operands_[o].converted_bytes() != 0;
        if (!conjugates && !converts && wanted == nullptr) continue;
        agree(comm_, [&] {
            local::ListedTransfer list;
            list.count = wanted != nullptr ? std::ssize(*wanted) : operands_[o].count();
            list.from = wanted != nullptr ? wanted->data() : nullptr;
            Buffer<std::byte> copy(list.count * kernels.size);
            ElementTransfer(converts ? source.kernels_or(kernels) : kernels, kernels, {})
                .listed(list, values.back(), copy.data(), nullptr, {.conjugate = conjugates});
            room.push_back(std::move(copy));
            values.back() = room.back().data();
        });
    }
    return values;
}

Buffer<std::byte> SparseStepRun::run(const ElementKernels& kernels, const StepElements& elements, const void* alpha,
                                     Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    std::vector<Buffer<std::byte>> room;
    const auto values = brought(kernels, elements, room);
    const auto& multiplied = elements.device != nullptr ? *elements.device : kernels.on_host();
    Buffer<std::byte> sums;
    agree(comm_, [&] {
        sums = Buffer<std::byte>(result_.made() * kernels.size, multiplied.space);
        if (operands_.size() == 1) multiplied.fill(sums.data(), result_.made(), kernels.zero);
    });
    product_->multiply(multiplied, values, elements, unless_one(kernels, alpha), sums.data(), workspace);
    if (elements.device != nullptr)
        agree(comm_, [&] {
            Buffer<std::byte> here(sums.size());
            copy_array(here.data(), sums.data(), sums.size(), multiplied.space);
            device::Failure::the().rethrow();
            sums = std::move(here);
        });
    return result_.added_up(comm_, kernels, std::move(sums));
}

void SparseStepRun::run(const ElementKernels& kernels, const StepElements& elements, const void* alpha, const void* beta, void* result,
                        Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    std::vector<Buffer<std::byte>> room;
    const auto values = brought(kernels, elements, room);
    const auto& multiplied = elements.device != nullptr ? *elements.device : kernels.on_host();
    const auto& out = *product_->dense_result();
    void* sums = nullptr;
    agree(comm_, [&] { sums = out.begin(multiplied, beta, result, workspace); });
    product_->multiply(multiplied, values, elements, unless_one(kernels, alpha), sums, workspace);
    out.finish(multiplied, beta, sums, result, workspace);
}

}  // namespace arges

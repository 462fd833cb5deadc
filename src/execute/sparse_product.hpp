/// What ranks multiply when the nonzeros of a step have arrived.
#pragma once

#include "arges/element_kernels.hpp"
#include "arges/sparse_loops.hpp"
#include "base/workspace.hpp"
#include "execute/sparse_arrival.hpp"
#include "redistribute/element_transfer.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace arges {

/// Elements of the operands of a step.
struct StepElements {
    /// Sparse ones first: values, or elements in the own layout; with kernels where they are of another type.
    std::vector<SourceArray> operands;
    std::vector<bool> conjugated;  ///< by operand: conjugates are meant
    /// The table of a device where the step is computed, in whose memory a dense result lies; null: on the host.
    const ElementKernels* device = nullptr;
};

/// Numbers below 2^32 if they are, else 64 bits.
class NumberList {
public:
    NumberList() = default;
    explicit NumberList(std::vector<std::int64_t> numbers) {
        if (std::all_of(numbers.begin(), numbers.end(), [](auto n) { return n <= std::numeric_limits<std::uint32_t>::max(); }))
            narrow_.assign(numbers.begin(), numbers.end());
        else
            wide_ = std::move(numbers);
    }
    /// Likewise; none where they are 0, 1, 2, ... in all.
    static NumberList unless_identity(std::vector<std::int64_t> numbers) {
        for (std::size_t i = 0; i < numbers.size(); ++i)
            if (numbers[i] != static_cast<std::int64_t>(i)) return NumberList(std::move(numbers));
        return {};
    }
    local::NonzeroNumbers numbers() const { return {narrow_.empty() ? nullptr : narrow_.data(), wide_.empty() ? nullptr : wide_.data()}; }
    std::int64_t bytes() const { return bytes_of_list(narrow_) + bytes_of_list(wide_); }

private:
    std::vector<std::uint32_t> narrow_;
    std::vector<std::int64_t> wide_;
};

/// What runs on a device take, in bytes.
struct DeviceNeed {
    std::int64_t lists = 0, working = 0;  ///< on the device: what stays from run to run, and what does not
    std::int64_t on_host = 0;             ///< while lists are copied
};

/// What a run takes from a workspace: arrays, and what one movement at a time takes.
class WorkspaceNeed {
public:
    /// @param on_device  that is where arrays lie, and only messages count
    explicit WorkspaceNeed(bool on_device) : on_device_(on_device) {}
    void add(std::int64_t count, std::int64_t element_bytes) { arrays_ += on_device_ ? 0 : Workspace::padded(count * element_bytes); }
    void add_movement(std::int64_t bytes) { messages_ = std::max(messages_, bytes); }
    bool on_device() const { return on_device_; }
    std::int64_t bytes() const { return arrays_ + messages_; }

private:
    bool on_device_;
    std::int64_t arrays_ = 0, messages_ = 0;
};

class DenseResult;

/// An inspected product on this rank's part of a grid. Its constructors are collective and make the lists; runs use values only.
class SparseProduct {
public:
    virtual ~SparseProduct() = default;
    /// The products as elements of the result, in the order in which this rank makes them; they are added to those of a dense result.
    /// Collective. @param values  of the sparse operands where they are multiplied  @param alpha  null: one
    virtual void multiply(const ElementKernels& kernels, const std::vector<const std::byte*>& values, const StepElements& elements,
                          const void* alpha, void* result, Workspace& workspace) const = 0;
    /// Multiplications with nonzeros on this rank.
    virtual std::int64_t products() const = 0;
    /// Bytes of indices that the inspection has sent from this rank, and of elements that each run sends.
    virtual std::int64_t inspected_bytes() const { return 0; }
    virtual std::int64_t sent_bytes() const { return 0; }
    /// Memory of the lists on this rank.
    virtual std::int64_t list_bytes() const = 0;
    /// Adds what a run takes. @param conjugated  as StepElements has it, where that makes copies
    virtual void add_need(WorkspaceNeed& need, const std::vector<bool>& conjugated) const = 0;
    /// What a run takes on a device beside tensors, and besides on the host; none: it cannot be there, which all ranks find alike.
    virtual std::optional<DeviceNeed> device_need(const StepElements& /*elements*/) const { return {}; }
    /// Gives back the lists on the device, which the next run there copies again.
    virtual void drop_device_lists() const {}
    /// Which values of a sparse operand are wanted, in which order; null: all as they are.
    virtual const std::vector<std::int64_t>* wanted(std::size_t /*operand*/) const { return nullptr; }
    /// How a dense result leaves; null: the result is sparse.
    virtual const DenseResult* dense_result() const { return nullptr; }
};

}  // namespace arges

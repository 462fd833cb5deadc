#include "interface/statement/sparse_device.hpp"

#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/statement/check_labels.hpp"
#include "plan/product/estimate_cost.hpp"
#include "sparse/device_loop.hpp"

#include <algorithm>
#include <set>

namespace arges {

namespace {

/// Can a device compute a term?
bool is_possible(const SparseTerm& term) {
    const auto& factors = term.factors;
    const auto sparse = std::count_if(factors.begin(), factors.end(), [](const auto& factor) { return factor.sparse != nullptr; });
    return sparse <= 1 && std::ssize(factors) - sparse <= sparse::most_loop_factors && term.excluded.empty() && !term.is_nothing &&
           std::all_of(factors.begin(), factors.end(), [](const auto& factor) { return factor.role == Role::factor; });
}

/// Times on a device and on the host, with what passes between both memories.
class PlaceTimes {
public:
    PlaceTimes(const WorldState& world, std::int64_t element_bytes)
        : machine_(world.machine()), rates_(machine_.device.value_or(DeviceRates())), ranks_(world.size()), element_(element_bytes) {}

    void add(const SparseTerm& term, bool is_sparse_result) {
        double products = 1, kept = 1, stored = 0, factors = 0;
        std::set<int> own;  // labels of the sparse factor
        for (const auto& factor : term.factors) {
            if (factor.dense) ++factors;
            if (!factor.sparse) continue;
            auto known = factor;
            known.read(*factor.sparse->kernels);
            stored = known.stored->count / ranks_;
            own.insert(factor.labels.begin(), factor.labels.end());
        }
        std::set<int> all, left(term.left().begin(), term.left().end());
        for (const auto& factor : term.factors) all.insert(factor.labels.begin(), factor.labels.end());
        for (int label : all) {
            const auto extent = static_cast<double>(term.product.label_extents[label]);
            if (!own.contains(label)) products *= extent;
            if (!own.contains(label) && left.contains(label)) kept *= extent;
        }
        if (term.is_dense) {
            on_host_ += 2 * products / ranks_ / machine_.flops_per_second;
            on_device_ += 2 * products / ranks_ / rates_.flops_per_second + rates_.call_seconds;
            return;
        }
        on_host_ += stored * products * machine_.sparse_product_seconds;
        on_device_ += (stored * products * factors + stored) * element_ / rates_.copied_bytes_per_second + copy(stored * element_) +
                      4 * rates_.call_seconds;
        if (is_sparse_result) on_device_ += copy(stored * kept * element_);
    }
    /// A dense tensor, once for all terms. @param times  that it passes where it is not
    void add(const TensorState& tensor, int times) {
        const auto bytes = static_cast<double>(tensor.shape().max_local_size() * tensor.kernels->size);
        (tensor.kernels->space != nullptr ? on_host_ : on_device_) += times * copy(bytes);
    }
    bool is_device_faster() const { return on_device_ < on_host_; }

private:
    double copy(double bytes) const { return crossing_seconds(bytes, 1, machine_); }

    const MachineModel& machine_;
    DeviceRates rates_;
    double ranks_, element_, on_device_ = 0, on_host_ = 0;
};

}  // namespace

const ElementKernels* fastest_device(const StatementArguments& statement, const std::vector<SparseTerm>& terms) {
    const auto& world = *world_of(statement.left).state();
    const auto& device = world.kernels(statement.kernels);
    const auto* const left = statement.left.tensor.get();
    if (device.multiply_nonzeros == nullptr || (left != nullptr && left->kernels->space == nullptr) ||
        std::all_of(terms.begin(), terms.end(), [](const auto& term) { return term.is_dense || term.is_nothing; }) ||
        !std::all_of(terms.begin(), terms.end(), is_possible))
        return nullptr;
    PlaceTimes times(world, statement.kernels.size);
    std::vector<const TensorState*> operands;  // in the order of the statement, so that ranks add up the same numbers
    for (const auto& term : terms) {
        times.add(term, left == nullptr);
        for (const auto& factor : term.factors)
            if (factor.dense && factor.dense.get() != left &&
                std::find(operands.begin(), operands.end(), factor.dense.get()) == operands.end())
                operands.push_back(factor.dense.get());
    }
    for (const auto* operand : operands) times.add(*operand, 1);
    if (left != nullptr) times.add(*left, 2);
    return times.is_device_faster() ? &device : nullptr;
}

}  // namespace arges

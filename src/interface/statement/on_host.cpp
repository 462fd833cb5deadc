#include "interface/statement/on_host.hpp"

#include <algorithm>

namespace arges {

OnHost::OnHost(const Factor& left, const std::vector<Term>& right) : left_(left), right_(right) {
    replace(left_);
    for (auto& term : right_)
        for (auto& factor : term.factors) replace(factor);
}

void OnHost::replace(Factor& factor) {
    if (!factor.tensor || factor.tensor->kernels->space == nullptr) return;
    const auto original = factor.tensor;
    factor.tensor = here(original);
    if (factor.tensor != original) return;
    factor.tensor = TensorState::make(
        original->kernels->on_host(), original->world_handle, [&] { return original->layout; }, original->name);
    copy_elements(factor.tensor->bytes, original->bytes);
    copies_.push_back({original, factor.tensor});
}

std::shared_ptr<TensorState> OnHost::here(const std::shared_ptr<TensorState>& tensor) const {
    const auto known = std::find_if(copies_.begin(), copies_.end(), [&](const Copy& copy) { return copy.original == tensor; });
    return known != copies_.end() ? known->here : tensor;
}

void OnHost::finish() {
    for (const auto& copy : copies_) {
        if (copy.here != left_.tensor) continue;
        auto& original = *copy.original;
        const auto& result = copy.here->bytes;
        const auto* const space = original.kernels->space;
        Buffer<std::byte> elements;
        original.world->agree([&] {
            elements = Buffer<std::byte>(result.size(), space);
            copy_elements(elements, result);
        });
        original.relocate(copy.here->layout, std::move(elements));
    }
}

}  // namespace arges

// Whether the right-hand side of a statement has the symmetry of the output.
#include "interface/right_hand_side.hpp"
#include "interface/statement.hpp"
#include "plan/product/required_symmetry.hpp"

namespace arges {

/// Terms without projection must have the symmetry together; what was found is kept by all that it depends on.
void Statement::check_symmetry() {
    if (output_.shape().symmetry().trivial()) return;
    std::string key;
    const auto append = [&](const auto& number) { key.append(reinterpret_cast<const char*>(&number), sizeof number); };
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        const auto& term = right_[i];
        if (term.projection != Projection::none) continue;
        key += terms_[i].identity;
        append(number(term.coefficient.data()));
        for (const auto& factor : term.factors) append(first_place(right_, factor));
    }
    if (key.empty() || world_.symmetric_sums().find(key) != nullptr) return;
    const auto sum = structural_sum(left_, right_, Projection::none, kernels_);
    require_symmetry(sum);
    world_.symmetric_sums().use(key) = true;
}

}  // namespace arges

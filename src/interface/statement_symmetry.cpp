// Whether the right-hand side of a statement has the symmetry of the output.
#include "interface/statement.hpp"
#include "plan/product/required_symmetry.hpp"

#include <map>

namespace arges {

/// The terms that are assigned as they are. Labels with one name are one label of the sum.
StructuralSum Statement::structure() const {
    StructuralSum sum;
    sum.complex = kernels_.is_complex;
    std::map<std::string, int> numbers;
    const auto numbered = [&](const std::vector<std::string>& names) {
        std::vector<int> result;
        for (const auto& name : names) {
            const auto [place, is_new] = numbers.emplace(name, static_cast<int>(numbers.size()));
            if (is_new) sum.label_names.push_back(name);
            result.push_back(place->second);
        }
        return result;
    };
    sum.output = {output_.shape().symmetry(), numbered(left_.labels.names())};
    sum.output.name = output_.title();
    for (const auto& term : right_) {
        if (term.projection != Projection::none) continue;
        auto& product = sum.products.emplace_back();
        product.coefficient = number(term.coefficient.data());
        for (const auto& f : term.factors)
            product.factors.push_back(
                {f.tensor->shape().symmetry(), numbered(f.labels.names()), first_place(f), f.conjugated, f.tensor->title()});
    }
    sum.labels = static_cast<int>(numbers.size());
    return sum;
}

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
        for (const auto& factor : term.factors) append(first_place(factor));
    }
    if (key.empty() || world_.symmetric_sums().find(key) != nullptr) return;
    const auto sum = structure();
    require_symmetry(sum);
    world_.symmetric_sums().use(key) = true;
}

}  // namespace arges

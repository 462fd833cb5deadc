// Digests of elements: a sum over all of them of a hash of index and value, so that neither their order nor their place matters.
#include "interface/statement/statement.hpp"

#include "arges/error.hpp"
#include "base/digest.hpp"
#include "base/element_at.hpp"
#include "base/options.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/statement/check_labels.hpp"
#include "layout/element_locator.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

namespace arges {

namespace {

constexpr std::int64_t most_elements = 1 << 14;

/// Zeros of both signs are one value, all NaN are, too.
double without_sign_of_zero(double value) { return std::isnan(value) ? 0.5 : value + 0.0; }

std::uint64_t hash_of(Digest digest, std::complex<double> value) {
    return digest.add(without_sign_of_zero(value.real())).add(without_sign_of_zero(value.imag())).value();
}

/// What this rank adds to the sum: elements of which it holds the first copy, as a layout on one rank would have them.
std::uint64_t digest_of(const TensorState& tensor) {
    const auto& layout = tensor.shape();
    if (!layout.is_first_copy(tensor.rank())) return 0;
    const Layout whole({}, layout.extents(), layout.symmetry(), std::vector<SlotMapping>(layout.slots()));
    const ElementLocator locator(whole);
    const HostElements elements(tensor);
    std::uint64_t sum = 0;
    for_each_element(layout, tensor.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& index) {
        const auto at = locator.locate(index.data());
        auto value = tensor.kernels->as_number(element_at(elements.data(), offset, tensor.kernels->size));
        if (at.zero || value == 0.0) return;
        if (at.negative) value = -value;
        if (at.conjugate) value = std::conj(value);
        sum += hash_of(Digest().add(at.offset), value);
    });
    return sum;
}

/// Stored zeros count as elements that are not stored.
std::uint64_t digest_of(const SparseState& tensor) {
    std::uint64_t sum = 0;
    for (std::int64_t k = 0; k < tensor.count(); ++k) {
        const auto value = tensor.kernels->as_number(element_at(tensor.values().data(), k, tensor.kernels->size));
        if (value == 0.0) continue;
        Digest digest;
        for (const auto& column : tensor.pattern()->indices) digest.add(column[k]);
        sum += hash_of(digest, value);
    }
    return sum;
}

std::int64_t digest_of(const Factor& factor) { return factor.sparse ? digest_of(*factor.sparse) : digest_of(*factor.tensor); }

bool is_small(const Factor& factor) {
    return factor.sparse ? factor.sparse->pattern()->total <= most_elements
                         : !factor.tensor->world->dry() && factor.tensor->shape().packed_size() <= most_elements;
}

}  // namespace

UnchangedOperands::UnchangedOperands(const Factor& left, const std::vector<Term>& right) {
    if constexpr (!is_checked_build) return;
    for (const auto& term : right)
        for (const auto& factor : term.factors) {
            const auto is_same = [&](const Factor& other) { return other.tensor == factor.tensor && other.sparse == factor.sparse; };
            if (is_same(left) || !is_small(factor) ||
                std::any_of(operands_.begin(), operands_.end(), [&](const auto& known) { return is_same(*known.factor); }))
                continue;
            operands_.push_back({&factor, digest_of(factor)});
        }
}

void UnchangedOperands::check() const {
    for (const auto& [factor, before] : operands_) {
        const auto& world = *world_of(*factor).state();
        auto change = static_cast<std::uint64_t>(digest_of(*factor)) - static_cast<std::uint64_t>(before);
        if (const auto* const ranks = world.movement_communicator()) change = ranks->sum(static_cast<std::int64_t>(change));
        if (change != 0) throw Error("a statement has changed its operand " + title_of(*factor));
    }
}

}  // namespace arges

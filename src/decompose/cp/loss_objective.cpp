#include "decompose/cp/loss_objective.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/largest_weight.hpp"
#include "sparse/blocked_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace arges::decompose {

namespace {

std::string number_text(double value) {
    auto text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

/// @throws InvalidArgument for values outside of the domain, of which there are so many
void check_domain(const std::string& title, const Loss& loss, const ElementLoss::Domain& domain, double outside) {
    if (outside == 0) return;
    const auto range = std::isfinite(domain.last) ? "from " + number_text(domain.first) + " to " + number_text(domain.last)
                                                  : "not less than " + number_text(domain.first);
    throw InvalidArgument(title + ": the loss " + to_string(loss) + " is for values " + range + ", but " +
                          with_commas(static_cast<std::int64_t>(outside)) + " are others; use another loss, or other values");
}

}  // namespace

double KnownElements::fit(double model_loss) const {
    if (!std::isfinite(model_loss))
        throw Error("the decomposition has diverged: its loss is not a finite number; scale the tensor's values, use a smaller rank, "
                    "another seed, or a regularization");
    if (loss.kind == LossKind::gaussian) return 1 - std::sqrt(model_loss / squares);
    const double range = constant_loss - least_loss;
    return range > 0 ? 1 - (model_loss - least_loss) / range : model_loss <= least_loss ? 1 : 0;
}

double start_scale(const KnownElements& known, const ModelSums& sums) {
    const bool is_of_squares = known.loss.kind == LossKind::gaussian || known.loss.kind == LossKind::huber;
    const double scale = is_of_squares ? (sums.squares > 0 ? sums.inner / sums.squares : 0)
                                       : (sums.model > 0 ? known.constant * known.count / sums.model : 0);
    return std::isfinite(scale) && scale != 0 ? scale : 1;
}

template <class T>
KnownElements known_elements(const Communicator& comm, const std::string& title, std::span<const T> values, bool skips_nan, double zeros,
                             const Loss& loss, const std::type_identity_t<std::optional<std::span<const T>>>& weights) {
    const auto element = make_loss(loss);
    const auto domain = element->domain();
    const auto weight = [&](std::int64_t i) { return weights ? static_cast<double>((*weights)[i]) : 1; };
    auto sums = sparse::blocked_sums<6>(std::ssize(values), [&](std::int64_t i) -> std::array<double, 6> {
        const double x = values[i];
        if (skips_nan && std::isnan(x)) return {};
        const bool is_outside = std::isfinite(x) && (x < domain.first || x > domain.last);
        const double w = weight(i);
        return {w, w * x, w * x * x, is_outside ? 0 : w * element->least(x), is_outside ? 1.0 : 0.0, 1};
    });
    comm.sum(sums.data(), 6);
    KnownElements known{sums[0] + zeros, sums[1], sums[2], sums[3], 0, 0, loss, sums[5] + zeros};
    if (weights) {
        double largest = 0;
        for (std::int64_t i = 0; i < std::ssize(values); ++i)
            if (!std::isnan(values[i])) largest = std::max(largest, weight(i));
        known.largest_weight = largest_weight(comm, largest);
    }
    if (known.elements == 0) throw InvalidArgument(title + " has no element that is known; there is nothing to decompose");
    check_norm(title, known.squares);
    check_domain(title, loss, domain, sums[4]);
    if (zeros > 0) known.least_loss += zeros * element->least(0);
    const double constant = known.constant = element->constant(known.sum / known.count, known.squares / known.count);
    known.constant_loss = sparse::blocked_sum(
        std::ssize(values), [&](std::int64_t i) { return std::isnan(values[i]) ? 0.0 : weight(i) * element->value(values[i], constant); });
    comm.sum(&known.constant_loss, 1);
    if (zeros > 0) known.constant_loss += zeros * element->value(0, constant);
    return known;
}

template <class T>
LossObjective<T>::LossObjective(CpData<T>& data, Factors<T>& factors, const KnownElements& known, double regularization)
    : FactorObjective<T>(data, factors), known_(known), loss_of_element_(make_loss(known.loss)), regularization_(regularization) {}

template <class T>
double LossObjective<T>::evaluate(const FactorVector<T>& x, FactorVector<T>& gradient) {
    this->place(x, false);
    this->products_data_.zero();
    loss_ = add_losses(this->products_);
    gradient.resize(x.size());
    auto* g = gradient.data();
    for (int m = 0; m < this->data_.order(); ++m) {
        const auto& rows = this->products_[m];
        g = std::copy_n(rows.data, this->data_.rows(m).owned * rows.columns, g);
    }
    if (regularization_ == 0) return loss_;
    for (std::size_t i = 0; i < x.size(); ++i) gradient[i] += static_cast<T>(2 * regularization_ * static_cast<double>(x[i]));
    return loss_ + regularization_ * this->dot(x, x);
}

template <class T>
void run_loss(LossObjective<T>& objective, CpData<T>& data, CpState<T>& state, int max_iterations, const AfterIteration& after) {
    run_lbfgs(objective, data, state, max_iterations, [&](int number, double fit) {
        state.loss = objective.loss();
        return after(number, fit);
    });
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template KnownElements known_elements(const Communicator&, const std::string&, std::span<const T>, bool, double, const Loss&,          \
                                          const std::optional<std::span<const T>>&);                                                       \
    template class LossObjective<T>;                                                                                                       \
    template void run_loss(LossObjective<T>&, CpData<T>&, CpState<T>&, int, const AfterIteration&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose

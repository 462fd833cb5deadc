// Quasi-Newton steps of amplitude equations: residuals divided by sums of orbital energies, threaded row by row where there is no symmetry.
// First-order amplitudes over spin orbitals by such a step, and the MP2 energy (Szabo and Ostlund, Modern Quantum Chemistry (1989),
// eq. 6.74).
#include "arges/chemistry/denominators.hpp"
#include "arges/chemistry/cc_equations.hpp"
#include "arges/chemistry/mp2.hpp"
#include "arges/error.hpp"
#include "interface/dense/tensor_state.hpp"

#include <algorithm>
#include <string>

namespace arges::chemistry {

namespace {

/// The terms of a dimension for a rank's local indices; the dimension is a slot of its own.
std::vector<double> local_terms(const Layout& layout, std::int64_t rank, int slot, const std::vector<double>& terms) {
    const std::int64_t coordinate = layout.coordinate(rank, slot), step = layout.slot(slot).grid_length();
    std::vector<double> result(layout.slot(slot).local_size(coordinate));
    for (std::size_t t = 0; t < result.size(); ++t) result[t] = terms[coordinate + static_cast<std::int64_t>(t) * step];
    return result;
}

/// A tensor without symmetry: row by row along the first dimension.
void divide_rows(TensorState& state, const std::vector<std::vector<double>>& terms) {
    const Layout& layout = state.shape();
    std::vector<std::vector<double>> local;
    for (int s = 0; s < layout.slots(); ++s) local.push_back(local_terms(layout, state.rank(), s, terms[layout.slot_dimensions(s)[0]]));
    const std::vector<double>& first = local[0];
    const auto length = std::ssize(first);
    ChangedHostElements changed(state);
    double* const all = changed.of<double>();
    const std::int64_t rows = state.count() / length;
#pragma omp parallel for schedule(static) if (state.count() > 65536)
    for (std::int64_t row = 0; row < rows; ++row) {
        double sum = 0;
        std::int64_t rest = row;
        for (std::size_t s = 1; s < local.size(); ++s) {
            const auto n = std::ssize(local[s]);
            sum += local[s][rest % n];
            rest /= n;
        }
        double* const elements = all + row * length;
        for (std::int64_t t = 0; t < length; ++t) elements[t] /= sum + first[t];
    }
}

/// A tensor on a device, where the sums are made: slot by slot, of the terms that each element of the slot has.
void divide_there(TensorState& state, const std::vector<std::vector<double>>& terms) {
    constexpr double of_padding = 1e300;  // its elements are zero
    const Layout& layout = state.shape();
    const auto& kernels = *state.kernels;
    const auto sizes = layout.local_sizes(state.rank()), strides = layout.strides(state.rank());
    Buffer<double> sums(state.count(), kernels.space);
    kernels.fill(sums.data(), sums.size(), kernels.zero);
    for (int s = 0; s < layout.slots(); ++s) {
        std::vector<double> of_slot(static_cast<std::size_t>(sizes[s]), of_padding);
        layout.slot(s).for_each(layout.coordinate(state.rank(), s), [&](std::int64_t index, const std::int64_t* tuple) {
            const auto& dimensions = layout.slot_dimensions(s);
            of_slot[static_cast<std::size_t>(index)] = 0;
            for (std::size_t i = 0; i < dimensions.size(); ++i) of_slot[static_cast<std::size_t>(index)] += terms[dimensions[i]][tuple[i]];
        });
        std::vector<local::TransferAxis> axes;
        for (int x = 0; x < layout.slots(); ++x)
            axes.push_back({.count = sizes[x], .from_stride = x == s ? 1 : 0, .to_stride = strides[x]});
        kernels.transfer(axes, of_slot.data(), sums.data(), nullptr, {.accumulate = true});
    }
    kernels.divide(state.bytes.data(), sums.data(), state.count());
}

/// Divides each element by the sum over its dimensions of terms[dimension][index]. Threaded where the
/// tensor has no symmetry.
void divide_by_sums(Tensor<double>& tensor, const std::vector<std::vector<double>>& terms) {
    TensorState& state = *tensor.state();
    if (tensor.world().is_dry_run() || state.count() == 0) return;
    if (tensor.order() > 0 && state.kernels->space != nullptr) return divide_there(state, terms);
    const auto& slots = state.shape().symmetry().slots();
    if (tensor.order() > 0 &&
        std::all_of(slots.begin(), slots.end(), [](const SymmetryNode& node) { return node.kind == NodeKind::leaf; })) {
        divide_rows(state, terms);
        return;
    }
    ChangedHostElements changed(state);
    double* const elements = changed.of<double>();
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        double sum = 0;
        for (std::size_t d = 0; d < x.size(); ++d) sum += terms[d][x[d]];
        elements[offset] /= sum;
    });
}

}  // namespace

void divide_by_denominators(Tensor<double>& residual, const std::vector<double>& occupied, const std::vector<double>& virtuals) {
    std::vector<double> minus;
    for (const double energy : virtuals) minus.push_back(-energy);
    const auto half = static_cast<std::size_t>(residual.order()) / 2;
    for (std::size_t d = 0; d < residual.extents().size(); ++d)
        if (residual.order() % 2 != 0 || residual.extents()[d] != std::ssize(d < half ? virtuals : occupied))
            throw InvalidArgument("divide_by_denominators: " + residual.name() + " has not one virtual index for each of " +
                                  std::to_string(virtuals.size()) + " energies and then one occupied index for each of " +
                                  std::to_string(occupied.size()));
    std::vector<std::vector<double>> terms(half, minus);
    terms.resize(2 * half, occupied);
    divide_by_sums(residual, terms);
}

TensorSet first_order_amplitudes(const SpinIntegrals& integrals, int rank) {
    TensorSet t = zero_amplitudes(integrals, rank);
    t["T1"]["ai"] = integrals.f_ov["ia"];
    t["T2"]["abij"] = integrals.oovv["ijab"];
    for (const char* const name : {"T1", "T2"}) divide_by_denominators(t[name], integrals.occupied, integrals.virtuals);
    return t;
}

double mp2_energy(const SpinIntegrals& integrals) {
    const TensorSet t = first_order_amplitudes(integrals, 2);
    Tensor<double> energy(integrals.oovv.world(), {});
    energy[""] = integrals.f_ov["ia"] * t["T1"]["ai"] + 0.25 * integrals.oovv["ijab"] * t["T2"]["abij"];
    return energy.scalar();
}

}  // namespace arges::chemistry

#include "chemistry/equations/device_triples.hpp"

#include "arges/error.hpp"

#include <array>
#include <utility>

namespace arges::chemistry {

namespace {

using Three = std::array<std::int64_t, 3>;

constexpr double one = 1, zero = 0;

Three lengths_of(const TripleBlock& block, const TripleBlock::Ranges& ranges) {
    return {block.length[ranges[0]], block.length[ranges[1]], block.length[ranges[2]]};
}

/// Of dense arrays, the first dimension fastest.
Three strides_of(const Three& length) { return {1, length[0], length[0] * length[1]}; }

}  // namespace

DeviceTriples::DeviceTriples(const ElementKernels& kernels, std::span<const double> energies, std::span<const double> singles,
                             std::int64_t elements)
    : kernels_(kernels), energies_(Buffer<double>::copy_of(energies, kernels.space)),
      singles_(Buffer<double>::copy_of(singles, kernels.space)), room_(elements, kernels.space) {}

/// w(abc) = sum over orders (p, q, r) of a, b, c with their occupied orbitals of L_p(d,p,q) R_qr(d,r).
void DeviceTriples::connect(const TripleBlock& block, const TripleBlock::Ranges& ranges, double* w) const {
    const auto n = lengths_of(block, ranges), step = strides_of(n);
    const auto d = block.summed, ld = block.summed + block.virtuals;
    const double* beta = &zero;
    for (const auto& [p, q, r] : TripleBlock::orders) {
        const local::FoldedContraction fold{
            .m = {{n[p], d, 0, step[p]}, {n[q], d * n[p], 0, step[q]}}, .n = {{n[r], 0, ld, step[r]}}, .k = {{d, 1, 1, 0}}};
        kernels_.contract(fold, &one, block.left[p][ranges[p]][ranges[q]], block.right[q][r] + block.begin[ranges[r]] * ld, beta, w);
        beta = &one;
    }
}

/// y(abc) = (w(abc) + z(abc)) / D with z(abc) = t_i^a (bj|ck) + t_j^b (ai|ck) + t_k^c (ai|bj).
/// @param room  for as many numbers
void DeviceTriples::divide(const TripleBlock& block, const TripleBlock::Ranges& ranges, const Three& orbitals, const double* w, double* y,
                           double* room) const {
    const auto n = lengths_of(block, ranges), step = strides_of(n);
    const auto ld = block.summed + block.virtuals;
    const auto first = [&](std::size_t p) { return block.begin[ranges[p]]; };
    copy_array(y, w, block.cube() * std::int64_t{sizeof(double)}, kernels_.space);
    const double occupied = block.occupied[0] + block.occupied[1] + block.occupied[2], minus = -1;
    kernels_.fill(room, block.cube(), &occupied);
    for (std::size_t p = 0; p < 3; ++p) {
        const std::size_t q = p == 0 ? 1 : 0, r = p == 2 ? 1 : 2;
        const local::FoldedContraction fold{.m = {{n[p], 1, 0, step[p]}}, .n = {{n[q], 0, 1, step[q]}, {n[r], 0, ld, step[r]}}};
        kernels_.contract(fold, &one, singles_.data() + block.virtuals * orbitals[p] + first(p),
                          block.right[q][r] + block.summed + first(q) + ld * first(r), &one, y);
        std::array<local::TransferAxis, 3> axes;
        for (std::size_t x = 0; x < 3; ++x) axes[x] = {.count = n[x], .from_stride = x == p ? 1 : 0, .to_stride = step[x]};
        kernels_.transfer(axes, energies_.data() + first(p), room, &minus, {.accumulate = true});
    }
    kernels_.divide(y, room, block.cube());
}

double DeviceTriples::energy(const TripleBlock& block, const Three& orbitals) {
    const auto cube = block.cube();
    if (elements_of(block) > room_.size()) throw Error("a block of triples is larger than its room on the device");
    double* const room = room_.data() + 2 * block.connected_elements();
    std::array<double*, 6> w{}, y{};  // by orders of the ranges
    double* next = room_.data();
    for (std::size_t o = 0; o < 6; ++o) {
        const auto same = block.first_of(block.ranges_of(o));
        if (same < o) {
            w[o] = w[same];
            y[o] = y[same];
            continue;
        }
        w[o] = std::exchange(next, next + cube);
        y[o] = std::exchange(next, next + cube);
        connect(block, block.ranges_of(o), w[o]);
        divide(block, block.ranges_of(o), orbitals, w[o], y[o], room);
    }
    double energy = 0;
    for (std::size_t o = 0; o < 6; ++o) {
        const auto ranges = block.ranges_of(o);
        if (block.first_of(ranges) < o) continue;
        // 4 y(abc) + y(bca) + y(cab) - 2 y(cba) - 2 y(acb) - 2 y(bac)
        const auto n = lengths_of(block, ranges), step = strides_of(n);
        for (std::size_t s = 0; s < 6; ++s) {
            const auto& order = TripleBlock::orders[s];
            const TripleBlock::Ranges there{ranges[order[0]], ranges[order[1]], ranges[order[2]]};
            const auto own = strides_of(lengths_of(block, there));
            std::array<local::TransferAxis, 3> axes;
            for (std::size_t x = 0; x < 3; ++x) axes[order[x]] = {.count = n[order[x]], .from_stride = own[x], .to_stride = step[order[x]]};
            const double factor = s == 0 ? 4 : s < 3 ? 1 : -2;
            kernels_.transfer(axes, y[block.first_of(there)], room, &factor, {.accumulate = s > 0});
        }
        energy += kernels_.reductions->sum_row(local::RowSum::product, {.count = cube}, w[o], room, 0).number.real();
    }
    return energy;
}

}  // namespace arges::chemistry

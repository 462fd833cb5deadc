#include "arges/chemistry/cc_equations.hpp"

#include "chemistry/determinants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace arges::chemistry {
namespace {

/// The sizes of a made-up system: occupied and virtual spin orbitals, and the highest excitation.
struct Case {
    std::int64_t o, v;
    int rank;
};

/// Blocks of the Hamiltonian as the equations take them.
SpinIntegrals blocks_of(const World& world, const DenseHamiltonian& H) {
    const SpinSpace occupied{{0, 0}, {H.o, 0}}, virtuals{{H.o, 0}, {H.v, 0}};
    SpinIntegrals blocks{SpinSpaces(occupied, virtuals)};
    const auto at = [&](char letter, std::int64_t x) { return letter >= 'i' ? x : H.o + x; };
    const auto two = [&](const std::string& letters, const char* symmetry) {
        Tensor<double> block = blocks.spaces.tensor(world, letters, symmetry, letters);
        block.fill([&](Index x) { return H.two(at(letters[0], x[0]), at(letters[1], x[1]), at(letters[2], x[2]), at(letters[3], x[3])); });
        return block;
    };
    const auto one = [&](const std::string& letters) {
        Tensor<double> block = blocks.spaces.tensor(world, letters, "", letters);
        block.fill([&](Index x) { return H.fock(at(letters[0], x[0]), at(letters[1], x[1])); });
        return block;
    };
    blocks.oovv = two("mnef", "antisym(m,n) antisym(e,f)");
    blocks.oooo = two("mnij", "antisym(m,n) antisym(i,j)");
    blocks.ooov = two("mnie", "antisym(m,n)");
    blocks.ovvo = two("mbej", "");
    blocks.ovvv = two("maef", "antisym(e,f)");
    blocks.vvvv = two("abef", "antisym(a,b) antisym(e,f)");
    blocks.f_oo = one("mi");
    blocks.f_ov = one("me");
    blocks.f_vv = one("ae");
    return blocks;
}

/// One excitation for each distinct element of amplitudes with n virtual and n occupied indices.
std::vector<Excitation> excitations(const Tensor<double>& t, const std::vector<double>& values) {
    std::vector<Excitation> result;
    const std::size_t n = static_cast<std::size_t>(t.order()) / 2;
    for (std::int64_t key = 0; key < t.size(); ++key) {
        const std::vector<std::int64_t> x = t.index(key);
        const auto middle = x.begin() + static_cast<std::ptrdiff_t>(n);
        const auto ascends = [](auto begin, auto end) { return std::adjacent_find(begin, end, std::greater_equal<>()) == end; };
        if (ascends(x.begin(), middle) && ascends(middle, x.end()))
            result.push_back({{x.begin(), middle}, {middle, x.end()}, values[static_cast<std::size_t>(key)]});
    }
    return result;
}

class Residuals : public testing::TestWithParam<Case> {};

TEST_P(Residuals, are_projections_of_the_transformed_hamiltonian) {
    const World world;
    const auto [o, v, rank] = GetParam();
    const DenseHamiltonian H = random_hamiltonian(o, v, 7);
    const SpinIntegrals blocks = blocks_of(world, H);
    TensorSet t = zero_amplitudes(blocks, rank);
    std::vector<Excitation> T;
    std::uint64_t seed = 1;
    for (Tensor<double>& member : t.members()) {
        member.fill_random(seed++);
        for (const Excitation& excitation : excitations(member, member.gather())) T.push_back(excitation);
    }

    const TensorSet residuals = cc_residuals(blocks, t);
    const double energy = cc_energy(blocks, t);
    const bool compares = world.rank() == 0;  // one rank does the slow work
    const State expected = compares ? transformed_state(H, T) : State();
    for (const Tensor<double>& member : residuals.members()) {
        const std::vector<double> values = member.gather();
        if (!compares) continue;
        for (const Excitation& found : excitations(member, values))
            EXPECT_NEAR(found.amplitude, projection(H, found, expected), 1e-12) << member.name();
    }
    if (!compares) return;

    double reference = 0;
    for (std::int64_t k = 0; k < o; ++k) reference += (H.one(k, k) + H.fock(k, k)) / 2;
    EXPECT_NEAR(energy, projection(H, {}, expected) - reference, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Residuals,
                         testing::Values(Case{1, 1, 2}, Case{2, 3, 2}, Case{4, 2, 2}, Case{3, 3, 3}, Case{4, 3, 3}, Case{3, 5, 3},
                                         Case{2, 4, 3}, Case{5, 4, 4}, Case{4, 5, 4}, Case{2, 3, 4}, Case{0, 3, 4}, Case{3, 0, 3}));

}  // namespace
}  // namespace arges::chemistry

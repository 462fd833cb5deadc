#include "chemistry/integrals.hpp"

#include "comm/communicator.hpp"

#include <algorithm>
#include <utility>

namespace arges::chemistry {

namespace {

/// A block is filled in at most this many rounds per rank, or in rounds of this many elements if it
/// is small.
constexpr std::int64_t max_rounds = 16;
constexpr std::int64_t min_elements_per_round = std::int64_t(1) << 16;

using FourSpaces = std::array<SpinSpace, 4>;

/// Keys of the spatial integrals that make up one spin-orbital integral; a spin that does not match
/// leaves one out.
struct Parts {
    bool direct = false, exchange = false;
    std::array<std::int64_t, 4> direct_index{}, exchange_index{};
};

/// <pq||rs> = (pr|qs) [spins p=r, q=s] - (ps|qr) [spins p=s, q=r].
Parts parts_of(Index x, const FourSpaces& space) {
    std::array<std::int64_t, 4> at{}, spin{};
    for (std::size_t d = 0; d < 4; ++d) {
        at[d] = space[d].spatial(x[d]);
        spin[d] = space[d].spin(x[d]);
    }
    Parts parts;
    parts.direct = spin[0] == spin[2] && spin[1] == spin[3];
    parts.exchange = spin[0] == spin[3] && spin[1] == spin[2];
    parts.direct_index = {at[0], at[2], at[1], at[3]};
    parts.exchange_index = {at[0], at[3], at[1], at[2]};
    return parts;
}

/// Sets the elements begin <= number < end of this rank's part of `block`. Collective.
void fill_round(Tensor<double>& block, const FourSpaces& spaces, const Tensor<double>& g,
                std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> keys;
    std::int64_t number = 0;
    std::as_const(block).for_each_local([&](Index x, const double&) {
        if (number++ < begin || number > end) return;
        const Parts parts = parts_of(x, spaces);
        if (parts.direct) keys.push_back(g.key(parts.direct_index));
        if (parts.exchange) keys.push_back(g.key(parts.exchange_index));
    });
    const std::vector<double> values = g.read(keys);
    auto next = values.begin();
    number = 0;
    block.for_each_local([&](Index x, double& element) {
        if (number++ < begin || number > end) return;
        const Parts parts = parts_of(x, spaces);
        element = parts.direct ? *next++ : 0.0;
        if (parts.exchange) element -= *next++;
    });
}

void fill_block(Tensor<double>& block, const FourSpaces& spaces, const Tensor<double>& g) {
    if (block.world().is_dry_run()) return;
    std::int64_t elements = 0;
    std::as_const(block).for_each_local([&](Index, const double&) { ++elements; });
    const std::int64_t largest = Communicator(block.world().communicator()).maximum(elements);
    const std::int64_t step =
        std::max(min_elements_per_round, (largest + max_rounds - 1) / max_rounds);
    for (std::int64_t begin = 0; begin < largest; begin += step)
        fill_round(block, spaces, g, begin, begin + step);
}

/// Makes blocks of one Hamiltonian.
class BlockBuilder {
public:
    BlockBuilder(const Fcidump& data, const Reference& reference)
        : data_(data), reference_(reference), spaces_(reference) {}

    /// <pq||rs> for four letters.
    Tensor<double> integrals(std::string_view letters, std::string_view symmetry) const {
        const std::string name =
            "<" + std::string(letters.substr(0, 2)) + "||" + std::string(letters.substr(2)) + ">";
        Tensor<double> block = spaces_.tensor(data_.two_electron.world(), letters, symmetry, name);
        fill_block(block,
                   {spaces_.of(letters[0]), spaces_.of(letters[1]), spaces_.of(letters[2]),
                    spaces_.of(letters[3])},
                   data_.two_electron);
        return block;
    }
    /// f(p,q) for two letters.
    Tensor<double> fock(std::string_view letters) const {
        const SpinSpace p = spaces_.of(letters[0]), q = spaces_.of(letters[1]);
        Tensor<double> block = spaces_.tensor(data_.two_electron.world(), letters, "",
                                              "f(" + std::string(letters) + ")");
        block.fill([&](Index x) {
            return p.spin(x[0]) == q.spin(x[1]) ? reference_.f(p.spatial(x[0]), q.spatial(x[1]))
                                                : 0.0;
        });
        return block;
    }
    /// Diagonal of the Fock matrix over the spin orbitals of a letter.
    std::vector<double> energies(char letter) const {
        const SpinSpace space = spaces_.of(letter);
        std::vector<double> result;
        for (std::int64_t x = 0; x < space.size(); ++x)
            result.push_back(reference_.f(space.spatial(x), space.spatial(x)));
        return result;
    }

private:
    const Fcidump& data_;
    const Reference& reference_;
    SpinSpaces spaces_;
};

}  // namespace

std::vector<std::int64_t> SpinSpaces::extents(std::string_view letters) const {
    std::vector<std::int64_t> result;
    for (char letter : letters) result.push_back(of(letter).size());
    return result;
}

Tensor<double> SpinSpaces::tensor(const World& world, std::string_view letters,
                                  std::string_view symmetry, const std::string& name) const {
    return Tensor<double>(world, extents(letters), Symmetry::parse(letters, symmetry), name);
}

SpinIntegrals build_integrals(const Fcidump& data, const Reference& reference, IntegralSet set) {
    const BlockBuilder build(data, reference);
    SpinIntegrals blocks{SpinSpaces(reference)};
    blocks.occupied = build.energies('i');
    blocks.virtuals = build.energies('a');
    blocks.oovv = build.integrals("mnef", "antisym(m,n) antisym(e,f)");
    if (set == IntegralSet::second_order) return blocks;
    blocks.oooo = build.integrals("mnij", "antisym(m,n) antisym(i,j)");
    blocks.ooov = build.integrals("mnie", "antisym(m,n)");
    blocks.ovvo = build.integrals("mbej", "");
    blocks.ovvv = build.integrals("maef", "antisym(e,f)");
    blocks.vvvv = build.integrals("abef", "antisym(a,b) antisym(e,f)");
    blocks.f_oo = build.fock("mi");
    blocks.f_ov = build.fock("me");
    blocks.f_vv = build.fock("ae");
    return blocks;
}

void divide_by_denominators(Tensor<double>& residual, const SpinIntegrals& integrals) {
    const std::size_t half = static_cast<std::size_t>(residual.order()) / 2;
    residual.for_each_local([&](Index x, double& value) {
        double denominator = 0;
        for (std::size_t d = 0; d < half; ++d)
            denominator += integrals.occupied[static_cast<std::size_t>(x[half + d])] -
                           integrals.virtuals[static_cast<std::size_t>(x[d])];
        value /= denominator;
    });
}

}  // namespace arges::chemistry

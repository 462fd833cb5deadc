// Antisymmetrised integrals over spin orbitals, <pq||rs> = (pr|qs) - (ps|qr) where the spins allow it, read from the
// spatial ones in rounds of bounded memory.
#include "arges/chemistry/integrals.hpp"

#include "chemistry/solvers/check_arguments.hpp"
#include "interface/dense/tensor_state.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace arges::chemistry {

namespace {

/// A block is filled in at most this many rounds per rank, or in rounds of this many elements if it
/// is small.
constexpr std::int64_t max_rounds = 32;
constexpr std::int64_t min_elements_per_round = std::int64_t(1) << 14, fewest_elements_per_round = 64;
/// Bytes that an element takes while its integrals, two at most, are read.
constexpr std::int64_t bytes_of_element = 2 * 144;
/// Elements that are copied along lists in the time that reading the integrals of one takes (measured: 110 ns).
constexpr double copies_of_element = 22;

using FourSpaces = std::array<SpinSpace, 4>;

/// The spatial integrals that make up spin-orbital integrals, by number: alpha, beta, mixed.
class SpatialSource {
public:
    explicit SpatialSource(const Fcidump& data) : sets_{&data.two(0), &data.two(1), &data.mixed()} {}

    /// An integral (pq|rs) with pq and rs of these spins.
    struct Place {
        std::size_t set;
        std::int64_t key;
    };
    Place place(std::array<std::int64_t, 4> x, std::int64_t pq_spin, std::int64_t rs_spin) const {
        if (pq_spin > rs_spin) x = {x[2], x[3], x[0], x[1]};  // the mixed set has alpha first
        const std::size_t set = pq_spin == rs_spin ? pq_spin : 2;
        return {set, sets_[set]->key(x)};
    }
    /// Values by set, in the order in which `keys` has them. Collective.
    std::array<std::vector<double>, 3> read(const std::array<std::vector<std::int64_t>, 3>& keys) const {
        return {sets_[0]->read(keys[0]), sets_[1]->read(keys[1]), sets_[2]->read(keys[2])};
    }

private:
    std::array<const Tensor<double>*, 3> sets_;
};

/// <pq||rs> = (pr|qs) [spins p=r, q=s] - (ps|qr) [spins p=s, q=r]: calls f(place, sign) for each
/// part that the spins leave.
template <class F>
void for_each_part(Index x, const FourSpaces& space, const SpatialSource& source, F&& f) {
    std::array<std::int64_t, 4> at{}, spin{};
    for (std::size_t d = 0; d < 4; ++d) {
        at[d] = space[d].orbital(x[d]);
        spin[d] = space[d].spin(x[d]);
    }
    if (spin[0] == spin[2] && spin[1] == spin[3]) f(source.place({at[0], at[2], at[1], at[3]}, spin[0], spin[1]), 1.0);
    if (spin[0] == spin[3] && spin[1] == spin[2]) f(source.place({at[0], at[3], at[1], at[2]}, spin[0], spin[1]), -1.0);
}

/// Fills this rank's part of a block in one walk over its elements, in rounds of which all ranks take part in as many.
class RoundFiller {
public:
    /// Collective. @param elements  of a round
    RoundFiller(const World& world, const FourSpaces& spaces, const SpatialSource& source, std::int64_t elements)
        : world_(world), spaces_(spaces), source_(source), elements_(elements) {
        world_.state()->agree([&] { parts_.reserve(2 * static_cast<std::size_t>(elements)); });
    }

    /// Takes up an element; where the round is complete, reads its integrals with all ranks.
    void add(Index x, double& element) {
        element = 0;
        for_each_part(x, spaces_, source_, [&](SpatialSource::Place place, double sign) { parts_.push_back({place, &element, sign}); });
        if (++waiting_ == elements_) finish_round();
    }
    /// Collective; rounds may be empty.
    void finish_round() {
        std::array<std::vector<std::int64_t>, 3> keys;
        world_.state()->agree([&] {
            for (const Part& part : parts_) keys[part.place.set].push_back(part.place.key);
        });
        const std::array<std::vector<double>, 3> values = source_.read(keys);
        std::array<std::size_t, 3> next{};
        for (const Part& part : parts_) *part.element += part.sign * values[part.place.set][next[part.place.set]++];
        parts_.clear();
        waiting_ = 0;
        ++rounds_;
    }
    std::int64_t rounds() const { return rounds_; }

private:
    struct Part {
        SpatialSource::Place place;
        double* element;
        double sign;
    };

    World world_;
    const FourSpaces& spaces_;
    const SpatialSource& source_;
    std::int64_t elements_, waiting_ = 0, rounds_ = 0;
    std::vector<Part> parts_;
};

/// Elements of a round of a block, of which the busiest rank has so many; half of the memory that is left is enough for them, unless
/// that is very little. All ranks choose alike.
std::int64_t elements_per_round(WorldState& world, std::int64_t largest) {
    const std::int64_t wanted = std::max(min_elements_per_round, (largest + max_rounds - 1) / max_rounds);
    const std::int64_t possible = std::max(fewest_elements_per_round, world.least_free_bytes() / 2 / bytes_of_element);
    return std::min({largest, wanted, possible});
}

void fill_block(Tensor<double>& block, const FourSpaces& spaces, const SpatialSource& source) {
    WorldState& world = *block.world().state();
    const std::int64_t largest = block.state()->shape().max_local_size();
    if (largest == 0) return;
    const std::int64_t step = elements_per_round(world, largest);
    world.note_working(0, 0, step * bytes_of_element);
    if (world.dry()) {
        world.note_seconds(static_cast<double>(largest) * copies_of_element * world.machine().listed_element_seconds);
        return;
    }
    RoundFiller filler(block.world(), spaces, source, step);
    auto& state = *block.state();
    std::optional<ChangedHostElements> changed;  // until the last round, which writes to elements that it has taken up before
    world.agree([&] { changed.emplace(state); });
    double* const elements = changed->of<double>();
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, Index x) { filler.add(x, elements[offset]); });
    for (const std::int64_t rounds = (largest + step - 1) / step; filler.rounds() < rounds;) filler.finish_round();
}

/// Makes blocks of one Hamiltonian.
class BlockBuilder {
public:
    BlockBuilder(const Fcidump& data, const Reference& reference) : data_(data), reference_(reference), spaces_(reference) {}

    /// <pq||rs> for four letters.
    Tensor<double> integrals(std::string_view letters, std::string_view symmetry) const {
        const std::string name = "<" + std::string(letters.substr(0, 2)) + "||" + std::string(letters.substr(2)) + ">";
        Tensor<double> block = spaces_.tensor(data_.two_electron.world(), letters, symmetry, name);
        fill_block(block, {spaces_.of(letters[0]), spaces_.of(letters[1]), spaces_.of(letters[2]), spaces_.of(letters[3])},
                   SpatialSource(data_));
        return block;
    }
    /// f(p,q) for two letters.
    Tensor<double> fock(std::string_view letters) const {
        const SpinSpace &p = spaces_.of(letters[0]), &q = spaces_.of(letters[1]);
        Tensor<double> block = spaces_.tensor(data_.two_electron.world(), letters, "", "f(" + std::string(letters) + ")");
        block.fill([&](Index x) {
            const std::size_t spin = p.spin(x[0]);
            return p.spin(x[0]) == q.spin(x[1]) ? reference_.spin[spin].f(p.orbital(x[0]), q.orbital(x[1])) : 0.0;
        });
        return block;
    }
    /// Diagonal of the Fock matrix over the spin orbitals of a letter.
    std::vector<double> energies(char letter) const {
        const SpinSpace& space = spaces_.of(letter);
        std::vector<double> result;
        for (std::int64_t x = 0; x < space.size(); ++x)
            result.push_back(reference_.spin[space.spin(x)].f(space.orbital(x), space.orbital(x)));
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

Tensor<double> SpinSpaces::tensor(const World& world, std::string_view letters, std::string_view symmetry, const std::string& name) const {
    return Tensor<double>(world, extents(letters), Symmetry::parse(letters, symmetry), name);
}

SpinIntegrals build_integrals(const Fcidump& data, const Reference& reference, IntegralSet set) {
    check_reference(data, reference, "build_integrals");
    const BlockBuilder build(data, reference);
    SpinIntegrals blocks{SpinSpaces(reference)};
    blocks.occupied = build.energies('i');
    blocks.virtuals = build.energies('a');
    blocks.oovv = build.integrals("mnef", "antisym(m,n) antisym(e,f)");
    blocks.f_ov = build.fock("me");
    if (set == IntegralSet::second_order) return blocks;
    blocks.oooo = build.integrals("mnij", "antisym(m,n) antisym(i,j)");
    blocks.ooov = build.integrals("mnie", "antisym(m,n)");
    blocks.ovvo = build.integrals("mbej", "");
    blocks.ovvv = build.integrals("maef", "antisym(e,f)");
    blocks.vvvv = build.integrals("abef", "antisym(a,b) antisym(e,f)");
    blocks.f_oo = build.fock("mi");
    blocks.f_vv = build.fock("ae");
    return blocks;
}

}  // namespace arges::chemistry

// Closed-shell integrals in halves that are symmetric and antisymmetric in a pair, packed in both pairs, so that sums over pairs take a
// quarter of the flops (Scuseria, Janssen and Schaefer, J. Chem. Phys. 89, 7382 (1988)).
#include "arges/chemistry/spatial_integrals.hpp"

#include "arges/error.hpp"
#include "chemistry/solvers/check_arguments.hpp"

#include <string>

namespace arges::chemistry {

namespace {

/// Cuts blocks out of (pq|rs) and f(p,q).
class BlockCutter {
public:
    BlockCutter(const Fcidump& data, const Reference& reference)
        : g_(data.two_electron), reference_(reference.spin[0]), spaces_{reference_.occupied, reference_.virtuals} {}

    Tensor<double> zeros(std::string_view letters, std::string_view symmetry, const std::string& name) const {
        return spaces_.tensor(g_.world(), letters, symmetry, name);
    }
    /// (pq|rs) for four letters, as symmetric as the letters allow.
    Tensor<double> cut(std::string_view letters) const {
        std::vector<std::int64_t> begin, end;
        for (const char letter : letters) {
            begin.push_back(first(letter));
            end.push_back(begin.back() + spaces_.extent(letter));
        }
        return g_.slice(begin, end);
    }
    /// Both halves of <pq|rs> from (pr|qs). Letters: p q r s.
    SplitBlock split(const std::string& letters, const std::string& pairs, const Tensor<double>& chemists) const {
        const std::string name = "<" + letters.substr(0, 2) + "|" + letters.substr(2) + ">";
        const std::string from = {letters[0], letters[2], letters[1], letters[3]};
        SplitBlock block{zeros(letters, with_kind("sym", pairs), name + "+"), zeros(letters, with_kind("antisym", pairs), name + "-")};
        block.plus[letters] = 0.5 * symmetrized(chemists[from]);
        block.minus[letters] = 0.5 * antisymmetrized(chemists[from]);
        return block;
    }
    Tensor<double> fock(std::string_view letters) const {
        const std::int64_t p = first(letters[0]), q = first(letters[1]);
        Tensor<double> block = zeros(letters, "", "f(" + std::string(letters) + ")");
        block.fill([&](Index x) { return reference_.f(p + x[0], q + x[1]); });
        return block;
    }
    /// Diagonal of the Fock matrix over the orbitals of a letter.
    std::vector<double> energies(char letter) const {
        std::vector<double> result;
        for (std::int64_t x = 0; x < spaces_.extent(letter); ++x) result.push_back(reference_.f(first(letter) + x, first(letter) + x));
        return result;
    }
    const SpatialSpaces& spaces() const { return spaces_; }

private:
    std::int64_t first(char letter) const { return letter >= 'i' ? 0 : spaces_.occupied; }
    /// "ab ef" becomes "sym(a,b) sym(e,f)".
    static std::string with_kind(const std::string& kind, const std::string& pairs) {
        std::string result;
        for (std::size_t k = 0; k + 1 < pairs.size(); k += 3) result += kind + "(" + pairs[k] + "," + pairs[k + 1] + ") ";
        return result;
    }

    const Tensor<double>& g_;
    const SpinReference& reference_;  // both spins have the same
    SpatialSpaces spaces_;
};

void cut_second_order(const BlockCutter& from, SpatialIntegrals& blocks) {
    const Tensor<double> vovo = from.cut("aibj");
    blocks.V = from.zeros("abij", pairs_abij, "V");
    blocks.V["abij"] = vovo["aibj"];
    blocks.L = from.zeros("abij", pairs_abij, "L");
    blocks.L["abij"] = 2.0 * blocks.V["abij"] - blocks.V["baij"];
}

void cut_coupled_cluster(const BlockCutter& from, SpatialIntegrals& blocks) {
    blocks.J = from.zeros("abij", "sym(a,b) sym(i,j)", "J");
    blocks.J["abij"] = from.cut("abij")["abij"];
    blocks.M = from.zeros("abij", pairs_abij, "M");
    blocks.M["abij"] = 2.0 * blocks.V["abij"] - blocks.J["abij"];
    blocks.K = from.zeros("ijka", "sym(i,j)", "K");
    blocks.K["ijka"] = from.cut("ijka")["ijka"];
    blocks.N = from.zeros("ijka", "", "N");
    blocks.N["ijka"] = 2.0 * blocks.K["ijka"] - blocks.K["kjia"];
    blocks.oovv = from.split("mnef", "mn ef", from.cut("menf"));
    blocks.oooo = from.split("mnij", "mn ij", from.cut("minj"));
    blocks.ovvv = from.split("maef", "ef", from.cut("meaf"));
    blocks.vvvv = from.split("abef", "ab ef", from.cut("aebf"));
}

}  // namespace

Tensor<double> SpatialSpaces::tensor(const World& world, std::string_view letters, std::string_view symmetry,
                                     const std::string& name) const {
    std::vector<std::int64_t> extents;
    for (const char letter : letters) extents.push_back(extent(letter));
    return Tensor<double>(world, extents, Symmetry::parse(letters, symmetry), name);
}

SpatialIntegrals build_spatial_integrals(const Fcidump& data, const Reference& reference, IntegralSet set) {
    check_reference(data, reference, "build_spatial_integrals");
    if (!data.header.closed_shell())
        throw InvalidArgument("closed-shell coupled cluster needs restricted orbitals and as many alpha as beta "
                              "electrons; use the spin-orbital methods, which take any reference");
    const BlockCutter from(data, reference);
    SpatialIntegrals blocks{from.spaces()};
    blocks.occupied = from.energies('i');
    blocks.virtuals = from.energies('a');
    cut_second_order(from, blocks);
    blocks.f_ov = from.fock("me");
    if (set == IntegralSet::second_order) return blocks;
    cut_coupled_cluster(from, blocks);
    blocks.f_oo = from.fock("mi");
    blocks.f_vv = from.fock("ae");
    return blocks;
}

}  // namespace arges::chemistry

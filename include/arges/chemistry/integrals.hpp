/// @file chemistry/integrals.hpp
/// Antisymmetrised integrals and Fock blocks over spin orbitals.
#pragma once

#include "arges/chemistry/reference.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace arges::chemistry {

/// A range of spin orbitals: first all with spin alpha, then all with spin beta. Spins are 0 for
/// alpha and 1 for beta.
/// Example: SpinSpace{{3, 2}, {2, 3}} holds the alpha orbitals 3, 4 and the beta orbitals 2, 3, 4;
/// spin orbital 3 of its five is the beta orbital 3.
struct SpinSpace {
    std::array<std::int64_t, 2> first{};  ///< first orbital of each spin
    std::array<std::int64_t, 2> count{};  ///< number of orbitals of each spin

    /// Number of spin orbitals.
    std::int64_t size() const { return count[0] + count[1]; }
    /// Spin of spin orbital x of the range.
    std::int64_t spin(std::int64_t x) const { return x < count[0] ? 0 : 1; }
    /// Orbital of its spin that spin orbital x of the range is.
    std::int64_t orbital(std::int64_t x) const { return x < count[0] ? first[0] + x : first[1] + x - count[0]; }
};

/// One index letter for each of i j k l m n (occupied) and a b c d e f (virtual).
class SpinSpaces {
public:
    /// Two ranges.
    SpinSpaces(const SpinSpace& occupied, const SpinSpace& virtuals) : occupied_(occupied), virtual_(virtuals) {}
    /// The ranges of a reference: the first orbitals of each spin are occupied.
    explicit SpinSpaces(const Reference& reference)
        : SpinSpaces({{0, 0}, {reference.spin[0].occupied, reference.spin[1].occupied}},
                     {{reference.spin[0].occupied, reference.spin[1].occupied}, {reference.spin[0].virtuals, reference.spin[1].virtuals}}) {
    }

    /// The range that a letter counts.
    const SpinSpace& of(char letter) const { return letter >= 'i' ? occupied_ : virtual_; }
    /// Extents of a tensor with these letters; extents("abij") = {v, v, o, o}.
    std::vector<std::int64_t> extents(std::string_view letters) const;
    /// Zeros with these letters, e.g. tensor(world, "abij", "antisym(a,b) antisym(i,j)").
    Tensor<double> tensor(const World& world, std::string_view letters, std::string_view symmetry, const std::string& name) const;

private:
    SpinSpace occupied_, virtual_;
};

/// What to build: MP2 needs less than coupled cluster.
enum class IntegralSet { second_order, coupled_cluster };

/// Blocks of <pq||rs> = (pr|qs) - (ps|qr) (with spins) and of the Fock matrix. Letters o and v name
/// occupied and virtual indices; the blocks that are not here follow from <pq||rs> = -<qp||rs> =
/// -<pq||sr> = <rs||pq>.
struct SpinIntegrals {
    SpinSpaces spaces;                  ///< extents
    Tensor<double> oovv = {};           ///< <mn||ef>
    Tensor<double> oooo = {};           ///< <mn||ij>
    Tensor<double> ooov = {};           ///< <mn||ie>
    Tensor<double> ovvo = {};           ///< <mb||ej>
    Tensor<double> ovvv = {};           ///< <ma||ef>
    Tensor<double> vvvv = {};           ///< <ab||ef>; 1/4 of the full block, which folds into GEMM as it is
    Tensor<double> f_oo = {};           ///< f(m,i)
    Tensor<double> f_ov = {};           ///< f(m,e)
    Tensor<double> f_vv = {};           ///< f(a,e)
    std::vector<double> occupied = {};  ///< diagonal of f_oo: orbital energies, on every rank
    std::vector<double> virtuals = {};  ///< diagonal of f_vv
};

/// Builds the blocks: each rank reads those spatial integrals that its own elements need, in rounds
/// of bounded size. Collective. On a dry run the blocks have shapes only.
SpinIntegrals build_integrals(const Fcidump& data, const Reference& reference, IntegralSet set);

}  // namespace arges::chemistry

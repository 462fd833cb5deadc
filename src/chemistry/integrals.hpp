/// Antisymmetrised integrals and Fock blocks over spin orbitals.
#pragma once

#include "chemistry/reference.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace arges::chemistry {

/// A range of spin orbitals: first all with spin alpha, then all with spin beta.
/// Example: SpinSpace{2, 3} holds the spatial orbitals 2, 3, 4; spin orbital 4 of its six is
/// orbital 3 with spin beta (1).
struct SpinSpace {
    std::int64_t first = 0;  ///< first spatial orbital
    std::int64_t count = 0;  ///< number of spatial orbitals

    std::int64_t size() const { return 2 * count; }
    std::int64_t spatial(std::int64_t x) const { return first + x % count; }
    std::int64_t spin(std::int64_t x) const { return x / count; }
};

/// One index letter for each of i j k l m n (occupied) and a b c d e f (virtual).
class SpinSpaces {
public:
    explicit SpinSpaces(const Reference& reference)
        : occupied_{0, reference.occupied}, virtual_{reference.occupied, reference.virtuals} {}

    const SpinSpace& of(char letter) const { return letter >= 'i' ? occupied_ : virtual_; }
    /// Extents of a tensor with these letters; extents("abij") = {v, v, o, o}.
    std::vector<std::int64_t> extents(std::string_view letters) const;
    /// Zeros with these letters, e.g. tensor(world, "abij", "antisym(a,b) antisym(i,j)").
    Tensor<double> tensor(const World& world, std::string_view letters, std::string_view symmetry,
                          const std::string& name) const;

private:
    SpinSpace occupied_, virtual_;
};

/// What to build: MP2 needs less than coupled cluster.
enum class IntegralSet { second_order, coupled_cluster };

/// Blocks of <pq||rs> = (pr|qs) - (ps|qr) (with spins) and of the Fock matrix. Letters o and v name
/// occupied and virtual indices; the blocks that are not here follow from <pq||rs> = -<qp||rs> =
/// -<pq||sr> = <rs||pq>.
struct SpinIntegrals {
    SpinSpaces spaces;         ///< extents
    Tensor<double> oovv = {};  ///< <mn||ef>
    Tensor<double> oooo = {};  ///< <mn||ij>
    Tensor<double> ooov = {};  ///< <mn||ie>
    Tensor<double> ovvo = {};  ///< <mb||ej>
    Tensor<double> ovvv = {};  ///< <ma||ef>
    Tensor<double> vvvv = {};  ///< <ab||ef>; 1/4 of the full block, which folds into GEMM as it is
    Tensor<double> f_oo = {};  ///< f(m,i)
    Tensor<double> f_ov = {};  ///< f(m,e)
    Tensor<double> f_vv = {};  ///< f(a,e)
    std::vector<double> occupied = {};  ///< diagonal of f_oo: orbital energies, on every rank
    std::vector<double> virtuals = {};  ///< diagonal of f_vv
};

/// Builds the blocks: each rank reads those spatial integrals that its own elements need, in rounds
/// of bounded size. Collective. On a dry run the blocks have shapes only.
SpinIntegrals build_integrals(const Fcidump& data, const Reference& reference, IntegralSet set);

/// Divides each element of a residual with letters a.. i.. (first half virtual, second half
/// occupied) by its denominator f_ii + f_jj + ... - f_aa - f_bb - ... Local.
void divide_by_denominators(Tensor<double>& residual, const SpinIntegrals& integrals);

}  // namespace arges::chemistry

#include "chemistry/solvers/check_arguments.hpp"

#include "arges/error.hpp"
#include "base/digest.hpp"

#include <cstdint>

namespace arges::chemistry {

namespace {

void require(bool right, const std::string& what, const std::string& problem) {
    if (!right) throw InvalidArgument(what + ": " + problem);
}

void check_tensor(const Tensor<double>& tensor, const Tensor<double>& wanted, const World& world, const std::string& what) {
    require(tensor.world() == world, what, "the integrals are on different worlds");
    require(tensor.extents() == wanted.extents() && tensor.symmetry() == wanted.symmetry(), what,
            "the tensor of " + wanted.name() + " has not the shape or symmetry that empty_fcidump() gives it");
}

}  // namespace

void check_hamiltonian(const Fcidump& data, const std::string& what) {
    const FcidumpHeader& header = data.header;
    const World world = data.one_electron.world();
    const std::int64_t n = header.orbitals;
    require((header.electrons + header.ms2) % 2 == 0, what, "the numbers of electrons and of unpaired electrons must both be even or odd");
    for (const int spin : {0, 1})
        require(header.electrons_of(spin) >= 0 && header.electrons_of(spin) <= n, what,
                std::to_string(header.electrons_of(spin)) + (spin == 0 ? " alpha" : " beta") + " electrons do not fit into " +
                    std::to_string(n) + " orbitals");
    require(data.beta.has_value() == (header.form != OrbitalForm::restricted), what,
            "integrals of beta orbitals belong to unrestricted orbitals, and to no others");
    World shapes = World::dry_run(1);
    shapes.set_memory_limit(INT64_MAX);
    const Fcidump wanted = empty_fcidump(shapes, header);
    check_tensor(data.one_electron, wanted.one_electron, world, what);
    check_tensor(data.two_electron, wanted.two_electron, world, what);
    if (data.beta) {
        check_tensor(data.beta->one_electron, wanted.beta->one_electron, world, what);
        check_tensor(data.beta->two_electron, wanted.beta->two_electron, world, what);
        check_tensor(data.beta->mixed, wanted.beta->mixed, world, what);
    }
    const auto fits = [&](const auto& values) { return values.empty() || std::ssize(values) == n; };
    require(fits(data.orbital_energies) && fits(header.orbital_symmetries) && (!data.beta || fits(data.beta->orbital_energies)), what,
            "orbital energies and symmetries are one for each orbital, or none");
}

std::uint64_t digest_of(const FcidumpHeader& header) {
    return Digest().add(header.orbitals).add(header.electrons).add(header.ms2).add(header.form).value();
}

std::uint64_t digest_of(const Fcidump& data) {
    Digest digest;
    digest.add(digest_of(data.header)).add(data.core_energy).add(data.orbital_energies).add(data.beta.has_value());
    if (data.beta) digest.add(data.beta->orbital_energies);
    return digest.value();
}

void check_reference(const Fcidump& data, const Reference& reference, const std::string& what) {
    check_hamiltonian(data, what);
    const std::int64_t n = data.header.orbitals;
    for (const int spin : {0, 1}) {
        const SpinReference& orbitals = reference.spin[spin];
        require(orbitals.occupied == data.header.electrons_of(spin) && orbitals.occupied + orbitals.virtuals == n &&
                    std::ssize(orbitals.fock) == n * n,
                what, "the reference is that of another molecule; build_reference() gives one for these integrals");
    }
}

}  // namespace arges::chemistry

// Writes TREXIO files (Posenitskiy et al., J. Chem. Phys. 158, 174801 (2023)): rank 0 makes the structure, then every rank puts its
// integrals at places that follow from a count.
#include "chemistry/integrals/integral_file.hpp"
#include "comm/values.hpp"
#include "interface/dense/tensor_state.hpp"
#include "io/file/hdf5_writer.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace arges::chemistry {

namespace {

/// Integrals that a rank holds at a time.
constexpr std::size_t integrals_per_batch = std::size_t(1) << 16;
/// More than HDF5 takes up for what describes these few groups and datasets.
constexpr std::int64_t structure_bytes = std::int64_t(1) << 16;

/// What the symmetry of an orbital takes: where its text is, the text, and what HDF5 puts beside it.
constexpr std::int64_t symmetry_bytes = 64;

/// The TREXIO library whose files these are like. It opens no file without such a number.
constexpr char library_version[] = "2.6.1";

/// Two-electron integrals, and what is added to the numbers of their first and second pair of orbitals.
struct IntegralBlock {
    const Tensor<double>* integrals;
    std::int64_t first_pair, second_pair;
};

std::vector<IntegralBlock> blocks_of(const Fcidump& data) {
    const std::int64_t n = data.header.orbitals;
    if (!data.beta) return {{&data.two_electron, 0, 0}};
    return {{&data.two_electron, 0, 0}, {&data.beta->two_electron, n, n}, {&data.beta->mixed, 0, n}};
}

/// Calls f(value, orbitals) for each integral <pq|rs> of this rank that is not zero.
template <class F>
void for_each_integral(const IntegralBlock& block, F&& f) {
    const auto& state = *block.integrals->state();
    if (!state.shape().is_first_copy(state.rank())) return;
    const HostElements here(state);
    const double* const elements = here.of<double>();
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        const double value = elements[offset];
        if (value != 0)
            f(value, std::array{x[0] + block.first_pair, x[2] + block.second_pair, x[1] + block.first_pair, x[3] + block.second_pair});
    });
}

/// Where the elements of the two datasets of two-electron integrals begin in the file.
struct Places {
    std::int64_t indices = 0, values = 0;
};

/// Everything in the file but two-electron integrals. On rank 0.
struct Structure {
    FcidumpHeader header;
    std::int64_t integrals = 0;
    std::vector<double> one_electron{}, energies{};
    double repulsion = 0;

    bool restricted() const { return header.form == OrbitalForm::restricted; }
    std::int64_t orbitals() const { return header.orbitals * (restricted() ? 1 : 2); }
    std::vector<double> occupation() const;
    /// ORBSYM as texts, whose length is variable in the file: others the TREXIO library does not read.
    std::vector<std::string> symmetries() const;
    std::int64_t bytes(std::int64_t index_bytes) const {
        const auto n = orbitals();
        return structure_bytes + 8 * (n * n + 3 * n) + symmetry_bytes * n + integrals * (8 + 4 * index_bytes);
    }
};

std::vector<double> Structure::occupation() const {
    std::vector<double> result;
    for (int spin : {0, 1})
        for (std::int64_t p = 0; p < header.orbitals; ++p) {
            const double electrons = p < header.electrons_of(spin) ? 1 : 0;
            if (spin == 1 && restricted())
                result[p] += electrons;
            else
                result.push_back(electrons);
        }
    return result;
}

std::vector<std::string> Structure::symmetries() const {
    std::vector<std::string> texts;
    for (std::int64_t p = 0; p < orbitals(); ++p) texts.push_back(std::to_string(header.orbital_symmetries[p % header.orbitals]));
    return texts;
}

/// Writes the structure of one file. `index` is the type of the numbers of orbitals beside the integrals.
Places write_structure(io::Hdf5Writer& writer, const Structure& structure, const io::NumberType& index) {
    const auto n = structure.orbitals(), up = structure.header.electrons_of(0), down = structure.header.electrons_of(1);
    writer.attribute("metadata", "metadata_package_version", std::string(library_version));
    writer.attribute("nucleus", "nucleus_repulsion", structure.repulsion);
    writer.attribute("electron", "electron_num", up + down);
    writer.attribute("electron", "electron_up_num", up);
    writer.attribute("electron", "electron_dn_num", down);
    writer.attribute("mo", "mo_num", n);
    writer.dataset("mo", "mo_occupation", {n}, structure.occupation());
    if (!structure.energies.empty()) writer.dataset("mo", "mo_energy", {n}, structure.energies);
    if (!structure.header.orbital_symmetries.empty()) writer.texts("mo", "mo_symmetry", structure.symmetries());
    if (!structure.restricted()) {
        std::vector<std::int64_t> spins(n);
        std::fill(spins.begin() + n / 2, spins.end(), 1);
        writer.dataset("mo", "mo_spin", {n}, spins);
    }
    writer.dataset("mo_1e_int", "mo_1e_int_core_hamiltonian", {n, n}, structure.one_electron);
    const Places places{writer.room("mo_2e_int", "mo_2e_int_eri_indices", index, {4 * structure.integrals}),
                        writer.room("mo_2e_int", "mo_2e_int_eri_values", {'f', 8}, {structure.integrals})};
    writer.close();
    return places;
}

/// Puts one integral after the other at this rank's places of the two datasets.
template <class I>
class IntegralWriter {
public:
    /// @param first  number of this rank's first integral
    IntegralWriter(io::OutputFile& file, const Places& places, std::int64_t first) : file_(file), places_(places), next_(first) {
        values_.reserve(integrals_per_batch);
        indices_.reserve(integrals_per_batch);
    }
    void add(double value, const std::array<std::int64_t, 4>& orbitals) {
        values_.push_back(value);
        auto& x = indices_.emplace_back();
        std::transform(orbitals.begin(), orbitals.end(), x.begin(), [](std::int64_t p) { return static_cast<I>(p); });
        if (values_.size() == integrals_per_batch) flush();
    }
    void flush() {
        file_.write(places_.values + next_ * 8, values_.data(), values_.size() * 8);
        file_.write(places_.indices + next_ * static_cast<std::int64_t>(sizeof(indices_[0])), indices_.data(),
                    indices_.size() * sizeof(indices_[0]));
        next_ += std::ssize(values_);
        values_.clear();
        indices_.clear();
    }

private:
    io::OutputFile& file_;
    Places places_;
    std::int64_t next_;
    std::vector<double> values_;
    std::vector<std::array<I, 4>> indices_;
};

/// The one-electron matrix on rank 0: the blocks of the two spins on its diagonal, where there are two.
std::vector<double> one_electron_matrix(const Fcidump& data) {
    std::vector<double> alpha = data.one_electron.gather_to(0);
    if (!data.beta) return alpha;
    const std::vector<double> beta = data.beta->one_electron.gather_to(0);
    const std::size_t n = data.header.orbitals;
    std::vector<double> both(alpha.empty() ? 0 : 4 * n * n);
    for (std::size_t p = 0; p < n && !alpha.empty(); ++p)
        for (std::size_t q = 0; q < n; ++q) {
            both[p * 2 * n + q] = alpha[p * n + q];
            both[(n + p) * 2 * n + n + q] = beta[p * n + q];
        }
    return both;
}

std::vector<double> energies_of(const Fcidump& data) {
    std::vector<double> result = data.orbital_energies;
    if (data.beta) result.insert(result.end(), data.beta->orbital_energies.begin(), data.beta->orbital_energies.end());
    return result;
}

template <class I>
void write_file(io::OutputFile& file, const std::string& path, const Fcidump& data) {
    const Communicator& comm = file.comm();
    const auto blocks = blocks_of(data);
    std::int64_t mine = 0;
    for (const auto& block : blocks) for_each_integral(block, [&](double, const std::array<std::int64_t, 4>&) { ++mine; });
    Structure structure{data.header};
    const std::int64_t first = io::sum_before(comm, mine, &structure.integrals);
    structure.one_electron = one_electron_matrix(data);
    structure.energies = energies_of(data);
    structure.repulsion = data.core_energy;
    const auto places = from_first_rank(comm, [&] {
        const auto bytes = structure.bytes(sizeof(I));
        file.reserve(bytes);
        io::Hdf5Writer writer(path, file.temporary());
        file.reserve(bytes);  // HDF5 has made the file empty
        return write_structure(writer, structure, {'u', static_cast<int>(sizeof(I))});
    });
    comm.agree([&] {
        IntegralWriter<I> writer(file, places, first);
        for (const auto& block : blocks)
            for_each_integral(block, [&](double value, const std::array<std::int64_t, 4>& orbitals) { writer.add(value, orbitals); });
        writer.flush();
    });
}

}  // namespace

void write_trexio(const std::string& path, const Fcidump& data) {
    const io::QuietHdf5 quiet;
    io::OutputFile file(Communicator(data.two_electron.world().communicator()), path);
    // The widths that the TREXIO library chooses.
    const auto orbitals = data.header.orbitals * (data.beta ? 2 : 1);
    if (orbitals < std::numeric_limits<std::uint8_t>::max())
        write_file<std::uint8_t>(file, path, data);
    else
        write_file<std::uint16_t>(file, path, data);
    file.commit();
}

}  // namespace arges::chemistry

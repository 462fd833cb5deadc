#include "arges/error.hpp"
#include "chemistry/trexio.hpp"
#include "interface/tensor_state.hpp"
#include "io/hdf5_handle.hpp"

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
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        const double value = state.data[offset];
        if (value != 0) f(value, std::array{x[0] + block.first_pair, x[2] + block.second_pair, x[1] + block.first_pair, x[3] + block.second_pair});
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
                result[static_cast<std::size_t>(p)] += electrons;
            else
                result.push_back(electrons);
        }
    return result;
}

/// Writes the structure of one file with the HDF5 of one process.
class StructureWriter {
public:
    StructureWriter(const std::string& path, const std::string& temporary) : path_(path) {
        const io::Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        H5Pset_file_locking(access.id(), false, true);  // the file is locked already, see OutputFile
        file_ = checked({H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose});
    }

    Places write(const Structure& structure, hid_t index_type) {
        const auto n = structure.orbitals();
        const io::Hdf5Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
        H5Tset_size(text.id(), sizeof library_version);
        attribute("metadata", "metadata_package_version", text.id(), library_version);
        attribute("nucleus", "nucleus_repulsion", H5T_NATIVE_DOUBLE, &structure.repulsion);
        const auto up = structure.header.electrons_of(0), down = structure.header.electrons_of(1), all = up + down;
        attribute("electron", "electron_num", H5T_NATIVE_INT64, &all);
        attribute("electron", "electron_up_num", H5T_NATIVE_INT64, &up);
        attribute("electron", "electron_dn_num", H5T_NATIVE_INT64, &down);
        attribute("mo", "mo_num", H5T_NATIVE_INT64, &n);
        dataset("mo", "mo_occupation", H5T_NATIVE_DOUBLE, {n}, structure.occupation().data());
        if (!structure.energies.empty()) dataset("mo", "mo_energy", H5T_NATIVE_DOUBLE, {n}, structure.energies.data());
        if (!structure.header.orbital_symmetries.empty()) write_symmetries(structure);
        if (!structure.restricted()) {
            std::vector<std::int64_t> spins(static_cast<std::size_t>(n));
            std::fill(spins.begin() + n / 2, spins.end(), 1);
            dataset("mo", "mo_spin", H5T_NATIVE_INT64, {n}, spins.data());
        }
        dataset("mo_1e_int", "mo_1e_int_core_hamiltonian", H5T_NATIVE_DOUBLE, {n, n}, structure.one_electron.data());
        const Places places{dataset("mo_2e_int", "mo_2e_int_eri_indices", index_type, {4 * structure.integrals}),
                            dataset("mo_2e_int", "mo_2e_int_eri_values", H5T_NATIVE_DOUBLE, {structure.integrals})};
        check(file_.close());
        return places;
    }

private:
    void check(bool is_done) const {
        if (!is_done) io::throw_hdf5(path_, "the file cannot be written", "check that the folder may be written and has room");
    }
    io::Hdf5Handle checked(io::Hdf5Handle handle) const {
        check(static_cast<bool>(handle));
        return handle;
    }
    io::Hdf5Handle group(const char* name) const {
        if (H5Lexists(file_.id(), name, H5P_DEFAULT) > 0) return checked({H5Gopen2(file_.id(), name, H5P_DEFAULT), H5Gclose});
        return checked({H5Gcreate2(file_.id(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose});
    }
    void attribute(const char* group_name, const char* name, hid_t type, const void* value) const {
        const auto place = group(group_name);
        const io::Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
        const auto held = checked({H5Acreate2(place.id(), name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose});
        check(H5Awrite(held.id(), type, value) >= 0);
    }
    /// ORBSYM as texts, whose length is variable: others the TREXIO library does not read.
    void write_symmetries(const Structure& structure) const {
        std::vector<std::string> texts;
        std::vector<const char*> pointers;
        for (std::int64_t p = 0; p < structure.orbitals(); ++p)
            texts.push_back(std::to_string(structure.header.orbital_symmetries[static_cast<std::size_t>(p % structure.header.orbitals)]));
        for (const auto& text : texts) pointers.push_back(text.c_str());
        const auto place = group("mo");
        const auto count = static_cast<hsize_t>(texts.size());
        const io::Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate_simple(1, &count, nullptr), H5Sclose), creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Tset_size(type.id(), H5T_VARIABLE);
        H5Pset_obj_track_times(creation.id(), false);
        const auto held = checked({H5Dcreate2(place.id(), "mo_symmetry", type.id(), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Dclose});
        check(H5Dwrite(held.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) >= 0);
    }
    /// Makes a dataset whose elements lie in the file one after the other, and says where; without `elements` nothing is written there.
    std::int64_t dataset(const char* group_name, const char* name, hid_t type, const std::vector<std::int64_t>& extents,
                         const void* elements = nullptr) const {
        const auto place = group(group_name);
        const std::vector<hsize_t> lengths(extents.begin(), extents.end());
        const io::Hdf5Handle space(H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), nullptr), H5Sclose);
        const io::Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_layout(creation.id(), H5D_CONTIGUOUS);
        H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY);
        H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER);
        H5Pset_obj_track_times(creation.id(), false);  // equal data are equal files
        const auto held = checked({H5Dcreate2(place.id(), name, type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Dclose});
        if (elements != nullptr) check(H5Dwrite(held.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements) >= 0);
        return static_cast<std::int64_t>(H5Dget_offset(held.id()));
    }

    std::string path_;
    io::Hdf5Handle file_;
};

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
        file_.write(places_.indices + next_ * static_cast<std::int64_t>(sizeof(indices_[0])), indices_.data(), indices_.size() * sizeof(indices_[0]));
        next_ += static_cast<std::int64_t>(values_.size());
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
    const auto n = static_cast<std::size_t>(data.header.orbitals);
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
void write_file(io::OutputFile& file, const std::string& path, const Fcidump& data, hid_t index_type) {
    const Communicator& comm = file.comm();
    const auto blocks = blocks_of(data);
    std::int64_t mine = 0;
    for (const auto& block : blocks) for_each_integral(block, [&](double, const std::array<std::int64_t, 4>&) { ++mine; });
    Structure structure{data.header};
    const std::int64_t first = io::sum_before(comm, mine, &structure.integrals);
    structure.one_electron = one_electron_matrix(data);
    structure.energies = energies_of(data);
    structure.repulsion = data.core_energy;
    Places places;
    comm.agree([&] {
        if (comm.rank() != 0) return;
        const auto bytes = structure.bytes(sizeof(I));
        file.reserve(bytes);
        StructureWriter writer(path, file.temporary());
        file.reserve(bytes);  // HDF5 has made the file empty
        places = writer.write(structure, index_type);
    });
    comm.broadcast(&places, sizeof places, 0);
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
        write_file<std::uint8_t>(file, path, data, H5T_NATIVE_UINT8);
    else
        write_file<std::uint16_t>(file, path, data, H5T_NATIVE_UINT16);
    file.commit();
}

}  // namespace arges::chemistry

#include "chemistry/integrals/integral_file.hpp"

#include "arges/chemistry/cc_driver.hpp"
#include "arges/error.hpp"
#include "base/memory_tally.hpp"
#include "chemistry/made_up.hpp"
#include "chemistry/temporary_file.hpp"
#include "interface/dense/tensor_state.hpp"
#include "io/file/hdf5_handle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace arges::chemistry {
namespace {

/// Everything of one Hamiltonian, on every rank.
struct Gathered {
    std::int64_t orbitals, electrons, ms2;
    double core;
    std::vector<double> energies, beta_energies;
    std::vector<std::vector<double>> integrals;
    bool operator==(const Gathered&) const = default;
};

Gathered gathered_of(const Fcidump& data) {
    Gathered all{data.header.orbitals, data.header.electrons, data.header.ms2, data.core_energy, data.orbital_energies, {}, {}};
    all.integrals = {data.one_electron.gather(), data.two_electron.gather()};
    if (!data.beta) return all;
    all.beta_energies = data.beta->orbital_energies;
    for (const auto* tensor : {&data.beta->one_electron, &data.beta->two_electron, &data.beta->mixed})
        all.integrals.push_back(tensor->gather());
    return all;
}

void expect_all(const std::string& message, const std::vector<std::string>& parts) {
    for (const auto& part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
}

// An HDF5 file that rank 0 changes.

template <class T>
hid_t type_of() {
    if (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
    if (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
    if (std::is_same_v<T, std::uint8_t>) return H5T_NATIVE_UINT8;
    if (std::is_same_v<T, std::uint16_t>) return H5T_NATIVE_UINT16;
    if (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
    return H5T_NATIVE_INT64;
}

void change(const World& world, const std::string& path, const std::function<void(hid_t)>& f) {
    const Communicator comm(world.communicator());
    if (comm.rank() == 0) {
        const io::QuietHdf5 quiet;
        const io::Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
        ASSERT_TRUE(static_cast<bool>(file));
        f(file.id());
    }
    comm.barrier();
}

template <class T>
std::vector<T> get(hid_t file, const char* name) {
    const io::Hdf5Handle data(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose), space(H5Dget_space(data.id()), H5Sclose);
    std::vector<T> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.id())));
    H5Dread(data.id(), type_of<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    return values;
}

/// Writes a dataset in place of another one. @param chunk  0: in one piece; compressed where `deflate` is set
template <class T>
void put(hid_t file, const char* name, const std::vector<T>& values, std::vector<hsize_t> extents = {}, hsize_t chunk = 0,
         bool deflate = false) {
    if (extents.empty()) extents = {values.size()};
    H5Ldelete(file, name, H5P_DEFAULT);
    const io::Hdf5Handle space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose);
    const io::Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose), links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.id(), 1);
    if (chunk > 0) H5Pset_chunk(creation.id(), 1, &chunk);
    if (deflate) H5Pset_deflate(creation.id(), 1);
    const io::Hdf5Handle data(H5Dcreate2(file, name, type_of<T>(), space.id(), links.id(), creation.id(), H5P_DEFAULT), H5Dclose);
    ASSERT_GE(H5Dwrite(data.id(), type_of<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
}

template <class T>
void set_number(hid_t file, const char* group, const char* name, T value) {
    H5Adelete_by_name(file, group, name, H5P_DEFAULT);
    const io::Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const io::Hdf5Handle held(H5Acreate_by_name(file, group, name, type_of<T>(), space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                              H5Aclose);
    ASSERT_GE(H5Awrite(held.id(), type_of<T>(), &value), 0);
}

constexpr char values_name[] = "/mo_2e_int/mo_2e_int_eri_values";
constexpr char indices_name[] = "/mo_2e_int/mo_2e_int_eri_indices";
constexpr char matrix_name[] = "/mo_1e_int/mo_1e_int_core_hamiltonian";

/// Random integrals, some of them zero.
Fcidump random_data(const World& world, std::int64_t orbitals, std::int64_t electrons, std::int64_t ms2, OrbitalForm form,
                    std::uint64_t seed) {
    FcidumpHeader header{orbitals, electrons};
    header.ms2 = ms2;
    header.form = form;
    Fcidump data = empty_fcidump(world, header);
    data.core_energy = unit_interval(splitmix(seed)) - 0.5;
    const auto fill = [&](Tensor<double>& tensor) {
        tensor.fill_random(seed++);
        ChangedHostElements changed(*tensor.state());
        double* const elements = changed.of<double>();
        std::replace_if(
            elements, elements + tensor.state()->count(), [](double value) { return std::abs(value) < 0.05; }, 0.0);
    };
    fill(data.one_electron);
    fill(data.two_electron);
    if (!data.beta) return data;
    fill(data.beta->one_electron);
    fill(data.beta->two_electron);
    fill(data.beta->mixed);
    return data;
}

TEST(Trexio, IsReadToTheBitsThatTextIsReadTo) {
    const World world;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        SCOPED_TRACE(seed);
        const auto form = seed % 2 == 0 ? OrbitalForm::restricted : OrbitalForm::spin_blocks;
        const auto n = static_cast<std::int64_t>(2 + seed % 5), ms2 = static_cast<std::int64_t>(seed % 3);
        Fcidump data = random_data(world, n, 2 + ms2 - 2 * (ms2 / 2), ms2 % 2 == 0 ? 0 : 1, form, 100 * seed);
        if (!data.beta)
            for (std::int64_t p = 0; p < n; ++p)
                data.orbital_energies.push_back(unit_interval(splitmix(seed + 77 + static_cast<std::uint64_t>(p))));
        const TemporaryFile text(world, nullptr), binary(world, nullptr), again(world, nullptr), back(world, nullptr);
        write_fcidump(text.path(), data);
        write_trexio(binary.path(), data);
        const Fcidump from_text = read_integrals(world, text.path()), from_binary = read_integrals(world, binary.path());
        const Gathered expected = gathered_of(data);
        EXPECT_TRUE(gathered_of(from_text) == expected);
        EXPECT_TRUE(gathered_of(from_binary) == expected);
        EXPECT_EQ(from_binary.round_off_repeats, 0);
        EXPECT_EQ(from_binary.header.form == OrbitalForm::restricted, form == OrbitalForm::restricted);
        // And each in the other form.
        write_trexio(again.path(), from_text);
        write_fcidump(back.path(), from_binary);
        EXPECT_TRUE(gathered_of(read_integrals(world, again.path())) == expected);
        EXPECT_TRUE(gathered_of(read_integrals(world, back.path())) == expected);
    }
}

TEST(Trexio, CutAnywhereIsRefused) {
    const World world;
    const Communicator comm(world.communicator());
    const TemporaryFile file(world, nullptr);
    const auto data = random_data(world, 9, 4, 0, OrbitalForm::restricted, 3);
    const auto whole = gathered_of(data);
    write_trexio(file.path(), data);
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(file.path()));
    comm.barrier();
    for (auto length = size - 1; length > 0; length -= 1 + size / (world.size() > 1 ? 5 : 200)) {
        if (world.rank() == 0) std::filesystem::resize_file(file.path(), static_cast<std::uintmax_t>(length));
        comm.barrier();
        try {
            EXPECT_TRUE(gathered_of(read_integrals(world, file.path())) == whole) << length;  // what is missing was not used
        } catch (const InvalidArgument&) {
        }
        comm.barrier();
    }
}

TEST(Trexio, OrbitalEnergiesOfBothSpinsAreKept) {
    const World world;
    Fcidump data = random_data(world, 3, 3, 1, OrbitalForm::spin_blocks, 5);
    data.orbital_energies = {-2, 1.0 / 3, 2};
    data.beta->orbital_energies = {-1.5, 1, 1.0 / 7};
    const TemporaryFile file(world, nullptr);
    write_trexio(file.path(), data);
    EXPECT_TRUE(gathered_of(read_integrals(world, file.path())) == gathered_of(data));
}

/// ORBSYM goes through text and TREXIO, also of unrestricted orbitals in any order; ISYM does not. Names of symmetries are no numbers.
TEST(Trexio, OrbitalSymmetriesAreKept) {
    const World world;
    for (const auto form : {OrbitalForm::restricted, OrbitalForm::spin_blocks}) {
        Fcidump data = random_data(world, 4, 4, 0, form, 6);
        data.header.orbital_symmetries = {1, 14, 2, 1};
        data.header.state_symmetry = 2;
        const TemporaryFile text(world, nullptr), binary(world, nullptr), back(world, nullptr);
        write_fcidump(text.path(), data);
        write_trexio(binary.path(), read_integrals(world, text.path()));
        write_fcidump(back.path(), read_integrals(world, binary.path()));
        const auto header = read_integrals(world, back.path()).header;
        EXPECT_EQ(header.orbital_symmetries, data.header.orbital_symmetries);
        EXPECT_EQ(header.state_symmetry, 1);
        const auto rewrite = [&](std::vector<const char*> symmetries) {
            change(world, binary.path(), [&](hid_t f) {
                H5Ldelete(f, "/mo/mo_symmetry", H5P_DEFAULT);
                const auto count = static_cast<hsize_t>(symmetries.size());
                const io::Hdf5Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose), type(H5Tcopy(H5T_C_S1), H5Tclose);
                H5Tset_size(type.id(), H5T_VARIABLE);
                const io::Hdf5Handle held(H5Dcreate2(f, "/mo/mo_symmetry", type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                          H5Dclose);
                ASSERT_GE(H5Dwrite(held.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, symmetries.data()), 0);
            });
        };
        std::vector<const char*> names(form == OrbitalForm::restricted ? 4 : 8, "1");
        names[1] = "1u";
        rewrite(names);
        EXPECT_EQ(read_integrals(world, binary.path()).header.orbital_symmetries, std::vector<int>());
        names.pop_back();
        rewrite(names);
        expect_all(error_of(world, binary.path()), {"mo_symmetry", "it must have"});
    }
}

/// Written by the TREXIO library 2.6.1 from the same integrals as text. In the second one beta orbitals come first, and elements
/// between spins have values without a meaning, as some programs write them.
TEST(Trexio, FilesOfTheLibraryAreRead) {
    const World world;
    const auto text = read_integrals(world, "examples/data/h2o_sto3g.fcidump"),
               water = read_integrals(world, "test/data/h2o_sto3g_trexio.h5");
    EXPECT_TRUE(gathered_of(water) == gathered_of(text));
    const auto blocks = read_integrals(world, "examples/data/h2o_cation_uhf_sto3g.fcidump"),
               cation = read_integrals(world, "test/data/h2o_cation_uhf_trexio.h5");
    Gathered expected = gathered_of(blocks);
    expected.energies = expected.beta_energies = {};  // the file has none
    Gathered found = gathered_of(cation);
    EXPECT_TRUE(found == expected);
}

/// What stands in a file: groups with their attributes, and datasets, with types and, but for integrals, extents.
std::vector<std::string> structure_of(const std::string& path) {
    std::vector<std::string> lines;
    const io::QuietHdf5 quiet;
    const io::Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const auto describe = [](const io::Hdf5Handle& type) {
        return std::to_string(H5Tget_class(type.id())) + "/" + std::to_string(H5Tget_size(type.id()));
    };
    const auto note = [&](const std::string& name, H5O_type_t kind) {
        const io::Hdf5Handle object(H5Oopen(file.id(), name.c_str(), H5P_DEFAULT), H5Oclose);
        for (int i = 0; i < H5Aget_num_attrs(object.id()); ++i) {
            const io::Hdf5Handle held(
                H5Aopen_by_idx(object.id(), ".", H5_INDEX_NAME, H5_ITER_INC, static_cast<hsize_t>(i), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
            char text[100] = {};
            H5Aget_name(held.id(), sizeof text, text);
            lines.push_back(name + " " + text + " " + describe({H5Aget_type(held.id()), H5Tclose}));
        }
        if (kind != H5O_TYPE_DATASET) return;
        std::string line = name + " " + describe({H5Dget_type(object.id()), H5Tclose});
        const auto extents = *io::hdf5_extents({H5Dget_space(object.id()), H5Sclose});
        if (name.find("eri") == std::string::npos)
            for (const auto extent : extents) line += " " + std::to_string(extent);
        else
            line += " order " + std::to_string(extents.size());
        lines.push_back(line);
    };
    std::vector<std::pair<std::string, H5O_type_t>> objects;
    const auto visit = [](hid_t, const char* name, const H5O_info_t* info, void* list) {
        static_cast<decltype(objects)*>(list)->emplace_back(name, info->type);
        return herr_t{0};
    };
    H5Ovisit2(file.id(), H5_INDEX_NAME, H5_ITER_INC, visit, &objects, H5O_INFO_BASIC);
    for (const auto& [name, kind] : objects) note(name, kind);
    return lines;
}

/// The library opens no file without its version, and reads numbers of these types only.
TEST(Trexio, FilesHaveWhatTheLibraryWrites) {
    const World world;
    const TemporaryFile file(world, nullptr);
    for (const auto& [text, binary] : {std::pair{"examples/data/h2o_sto3g.fcidump", "test/data/h2o_sto3g_trexio.h5"},
                                       std::pair{"examples/data/h2o_cation_uhf_sto3g.fcidump", "test/data/h2o_cation_uhf_trexio.h5"}}) {
        write_trexio(file.path(), read_integrals(world, text));
        const auto ours = structure_of(file.path());
        for (const auto& line : structure_of(binary))
            if (line.find("mo_type") == std::string::npos) {
                EXPECT_NE(std::find(ours.begin(), ours.end(), line), ours.end()) << line;
            }
        Communicator(world.communicator()).barrier();
    }
}

/// To the last digit, in worlds of their own: how a product is computed depends on how often it was.
TEST(Trexio, GivesTheEnergiesOfText) {
    CcOptions options;
    options.method = Method::mp2;
    options.frozen.core = 1;
    const auto energy = [&](const char* path) {
        const World world;
        return *run_coupled_cluster(world, path, options).energy(Method::mp2);
    };
    EXPECT_EQ(energy("test/data/h2o_sto3g_trexio.h5"), energy("examples/data/h2o_sto3g.fcidump"));
    EXPECT_EQ(energy("test/data/h2o_cation_uhf_trexio.h5"), energy("examples/data/h2o_cation_uhf_sto3g.fcidump"));
}

/// Indices of other types, in chunks and compressed, and other places of the same integral.
TEST(Trexio, OtherWaysToStoreTheSameAreTheSame) {
    const World world;
    const Fcidump data = random_data(world, 5, 4, 0, OrbitalForm::restricted, 9);
    const Gathered expected = gathered_of(data);
    const std::vector<std::function<void(hid_t)>> changes{
        [](hid_t f) { put(f, indices_name, get<std::uint16_t>(f, indices_name)); },
        [](hid_t f) { put(f, indices_name, get<std::int32_t>(f, indices_name), {}, 37); },
        [](hid_t f) { put(f, indices_name, get<std::int64_t>(f, indices_name), {}, 300, true); },
        [](hid_t f) { put(f, values_name, get<double>(f, values_name), {}, 11, true); },
        [](hid_t f) {  // <pq|rs> = <rq|ps> = <qp|sr>, and twice
            auto x = get<std::uint8_t>(f, indices_name), twice = x;
            for (std::size_t i = 0; i < x.size(); i += 4) {
                std::swap(x[i], x[i + 2]);
                if (i % 8 == 0) std::swap(x[i], x[i + 1]), std::swap(x[i + 2], x[i + 3]);
            }
            x.insert(x.end(), twice.begin(), twice.end());
            auto v = get<double>(f, values_name);
            const auto count = v.size();
            for (std::size_t i = 0; i < count; ++i) v.push_back(v[i]);
            put(f, indices_name, x);
            put(f, values_name, v);
        },
        [](hid_t f) { H5Adelete_by_name(f, "electron", "electron_num", H5P_DEFAULT); },
        [](hid_t f) { H5Ldelete(f, "/mo/mo_occupation", H5P_DEFAULT); },
        [](hid_t f) {
            put(f, "/mo/mo_occupation", std::vector<double>{1.97, 1.2, 0.7, 0.1, 0.03});
        },
        [](hid_t f) {
            put(f, "/mo/mo_spin", std::vector<std::int64_t>{0, 0, 0, 0, 0});
        },
        [](hid_t f) {
            put(f, "/ao_2e_int/ao_2e_int_eri_values", std::vector<double>{1, 2});
        },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        SCOPED_TRACE(i);
        const TemporaryFile file(world, nullptr);
        write_trexio(file.path(), data);
        change(world, file.path(), changes[i]);
        EXPECT_TRUE(gathered_of(read_integrals(world, file.path())) == expected);
    }
}

/// Programs that do not integrate over spin write such elements.
TEST(Trexio, ElementsBetweenSpinsAreLeftOut) {
    const World world;
    const Fcidump data = random_data(world, 3, 3, 1, OrbitalForm::spin_blocks, 9);
    const TemporaryFile file(world, nullptr);
    write_trexio(file.path(), data);
    change(world, file.path(), [](hid_t f) {
        auto x = get<std::uint8_t>(f, indices_name);
        auto v = get<double>(f, values_name);
        auto h = get<double>(f, matrix_name);
        for (std::uint8_t p = 0; p < 6; ++p)
            for (std::uint8_t q = 0; q < 6; ++q) {
                if (p / 3 == q / 3) continue;
                h[static_cast<std::size_t>(6 * p + q)] = 0.5 + p;
                for (std::uint8_t r = 0; r < 6; ++r)  // <pr|qr> and <rp|rq>
                    for (const auto place : {std::array{p, r, q, r}, std::array{r, p, r, q}}) {
                        x.insert(x.end(), place.begin(), place.end());
                        v.push_back(0.25 + r);
                    }
            }
        put(f, indices_name, x);
        put(f, values_name, v);
        put(f, matrix_name, h, {6, 6});
    });
    EXPECT_TRUE(gathered_of(read_integrals(world, file.path())) == gathered_of(data));
}

struct BadTrexio {
    const char* name;
    std::function<void(hid_t)> change;
    std::vector<std::string> message;
};

template <class T>
void set_element(hid_t file, const char* name, std::size_t at, T value, std::vector<hsize_t> extents = {}) {
    auto values = get<T>(file, name);
    values.at(at) = value;
    put(file, name, values, extents);
}

const double not_a_number = std::numeric_limits<double>::quiet_NaN();

const std::vector<BadTrexio> bad_restricted{
    {"no orbitals", [](hid_t f) { H5Ldelete(f, "mo", H5P_DEFAULT); }, {"no number mo_num in the group mo"}},
    {"no count of orbitals", [](hid_t f) { H5Adelete_by_name(f, "mo", "mo_num", H5P_DEFAULT); }, {"no number mo_num"}},
    {"a count that is no integer", [](hid_t f) { set_number(f, "mo", "mo_num", 4.0); }, {"mo_num of mo is not one integer"}},
    {"negative count", [](hid_t f) { set_number(f, "mo", "mo_num", std::int64_t(-4)); }, {"mo_num is -4"}},
    {"other count", [](hid_t f) { set_number(f, "mo", "mo_num", std::int64_t(5)); }, {"is 4, it must be 5"}},
    {"no electrons", [](hid_t f) { H5Ldelete(f, "electron", H5P_DEFAULT); }, {"no number electron_up_num in the group electron"}},
    {"too many electrons",
     [](hid_t f) { set_number(f, "electron", "electron_up_num", std::int64_t(9)); },
     {"electron_up_num=9", "4 orbitals"}},
    {"contradictory electrons", [](hid_t f) { set_number(f, "electron", "electron_num", std::int64_t(3)); }, {"contradict electron_num=3"}},
    {"no repulsion", [](hid_t f) { H5Adelete_by_name(f, "nucleus", "nucleus_repulsion", H5P_DEFAULT); }, {"no number nucleus_repulsion"}},
    {"no one-electron group", [](hid_t f) { H5Ldelete(f, "mo_1e_int", H5P_DEFAULT); }, {"no dataset", matrix_name}},
    {"no two-electron group", [](hid_t f) { H5Ldelete(f, "mo_2e_int", H5P_DEFAULT); }, {"no dataset", values_name}},
    {"Cholesky vectors only",
     [](hid_t f) {
         H5Ldelete(f, "mo_2e_int", H5P_DEFAULT);
         put(f, "/mo_2e_int/mo_2e_int_eri_cholesky_values", std::vector<double>{1, 2});
     },
     {"Cholesky"}},
    {"no indices", [](hid_t f) { H5Ldelete(f, indices_name, H5P_DEFAULT); }, {"no dataset", indices_name}},
    {"matrix of other extents",
     [](hid_t f) {
         put(f, matrix_name, std::vector<double>(20), {4, 5});
     },
     {matrix_name, "is 4 x 5, it must be 4 x 4"}},
    {"matrix of integers",
     [](hid_t f) {
         put(f, matrix_name, std::vector<std::int32_t>(16), {4, 4});
     },
     {"int32", "real numbers"}},
    {"odd number of indices",
     [](hid_t f) {
         auto x = get<std::uint8_t>(f, indices_name);
         x.pop_back();
         put(f, indices_name, x);
     },
     {indices_name, "must be"}},
    {"indices in two dimensions",
     [](hid_t f) {
         const auto x = get<std::uint8_t>(f, indices_name);
         put(f, indices_name, x, {x.size() / 4, 4});
     },
     {indices_name, "x 4, it must be"}},
    {"indices that are real", [](hid_t f) { put(f, indices_name, get<double>(f, indices_name)); }, {"float64", "integers"}},
    {"an index out of range",
     [](hid_t f) { set_element<std::uint8_t>(f, indices_name, 4 * 7 + 2, 4); },
     {"entry 7 of mo_2e_int_eri", "index 4 is out of range", "0 to 3"}},
    {"a negative index",
     [](hid_t f) {
         put(f, indices_name, get<std::int32_t>(f, indices_name));
         set_element<std::int32_t>(f, indices_name, 4 * 9, -1);
     },
     {"entry 9", "index -1 is out of range"}},
    {"no number", [](hid_t f) { set_element(f, values_name, 11, not_a_number); }, {"entry 11", "not finite"}},
    {"no number in the matrix",
     [](hid_t f) {
         set_element(f, matrix_name, 6, not_a_number, {4, 4});
     },
     {"row 1, column 2 of mo_1e_int_core_hamiltonian", "not finite"}},
    {"an asymmetric matrix",
     [](hid_t f) {
         set_element(f, matrix_name, 6, 1e3, {4, 4});
     },
     {"row 2, column 1", "<2|h|1>", "contradicts row 1, column 2", "1000"}},
    {"contradictory values",
     [](hid_t f) {
         auto x = get<std::uint8_t>(f, indices_name);
         auto v = get<double>(f, values_name);
         const auto last = v.size() - 1;
         for (std::size_t d = 0; d < 4; ++d) x[4 * last + d] = x[4 * 2 + (d ^ 1)];
         v[last] = v[2] + 1e-3;
         put(f, indices_name, x);
         put(f, values_name, v);
     },
     {"of mo_2e_int_eri: <", "contradicts entry 2 of mo_2e_int_eri"}},
    {"some energies",
     [](hid_t f) {
         put(f, "/mo/mo_energy", std::vector<double>{1, 2, 3});
     },
     {"/mo/mo_energy is 3, it must be 4"}},
    {"an energy that is no number",
     [](hid_t f) {
         put(f, "/mo/mo_energy", std::vector<double>{1, 2, 3, not_a_number});
     },
     {"/mo/mo_energy", "not finite"}},
    {"unequal spins",
     [](hid_t f) {
         put(f, "/mo/mo_spin", std::vector<std::int64_t>{0, 0, 0, 1});
     },
     {"3 alpha and 1 beta"}},
    {"a third spin",
     [](hid_t f) {
         put(f, "/mo/mo_spin", std::vector<std::int64_t>{0, 0, 1, 2});
     },
     {"other than 0 (alpha) and 1 (beta)"}},
    {"occupied orbitals last",
     [](hid_t f) {
         put(f, "/mo/mo_occupation", std::vector<double>{0, 2, 2, 0});
     },
     {"orbital 0", "put the occupied orbitals first"}},
    {"complex integrals",
     [](hid_t f) {
         put(f, "/mo_1e_int/mo_1e_int_core_hamiltonian_im", std::vector<double>(16), {4, 4});
     },
     {"complex"}},
    {"no two-electron integral",
     [](hid_t f) {
         put(f, indices_name, std::vector<std::uint8_t>{}, {0});
         put(f, values_name, std::vector<double>{}, {0});
     },
     {"no two-electron integrals"}},
};

TEST(Trexio, WrongFilesAreRefusedWithOneErrorOnEveryRank) {
    const World world;
    const Fcidump data = random_data(world, 4, 4, 0, OrbitalForm::restricted, 3);
    for (const auto& bad : bad_restricted) {
        SCOPED_TRACE(bad.name);
        const TemporaryFile file(world, nullptr);
        write_trexio(file.path(), data);
        change(world, file.path(), bad.change);
        const std::string message = error_of(world, file.path());
        EXPECT_TRUE(message.starts_with(file.path())) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos);
        expect_all(message, bad.message);
    }
}

TEST(Trexio, AFileOfBothSpinsNeedsTheIntegralsOfBoth) {
    const World world;
    const Fcidump data = random_data(world, 3, 3, 1, OrbitalForm::spin_blocks, 4);
    const TemporaryFile file(world, nullptr);
    write_trexio(file.path(), data);
    change(world, file.path(), [](hid_t f) {  // only those of alpha orbitals are left
        const auto x = get<std::uint8_t>(f, indices_name);
        const auto v = get<double>(f, values_name);
        std::vector<std::uint8_t> x_left;
        std::vector<double> v_left;
        for (std::size_t i = 0; i < v.size(); ++i)
            if (*std::max_element(x.begin() + static_cast<std::ptrdiff_t>(4 * i), x.begin() + static_cast<std::ptrdiff_t>(4 * i + 4)) < 3) {
                x_left.insert(x_left.end(), x.begin() + static_cast<std::ptrdiff_t>(4 * i),
                              x.begin() + static_cast<std::ptrdiff_t>(4 * i + 4));
                v_left.push_back(v[i]);
            }
        put(f, indices_name, x_left);
        put(f, values_name, v_left);
    });
    expect_all(error_of(world, file.path()), {"no two-electron beta integrals"});
}

TEST(Trexio, TruncatedFilesAreRefused) {
    const World world;
    const Communicator comm(world.communicator());
    const Fcidump data = random_data(world, 6, 4, 0, OrbitalForm::restricted, 3);
    const TemporaryFile whole(world, nullptr);
    write_trexio(whole.path(), data);
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(whole.path()));
    comm.barrier();
    for (std::int64_t left : {size - 1, size - 4096, size / 2, std::int64_t(600), std::int64_t(9)}) {
        SCOPED_TRACE(left);
        const TemporaryFile file(world, nullptr);
        if (comm.rank() == 0) {
            std::filesystem::copy_file(whole.path(), file.path());
            std::filesystem::resize_file(file.path(), static_cast<std::uintmax_t>(left));
        }
        comm.barrier();
        expect_all(error_of(world, file.path()), {file.path(), "truncated"});
    }
}

TEST(Trexio, OtherHdf5FilesAndFoldersAreRefused) {
    const World world;
    const TemporaryFile file(world, nullptr);
    write_trexio(file.path(), random_data(world, 4, 4, 0, OrbitalForm::restricted, 3));
    change(world, file.path(), [](hid_t f) {
        for (const char* group : {"mo", "electron", "nucleus", "mo_1e_int", "mo_2e_int"}) H5Ldelete(f, group, H5P_DEFAULT);
        put(f, "/tensors/T2", std::vector<double>{1, 2});
    });
    expect_all(error_of(world, file.path()), {"TREXIO"});
    expect_all(error_of(world, std::filesystem::temp_directory_path().string()), {"this is a directory", "text back end"});
}

/// So many entries that every rank needs several rounds to read its share, in chunks as the library writes them.
TEST(Trexio, LongFilesAreReadAndComparedInRounds) {
    const World world;
    const Fcidump data = random_data(world, 3, 2, 0, OrbitalForm::restricted, 3);
    const auto copies = static_cast<std::size_t>(140000 * world.size());
    const TemporaryFile file(world, nullptr);
    write_trexio(file.path(), data);
    const auto repeat = [&](double last) {
        change(world, file.path(), [&](hid_t f) {
            auto x = get<std::uint8_t>(f, indices_name);
            auto v = get<double>(f, values_name);
            for (std::size_t i = 0; i < copies; ++i) {
                for (std::size_t d = 0; d < 4; ++d) x.push_back(x[d]);
                v.push_back(v[0]);
            }
            v.back() = v[0] + last;
            put(f, indices_name, x, {}, 50000);
            put(f, values_name, v, {}, 12500);
        });
    };
    repeat(0);
    EXPECT_TRUE(gathered_of(read_integrals(world, file.path())) == gathered_of(data));
    repeat(-5e-9);
    EXPECT_EQ(read_integrals(world, file.path()).round_off_repeats, 1);
    repeat(1e-3);
    expect_all(error_of(world, file.path()), {"contradicts entry 0 of mo_2e_int_eri"});
}

/// With buffers for long files, beside which the tensors are small.
TEST(Trexio, TakesTheMemoryThatIsForecast) {
    const World world;
    const TemporaryFile file(world, nullptr);
    write_trexio(file.path(), random_data(world, 3, 2, 0, OrbitalForm::restricted, 3));
    const auto small = IntegralFile(world, file.path()).reading_memory();
    EXPECT_LT(small, 1 << 20);
    change(world, file.path(), [&](hid_t f) {
        const auto count = static_cast<std::size_t>(3 * EntrySource::entries_per_round * world.size());
        put(f, indices_name, std::vector<std::int32_t>(4 * count, 1), {}, 100000);
        put(f, values_name, std::vector<double>(count, 0.25), {}, 25000);
    });
    const auto forecast = IntegralFile(world, file.path()).reading_memory();
    EXPECT_GT(forecast, small);
    EXPECT_LT(forecast, 48 << 20);
    std::ofstream("/proc/self/clear_refs") << "5" << std::flush;  // the peak is the present size
    const Communicator comm(world.communicator());
    comm.barrier();
    const auto before = current_process_memory();
    const Fcidump data = read_integrals(world, file.path());
    EXPECT_LT(peak_process_memory() - before, forecast + (8 << 20));
    EXPECT_EQ(data.two_electron.gather()[1 + 3 + 9 + 27], 0.25);
}

TEST(Trexio, WhatDoesNotFitIsRefusedBeforeItIsRead) {
    World world;
    world.set_memory_limit(1000);
    try {
        read_integrals(world, "test/data/h2o_sto3g_trexio.h5");
        FAIL() << "no error";
    } catch (const OutOfMemory& error) {
        EXPECT_TRUE(same_on_all_ranks(world, error.what()));
    }
}

TEST(Trexio, AFileThatCannotBeWrittenIsAnErrorOnEveryRank) {
    const World world;
    const Fcidump data = random_data(world, 3, 2, 0, OrbitalForm::restricted, 3);
    const TemporaryFile file(world, "something else");
    EXPECT_THROW(write_trexio(file.path() + "/below/a/file", data), InvalidArgument);
    EXPECT_THROW(write_integrals(file.path() + ".xyz", data), InvalidArgument);
}

}  // namespace
}  // namespace arges::chemistry

// Dense tensors in .npy files and in HDF5 files of other programs.
#include "arges/arges.hpp"
#include "interface/dense/tensor_state.hpp"
#include "io/child_process.hpp"
#include "io/file/hdf5_handle.hpp"
#include "io/refused.hpp"
#include "io/temporary_folder.hpp"
#include "support/tensor_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>

namespace arges {
namespace {

using namespace test;
using io::NumberType;
using Numbers = std::vector<std::int64_t>;

/// An array as another program stores it: numbers of a type, by the order of keys of the tensor.
struct StoredArray {
    NumberType type;
    bool is_fortran_order = false;
    Dense dense;
};

/// A part of a number as bytes.
template <class V>
void append_part(std::string& bytes, double value, bool is_swapped) {
    const auto number = static_cast<V>(value);
    char here[sizeof(V)];
    std::memcpy(here, &number, sizeof(V));
    if (is_swapped) std::reverse(here, here + sizeof(V));
    bytes.append(here, sizeof(V));
}

void append_part(std::string& bytes, const NumberType& type, double value) {
    const auto size = type.is_complex() ? type.bytes / 2 : type.bytes;
    if (type.kind == 'f' || type.kind == 'c')
        size == 4 ? append_part<float>(bytes, value, type.is_swapped) : append_part<double>(bytes, value, type.is_swapped);
    else if (size == 1)
        append_part<std::int8_t>(bytes, value, type.is_swapped);
    else if (size == 2)
        append_part<std::int16_t>(bytes, value, type.is_swapped);
    else if (size == 4)
        append_part<std::int32_t>(bytes, value, type.is_swapped);
    else
        append_part<std::int64_t>(bytes, value, type.is_swapped);
}

/// The elements' bytes in the order of the file.
std::string element_bytes(const StoredArray& array) {
    std::string bytes;
    const auto& n = array.dense.extents;
    for (std::size_t k = 0; k < array.dense.data.size(); ++k) {
        auto place = k;
        if (!array.is_fortran_order) {  // element k of the file has the indices of k in the mixed radix of the reversed extents
            Numbers index(n.size());
            auto rest = static_cast<std::int64_t>(k);
            for (std::size_t d = n.size(); d-- > 0;) {
                index[d] = rest % n[d];
                rest /= n[d];
            }
            std::int64_t key = 0;
            for (std::size_t d = n.size(); d-- > 0;) key = key * n[d] + index[d];
            place = static_cast<std::size_t>(key);
        }
        const auto value = array.dense.data[place];
        append_part(bytes, array.type, value.real());
        if (array.type.is_complex()) append_part(bytes, array.type, value.imag());
    }
    return bytes;
}

/// The text of a .npy file, with the dictionary as NumPy writes it.
std::string npy_text(const StoredArray& array, int version = 1) {
    std::string shape;
    for (auto n : array.dense.extents) shape += std::to_string(n) + ",";
    const std::string order = array.type.bytes == 1 ? "|" : array.type.is_swapped ? ">" : "<";
    std::string dictionary = "{'descr': '" + order + array.type.kind + std::to_string(array.type.bytes) +
                             "', 'fortran_order': " + (array.is_fortran_order ? "True" : "False") + ", 'shape': (" + shape + "), }\n";
    std::string text = "\x93NUMPY";
    text += static_cast<char>(version);
    text += '\0';
    for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte) text += static_cast<char>(dictionary.size() >> (8 * byte));
    return text + dictionary + element_bytes(array);
}

std::vector<Numbers> some_extents() { return {{}, {1}, {7}, {0, 3}, {3, 5}, {2, 1, 4}, {5, 3, 2, 3}, {2, 3, 1, 2, 2}}; }

/// Types, and in turn orders of bytes and of axes, that a tensor of T can be read from.
template <class T>
std::vector<StoredArray> arrays_for(const World& world, const Numbers& extents, std::mt19937_64& random) {
    static int number = 0;
    const int thin = world.size() > 1 ? 9 : 3;
    std::vector<StoredArray> result;
    const std::vector<std::pair<char, int>> types{{'f', 4}, {'f', 8}, {'c', 8}, {'c', 16}, {'i', 1}, {'i', 2},
                                                  {'i', 4}, {'i', 8}, {'u', 1}, {'u', 2},  {'u', 4}, {'u', 8}};
    for (const auto& [kind, bytes] : types)
        for (bool is_swapped : {false, true})
            for (bool is_fortran_order : {false, true}) {
                if ((kind == 'c' && !is_complex<T>) || (bytes == 1 && is_swapped) || ++number % thin != 0) continue;
                auto dense = random_dense(extents, Symmetry::none(static_cast<int>(extents.size())), kind == 'c', random);
                if (kind == 'u')
                    for (auto& v : dense.data) v = std::abs(v.real());
                result.push_back({{kind, bytes, is_swapped}, is_fortran_order, dense});
            }
    return result;
}

template <class T>
void expect_reads_npy() {
    const World world;
    const TemporaryFolder folder(world);
    std::mt19937_64 random(7);
    int version = 1;
    for (const auto& extents : some_extents())
        for (const auto& array : arrays_for<T>(world, extents, random)) {
            version = version % 3 + 1;
            SCOPED_TRACE(array.type.name() + " of " + io::extents_text(extents));
            expect_equal(read_tensor<T>(world, folder.write("a", npy_text(array, version))), array.dense);
        }
}

TEST(TensorFiles, ReadNpyAsFloats) { expect_reads_npy<float>(); }
TEST(TensorFiles, ReadNpyAsDoubles) { expect_reads_npy<double>(); }
TEST(TensorFiles, ReadNpyAsComplexFloats) { expect_reads_npy<std::complex<float>>(); }
TEST(TensorFiles, ReadNpyAsComplexDoubles) { expect_reads_npy<std::complex<double>>(); }

/// How a dataset is stored.
enum class Storage { contiguous, chunked, compressed, compact };

/// Writes a dataset; its first axis is the first dimension. On rank 0.
void write_dataset(const io::Hdf5Handle& file, const std::string& name, const StoredArray& array, Storage storage) {
    const auto& extents = array.dense.extents;
    const std::vector<hsize_t> lengths(extents.begin(), extents.end());
    const io::Hdf5Handle space(H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), nullptr), H5Sclose);
    const io::Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose), links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.id(), 1);
    if (storage == Storage::compact) H5Pset_layout(creation.id(), H5D_COMPACT);
    if ((storage == Storage::chunked || storage == Storage::compressed) && !lengths.empty() && !array.dense.data.empty()) {
        std::vector<hsize_t> chunk;
        for (auto n : extents) chunk.push_back(static_cast<hsize_t>((n + 1) / 2));
        H5Pset_chunk(creation.id(), static_cast<int>(chunk.size()), chunk.data());
        if (storage == Storage::compressed) H5Pset_deflate(creation.id(), 6);
    }
    const auto type = io::hdf5_type(array.type);
    const io::Hdf5Handle data(H5Dcreate2(file.id(), name.c_str(), type.id(), space.id(), links.id(), creation.id(), H5P_DEFAULT), H5Dclose);
    const auto bytes = element_bytes(array);
    H5Dwrite(data.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
}

/// Makes an HDF5 file on rank 0 by calling `fill`. Collective.
void make_hdf5(const World& world, const std::string& path, const std::function<void(const io::Hdf5Handle&)>& fill) {
    if (world.rank() == 0) {
        const io::Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
        H5Pset_userblock(creation.id(), 512);
        fill(io::Hdf5Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), H5P_DEFAULT), H5Fclose));
    }
    world.state()->communicator().barrier();
}

template <class T>
void expect_reads_hdf5() {
    const World world;
    const TemporaryFolder folder(world);
    std::mt19937_64 random(8);
    std::vector<StoredArray> arrays;
    for (const auto& extents : some_extents())
        for (auto& array : arrays_for<T>(world, extents, random))
            if (!array.is_fortran_order) arrays.push_back(array);
    const auto name_of = [](std::size_t i) { return "/group/array " + std::to_string(i); };
    make_hdf5(world, folder / "all.h5", [&](const io::Hdf5Handle& file) {
        for (std::size_t i = 0; i < arrays.size(); ++i) write_dataset(file, name_of(i), arrays[i], static_cast<Storage>(i % 4));
    });
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        SCOPED_TRACE(arrays[i].type.name() + " of " + io::extents_text(arrays[i].dense.extents) + ", storage " + std::to_string(i % 4));
        expect_equal(read_tensor<T>(world, (folder / "all.h5:") + name_of(i)), arrays[i].dense);
    }
}

TEST(TensorFiles, Hdf5CutAnywhereIsRefused) {
    const World world;
    const TemporaryFolder folder(world);
    std::mt19937_64 random(12);
    for (auto storage : {Storage::contiguous, Storage::chunked}) {
        const StoredArray array{{'f', 8, false}, false, random_dense({5, 4, 3}, Symmetry::none(3), false, random)};
        make_hdf5(world, folder / "whole.h5", [&](const io::Hdf5Handle& file) { write_dataset(file, "x", array, storage); });
        const auto bytes = TemporaryFolder::read(folder / "whole.h5");
        for (std::size_t length = 1; length<bytes.size(); length += world.size()> 1 ? bytes.size() / 7 : 64)
            EXPECT_THROW(read_tensor<double>(world, folder.write("cut.h5", bytes.substr(0, length))), InvalidArgument) << length;
    }
}

TEST(TensorFiles, ReadHdf5AsFloats) { expect_reads_hdf5<float>(); }
TEST(TensorFiles, ReadHdf5AsDoubles) { expect_reads_hdf5<double>(); }
TEST(TensorFiles, ReadHdf5AsComplexFloats) { expect_reads_hdf5<std::complex<float>>(); }
TEST(TensorFiles, ReadHdf5AsComplexDoubles) { expect_reads_hdf5<std::complex<double>>(); }

TEST(TensorFiles, FindTheOnlyDataset) {
    const World world;
    const TemporaryFolder folder(world);
    std::mt19937_64 random(9);
    const StoredArray array{{'f', 8}, false, random_dense({2, 3}, Symmetry::none(2), false, random)};
    make_hdf5(world, folder / "a.h5", [&](const auto& file) { write_dataset(file, "deep/down/x", array, Storage::contiguous); });
    const auto tensor = read_tensor<double>(world, folder / "a.h5");
    expect_equal(tensor, array.dense);
    EXPECT_EQ(tensor.name(), "a");
    EXPECT_EQ(read_tensor<double>(world, folder / "a.h5", "amplitude").name(), "amplitude");
    const auto info = tensor_file_info(world, folder / "a.h5");
    EXPECT_EQ(info.form, "HDF5");
    EXPECT_EQ(info.dataset, "/deep/down/x");
    EXPECT_EQ(info.element, "float64");
    EXPECT_EQ(info.extents, (Numbers{2, 3}));
    EXPECT_FALSE(info.is_complex);
    EXPECT_TRUE(is_tensor_file(world, folder / "a.h5:/deep/down/x"));
    EXPECT_TRUE(is_tensor_file(world, folder.write("b", npy_text(array))));
    EXPECT_EQ(tensor_file_info(world, folder / "b").form, ".npy");
    EXPECT_FALSE(is_tensor_file(world, folder.write("c.tns", "1 1 1.0\n")));
}

TEST(TensorFiles, ReadTensorsOfCheckpoints) {
    const World world;
    const TemporaryFolder folder(world);
    Tensor<double> t2(world, {4, 4, 3, 3}, "abij", "antisym(a,b) antisym(i,j)");
    t2.fill_random(1);
    const Tensor<std::complex<float>> t1(world, {4, 3});
    {
        CheckpointWriter writer(world, folder / "one.h5"), both(world, folder / "both.h5");
        writer.add("T2", t2);
        both.add("T1", t1);
        both.add("T2", t2);
        writer.commit();
        both.commit();
    }
    for (const char* path : {"one.h5", "one.h5:/tensors/T2", "both.h5:/tensors/T2"}) {
        const auto back = read_tensor<double>(world, folder / path);
        EXPECT_EQ(back.symmetry(), t2.symmetry());
        EXPECT_EQ(back.gather(), t2.gather());
    }
    const auto info = tensor_file_info(world, folder / "both.h5:/tensors/T1");
    EXPECT_EQ(info.form + " " + info.dataset + " " + info.element, "checkpoint /tensors/T1 complex64");
    EXPECT_TRUE(info.is_complex);
    expect_refused_with("has 2 tensors; name one", [&] { (void)read_tensor<double>(world, folder / "both.h5"); });
    expect_refused_with("no tensor \"T3\"", [&] { (void)read_tensor<double>(world, folder / "both.h5:/tensors/T3"); });
    expect_refused_with("/T2 is no tensor of the checkpoint", [&] { (void)read_tensor<double>(world, folder / "both.h5:/T2"); });
    expect_refused_with("complex64, not float64", [&] { (void)read_tensor<double>(world, folder / "both.h5:/tensors/T1"); });
}

template <class T>
void expect_npy_round_trips() {
    const World world;
    const TemporaryFolder folder(world);
    for_each_shape<T>(world, 11, [&](const Shape&, const Dense& dense, const Tensor<T>& tensor) {
        write_npy(tensor, folder / "a.npy");
        const auto back = read_tensor<T>(world, folder / "a.npy");
        EXPECT_TRUE(back.symmetry().trivial());
        expect_equal(back, dense);
        EXPECT_EQ(folder.files(), 1);
    });
}

TEST(TensorFiles, WriteNpyOfFloats) { expect_npy_round_trips<float>(); }
TEST(TensorFiles, WriteNpyOfDoubles) { expect_npy_round_trips<double>(); }
TEST(TensorFiles, WriteNpyOfComplexFloats) { expect_npy_round_trips<std::complex<float>>(); }
TEST(TensorFiles, WriteNpyOfComplexDoubles) { expect_npy_round_trips<std::complex<double>>(); }

TEST(TensorFiles, HaveTheBytesThatNumPyReads) {
    const World world;
    const TemporaryFolder folder(world);
    Tensor<float> A(world, {2, 3});
    A.fill([](Index x) { return static_cast<float>(10 * x[0] + x[1]); });
    write_npy(A, folder / "a.npy");
    const auto text = TemporaryFolder::read(folder / "a.npy");
    ASSERT_EQ(text.size() % 64, 24u);
    EXPECT_TRUE(text.starts_with(std::string("\x93NUMPY\1\0", 8)));
    EXPECT_NE(text.find("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }"), std::string::npos);
    std::vector<float> values(6);
    std::memcpy(values.data(), text.data() + text.size() - 24, 24);
    EXPECT_EQ(values, (std::vector<float>{0, 10, 1, 11, 2, 12}));
}

TEST(TensorFiles, AreRefusedIfWrong) {
    const World world;
    const TemporaryFolder folder(world);
    std::mt19937_64 random(10);
    const StoredArray real{{'f', 8}, false, random_dense({3, 4}, Symmetry::none(2), false, random)};
    const StoredArray complex{{'c', 16}, false, random_dense({3, 4}, Symmetry::none(2), true, random)};
    const auto read = [&](const std::string& path) { (void)read_tensor<double>(world, path); };
    const auto good = npy_text(real);
    const auto changed = [&](const std::string& from, const std::string& to) {
        auto text = good;
        return folder.write("bad", text.replace(text.find(from), from.size(), to));
    };
    expect_refused_with("there is no such file", [&] { read(folder / "none.npy"); });
    expect_refused_with("there is no such file", [&] { read(folder / "none.h5:/x"); });
    expect_refused_with("this is a directory", [&] { read(folder / ""); });
    expect_refused_with("the file is empty", [&] { read(folder.write("bad", "")); });
    expect_refused_with("neither a .npy nor an HDF5 file", [&] { read(folder.write("bad", "1 2 3.5\n")); });
    expect_refused_with("complex128, but the tensor is real", [&] { read(folder.write("bad", npy_text(complex))); });
    expect_refused_with("is damaged", [&] { read(folder.write("bad", good.substr(0, 30))); });
    expect_refused_with("is damaged", [&] { read(changed("fortran_order", "fortran-order")); });
    expect_refused_with("is damaged", [&] { read(changed("(3,4,)", "(3,-4)")); });
    expect_refused_with("is damaged", [&] { read(changed("(3,4,)", "[3,4,]")); });
    expect_refused_with("is damaged", [&] { read(changed(std::string("\1\0", 2), std::string("\4\0", 2))); });
    expect_refused_with("96 bytes of elements do not make 9 x 4", [&] { read(changed("(3,4,)", "(9,4,)")); });
    expect_refused_with("95 bytes of elements do not make 3 x 4", [&] { read(folder.write("bad", good.substr(0, good.size() - 1))); });
    expect_refused_with("elements of type '<f2' cannot be read", [&] { read(changed("<f8", "<f2")); });
    expect_refused_with("elements of type '|O8' cannot be read", [&] { read(changed("<f8", "|O8")); });
    expect_refused_with("elements of type '<U4' cannot be read", [&] { read(changed("<f8", "<U4")); });
    expect_refused_with("has no dataset /x", [&] { read(folder.write("bad", good) + ":/x"); });
    make_hdf5(world, folder / "two.h5", [&](const auto& file) {
        write_dataset(file, "x", real, Storage::contiguous);
        write_dataset(file, "y", complex, Storage::contiguous);
        const io::Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose), null(H5Screate(H5S_NULL), H5Sclose);
        io::Hdf5Handle(H5Dcreate2(file.id(), "text", H5T_C_S1, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose).close();
        io::Hdf5Handle(H5Dcreate2(file.id(), "null", H5T_IEEE_F64LE, null.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose).close();
        io::Hdf5Handle(H5Gcreate2(file.id(), "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose).close();
    });
    make_hdf5(world, folder / "none.h5", [](const auto&) {});
    expect_refused_with("there are 4 datasets in the HDF5 file (/null, /text, /x, /y)", [&] { read(folder / "two.h5"); });
    expect_refused_with("there is no dataset in the HDF5 file", [&] { read(folder / "none.h5"); });
    expect_refused_with("there is no dataset /z", [&] { read(folder / "two.h5:/z"); });
    expect_refused_with("there is no dataset /group", [&] { read(folder / "two.h5:/group"); });
    expect_refused_with("dataset /text are not numbers", [&] { read(folder / "two.h5:/text"); });
    expect_refused_with("dataset /null are not numbers", [&] { read(folder / "two.h5:/null"); });
    expect_refused_with("complex128, but the tensor is real", [&] { read(folder / "two.h5:/y"); });
    const auto whole = TemporaryFolder::read(folder / "two.h5");
    expect_refused_with("truncated or damaged", [&] { read(folder.write("bad", whole.substr(0, whole.size() / 2)) + ":/x"); });
    expect_refused_with("cannot be made", [&] { write_npy(Tensor<double>(world, {3}), folder / "none/a.npy"); });
    expect_refused_with("no shape yet", [&] { write_npy(Tensor<double>(), folder / "a.npy"); });
    expect_refused_with("dry run", [&] { write_npy(Tensor<double>(World::dry_run(3), {3}), folder / "a.npy"); });
    expect_refused_with("dry run", [&] { (void)read_tensor<double>(World::dry_run(3), folder / "two.h5:/x"); });
}

/// The Python that docs/files.md shows.
std::vector<std::string> snippets_of_docs() {
    const auto page = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "docs" / "files.md";
    const auto text = TemporaryFolder::read(page.string());
    std::vector<std::string> result;
    const std::string begin = "```python\n", end = "```";
    for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
        at += begin.size();
        result.push_back(text.substr(at, text.find(end, at) - at));
    }
    return result;
}

/// A Python that has h5py, or nothing.
std::string python_with_h5py() {
    for (const char* python : {"python3", "/usr/bin/python3"}) {
        const auto probe = start_process(python, {"-c", "import sys\ntry:\n    import h5py\nexcept ImportError:\n    sys.exit(1)"});
        if (probe >= 0 && exit_code_of(probe) == 0) return python;
    }
    return "";
}

TEST(TensorFiles, AreReadByThePythonOfTheDocs) {
    const World world;
    if (world.size() > 1) GTEST_SKIP() << "files do not depend on ranks";
    const auto python = python_with_h5py();
    if (python.empty()) GTEST_SKIP() << "there is no python3 with h5py";
    const auto snippets = snippets_of_docs();
    ASSERT_EQ(snippets.size(), 2u);
    const TemporaryFolder folder(world);
    std::mt19937_64 random(12);
    std::int64_t count = 0;
    {
        CheckpointWriter writer(world, folder / "ccsd.h5");
        const auto add = [&](const std::string& name, const Shape& shape) {
            using T = std::complex<double>;
            const auto dense = random_dense(shape.extents, shape.symmetry(), shape.complex, random);
            const auto file = folder / (name + ".npy");
            if (shape.complex) {
                const auto tensor = distributed<T>(world, dense, shape.symmetry(), "A");
                writer.add(name, tensor);
                write_npy(tensor, file);
            } else {
                const auto tensor = distributed<double>(world, dense, shape.symmetry(), "A");
                writer.add(name, tensor);
                write_npy(tensor, file);
            }
        };
        add("T2", {{6, 6, 4, 4}, "abij", "antisym(a,b) antisym(i,j)"});
        for (const auto& shape : shapes()) add("S" + std::to_string(count++), shape);
        writer.commit();
    }
    const auto script = folder.write("check.py", "import os\nos.chdir(os.path.dirname(__file__))\n" + snippets[0] +
                                                     "assert np.array_equal(full, np.load('T2.npy')), 'T2'\n" + snippets[1] +
                                                     "for k in range(" + std::to_string(count) +
                                                     "):\n"
                                                     "    name = f'S{k}'\n"
                                                     "    a, b = read_tensor('ccsd.h5', name), np.load(name + '.npy')\n"
                                                     "    assert a.shape == b.shape and np.array_equal(a, b), name\n");
    EXPECT_EQ(exit_code_of(start_process(python, {script})), 0);
}

}  // namespace
}  // namespace arges

// Files that are cut anywhere, and files as other programs write them: each is read right, or refused as what it is.
#include "arges/arges.hpp"
#include "io/file/hdf5_handle.hpp"
#include "io/sparse_files.hpp"
#include "io/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <set>
#include <string>
#include <vector>

namespace arges::test {
namespace {

/// Behind every line, at every 64th byte, and one byte before the end; on many ranks few of these.
std::set<std::size_t> cuts_of(const World& world, const std::string& text) {
    std::set<std::size_t> cuts{text.size() - 1};
    if (world.size() > 4) return {text.size() / 2, text.size() - 1};
    for (std::size_t at = 64; at < text.size(); at += 64) cuts.insert(at);
    for (std::size_t at = text.find('\n'); at < text.size() - 1; at = text.find('\n', at + 1)) cuts.insert(at + 1);
    cuts.erase(0);
    return cuts;
}

/// All elements, the first index running fastest.
template <class T>
std::vector<double> elements_of(const SparseTensor<T>& tensor) {
    std::size_t size = 1;
    for (const auto n : tensor.lengths()) size *= static_cast<std::size_t>(n);
    std::vector<double> result(size, 0.0);
    const auto entries = tensor.gather();
    for (std::size_t k = 0; k < entries.values.size(); ++k) {
        std::int64_t place = 0;
        for (auto m = entries.indices.size(); m-- > 0;) place = place * tensor.lengths()[m] + entries.indices[m][k];
        result[static_cast<std::size_t>(place)] = static_cast<double>(entries.values[k]);
    }
    return result;
}

std::vector<double> values_of(const World& world, const std::string& path) { return elements_of(read_sparse<double>(world, path).tensor); }

/// What the call is refused with.
template <class F>
std::string refusal_of(const F& call) {
    try {
        call();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "no exception";
}

const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
const std::string entries = "4 4 2\n2 3 1.5\n3 4 2\n";

/// Tables that mean the elements (2,3) = 1.5 and (3,4) = 2 of a 4 x 4 matrix.
TEST(ForeignFiles, MatrixMarketIsKnownByNameAndContent) {
    const World world;
    const TemporaryFolder folder(world);
    std::vector<double> expected(16, 0.0);
    expected[1 + 4 * 2] = 1.5;
    expected[2 + 4 * 3] = 2;
    const std::vector<std::string> good{
        banner + entries,
        " " + banner + entries,
        "\t" + banner + " " + entries,
        banner.substr(1) + entries,
        "\xef\xbb\xbf" + banner + entries,
        "%" + banner + entries,
        "% MatrixMarket matrix coordinate real general\n" + entries,
        "#" + banner.substr(2) + entries,
        "\n" + banner + entries,
        "% made by a program\n\n" + banner + entries,
        "%%matrixmarket MATRIX Coordinate REAL General\r\n4 4 2\r\n2 3 1.5\r\n3 4 2\r\n",
        banner + "% a comment\n  % another one\n\n4 4 2 % sizes\n2 3 1.5 % one\n\n3 4 +2e0\n%\n",
        "%%MatrixMarket matrix coordinate real general\n4 4 2\n2 3 1.5\n3 4 2",
    };
    for (const auto& text : good) {
        SCOPED_TRACE(text);
        const bool is_zipped = text.size() % 3 == 0;
        for (const std::string name : {"m.mtx", "m.tns"})
            EXPECT_EQ(values_of(world, is_zipped ? folder.write(name + ".gz", zipped(text)) : folder.write(name, text)), expected);
    }
}

TEST(ForeignFiles, WhatLooksLikeMatrixMarketIsRefusedAsSuch) {
    const World world;
    const TemporaryFolder folder(world);
    const std::vector<std::pair<std::string, std::string>> wrong{
        {entries, ", line 1: a MatrixMarket file, which this one is by its name, begins with %%MatrixMarket"},
        {"# a comment\n" + entries, ", line 1: a MatrixMarket file, which this one is by its name"},
        {"%MatrixMarket matrix coordinate pattern symmetrc\n" + entries, ", line 1: 'symmetrc' in the header is not known"},
        {"% only\n%\n", ": there is no line but comments"},
        {banner, ": the numbers of rows, columns and entries are missing"},
        {banner + "4 4\n", ", line 2: 2 words where the numbers of rows, columns and entries are expected"},
        {banner + "4 4 3\n2 3 1.5\n3 4 2\n", ", line 2: 3 entries are announced, but the file has 2"},
    };
    for (const auto& [text, message] : wrong)
        for (const auto& path : {folder.write("w.mtx.gz", zipped(text)), folder.write("W.MTX", text)})
            EXPECT_EQ(message_of_reading(world, path).substr(0, path.size() + message.size()), path + message);
    const auto comment = folder.write("w.tns", "% a comment of another form\n" + entries);
    EXPECT_NE(message_of_reading(world, comment).find("a MatrixMarket file has a first line that is missing here"), std::string::npos);
    const auto binary = folder.write("w.atns", "1 1 1.5\n");
    EXPECT_NE(message_of_reading(world, binary).find("does not begin as a binary one, which it is by its name"), std::string::npos);
    EXPECT_TRUE(is_tensor_file(world, folder.write("w.npy", "1 1 1.5\n"))) << "so that it is refused as such";
    EXPECT_THROW(read_tensor<double>(world, folder / "w.npy"), InvalidArgument);
}

TEST(ForeignFiles, OfAnotherProgramAreNamed) {
    const World world;
    const TemporaryFolder folder(world);
    const std::string zeros(40, '\0');
    const std::vector<std::pair<std::string, std::string>> known{{"\x89HDF\r\n\x1a\n" + zeros, "an HDF5 file"},
                                                                 {"\x93NUMPY\x01" + zeros, "an array of NumPy"},
                                                                 {"PK\x03\x04" + zeros, "a zip archive"},
                                                                 {"BZh91AY" + zeros, "compressed by bzip2"},
                                                                 {"\xfd\x37zXZ" + zeros, "compressed by xz"},
                                                                 {"\x28\xb5\x2f\xfd" + zeros, "compressed by zstd"},
                                                                 {"\xff\xfe"
                                                                  "1" +
                                                                      zeros,
                                                                  "text in UTF-16"},
                                                                 {"%PDF-1.7\n1 1 1.5\n", "a PDF document"}};
    for (const auto& [bytes, form] : known)
        for (const char* name : {"x.h5", "x.tns"}) {
            const auto path = folder.write(name, bytes);
            const auto message = message_of_reading(world, path);
            EXPECT_TRUE(message.starts_with(path + ": the file is " + form)) << message;
        }
}

TEST(ForeignFiles, ZerosOnTheDiagonalOfASkewMatrixAreFine) {
    const World world;
    const TemporaryFolder folder(world);
    const std::string skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 4\n1 1 0\n2 1 5\n3 1 -2\n3 3 ";
    EXPECT_EQ(values_of(world, folder.write("s.mtx", skew + "0.0\n")), (std::vector<double>{0, 5, -2, -5, 0, 0, 2, 0, 0}));
    const auto wrong = folder.write("w.mtx", skew + "0.5\n");
    EXPECT_EQ(message_of_reading(world, wrong),
              wrong + ", line 6: the diagonal of a skew-symmetric matrix is zero; correct the value, or remove the line");
}

TEST(ForeignFiles, TextOfOtherProgramsIsReadAsItIsMeant) {
    const World world;
    const TemporaryFolder folder(world);
    const std::vector<double> expected{1.5, 0, 0, -2};
    for (const char* text :
         {"1 1 1.5\n2 2 -2\n", "1\t1\t1.5\r\n2\t2\t-2\r\n", "1 1 1.5 # first\n2 2 -2#last\n", "# head\n\n  1 1 1.5\n\n2 2 -2",
          "0 0 1.5\n1 1 -2\n", "   # head\n+1 1 +1.5\n2 2 -2.\n", "2 2 -.2E+1\n1 1 15e-1\n"}) {
        SCOPED_TRACE(text);
        EXPECT_EQ(values_of(world, folder.write("t.tns", text)), expected);
    }
    for (const char* text : {"1,1,1.5\n2,2,-2\n", "i j v\n1 1 1.5\n",
                             "\xef\xbb\xbf"
                             "1 1 1.5\n",
                             "1 1 1,5\n", "1 1 1.5\n2 2\n", "% a\n1 1 1.5\n", "1 1 1.5d0\n", "(1 1) 1.5\n", "1:1 1.5\n"})
        EXPECT_NE(message_of_reading(world, folder.write("w.tns", text)), "no exception") << text;
}

/// A cut text has no fewer lines than it says where a number of entries or a checksum is in the file. Text without either ends where it
/// ends: what is cut inside of a line is missed where a value is missing, and the lines before are read.
TEST(CutFiles, AreRefusedWhereTheFileSaysHowLongItIs) {
    const World world;
    const TemporaryFolder folder(world);
    const auto X = random_tensor<double>(world, 5, {9, 7, 8}, 40), M = random_tensor<double>(world, 6, {9, 7}, 20);
    Tensor<double> dense(world, {5, 4, 3});
    dense.fill_random(7);
    write_sparse(X, folder / "x.atns");
    write_sparse(X, folder / "x.tns");
    folder.write("x.tns.gz", zipped(TemporaryFolder::read(folder / "x.tns")));  // one member: between two of them text may end
    write_sparse(M, folder / "x.mtx");
    write_sparse(M, folder / "x.mtx.gz");
    write_npy(dense, folder / "x.npy");
    for (const char* name : {"x.atns", "x.tns.gz", "x.mtx", "x.mtx.gz", "x.npy"}) {
        const auto whole = TemporaryFolder::read(folder / name);
        const std::string extension = std::string(name).substr(1);
        for (const auto cut : cuts_of(world, whole)) {
            if (extension == ".mtx" && cut > whole.rfind(' ') + 1) continue;  // the last value may lack digits, or its end of line
            const auto path = folder.write("cut" + extension, whole.substr(0, cut));
            const auto refusal =
                extension == ".npy" ? refusal_of([&] { read_tensor<double>(world, path); }) : message_of_reading(world, path);
            EXPECT_TRUE(refusal.starts_with(path)) << name << " cut at " << cut << ": " << refusal;
        }
    }
}

TEST(CutFiles, OfTextEndWhereALineEnds) {
    const World world;
    const TemporaryFolder folder(world);
    std::string text;
    for (int i = 1; i <= 12; ++i) text += std::to_string(i) + " " + std::to_string(13 - i) + " " + std::to_string(i % 9 + 1) + "\n";
    for (std::size_t cut = text.find('\n');
         cut<text.size(); cut += world.size()> 4 ? 20 : 3) {  // the first line says how many columns there are
        const auto path = folder.write("cut.tns", text.substr(0, cut));
        const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(cut), '\n');
        const bool is_between = text[cut - 1] == '\n' || text[cut] == '\n';  // values have one digit
        if (!is_between) {
            EXPECT_NE(message_of_reading(world, path), "no exception") << cut;
            continue;
        }
        EXPECT_EQ(read_sparse<double>(world, path).tensor.nonzeros(), lines + (text[cut] == '\n' ? 1 : 0)) << cut;
    }
}

TEST(ForeignFiles, LongIntegersOfPython2AreExtents) {
    const World world;
    const TemporaryFolder folder(world);
    std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L), }";
    dictionary += std::string(117 - dictionary.size(), ' ') + "\n";
    std::string text = std::string("\x93NUMPY\x01\x00v\x00", 10) + dictionary;
    for (int k = 0; k < 6; ++k) {
        const double value = k;
        text.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    const auto tensor = read_tensor<double>(world, folder.write("l.npy", text));
    EXPECT_EQ(tensor.extents(), (Numbers{2, 3}));
    EXPECT_EQ(tensor.gather(), (std::vector<double>{0, 3, 1, 4, 2, 5}));
}

/// Complex numbers as a compound of two parts with these names.
void write_complex(const World& world, const std::string& path, const char* real, const char* imaginary, bool in_chunks) {
    const Communicator comm(world.communicator());
    comm.agree([&] {
        if (comm.rank() != 0) return;
        const io::Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
        const io::Hdf5Handle type(H5Tcreate(H5T_COMPOUND, 16), H5Tclose);
        H5Tinsert(type.id(), real, 0, H5T_IEEE_F64LE);
        H5Tinsert(type.id(), imaginary, 8, H5T_IEEE_F64LE);
        const hsize_t length = 3;
        const io::Hdf5Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose), made(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        if (in_chunks) H5Pset_chunk(made.id(), 1, &length);
        const io::Hdf5Handle data(H5Dcreate2(file.id(), "z", type.id(), space.id(), H5P_DEFAULT, made.id(), H5P_DEFAULT), H5Dclose);
        const double values[] = {1, 2, 3, 4, 5, -6};
        H5Dwrite(data.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    });
}

TEST(ForeignFiles, PartsOfComplexNumbersHaveSeveralNames) {
    const World world;
    const TemporaryFolder folder(world);
    using Complex = std::complex<double>;
    const auto path = folder / "z.h5";
    for (const auto& [real, imaginary] :
         std::vector<std::pair<const char*, const char*>>{{"r", "i"}, {"real", "imag"}, {"re", "im"}, {"real", "imaginary"}})
        for (const bool in_chunks : {false, true}) {
            write_complex(world, path, real, imaginary, in_chunks);
            EXPECT_EQ(read_tensor<Complex>(world, path).gather(), (std::vector<Complex>{{1, 2}, {3, 4}, {5, -6}})) << real;
        }
    write_complex(world, path, "imag", "real", true);
    EXPECT_THROW(read_tensor<Complex>(world, path), InvalidArgument);
}

TEST(RepeatedElements, AreWhatTheOptionSays) {
    const World world;
    const TemporaryFolder folder(world);
    const auto path = folder.write("r.tns", "1 1 1\n2 2 5\n1 1 2\n1 1 6\n2 1 0.5\n2 2 7\n");
    const std::vector<std::pair<Duplicates, std::vector<double>>> cases{{Duplicates::sum, {9, 0.5, 0, 12}},
                                                                        {Duplicates::mean, {3, 0.5, 0, 6}},
                                                                        {Duplicates::keep_first, {1, 0.5, 0, 5}},
                                                                        {Duplicates::keep_last, {6, 0.5, 0, 7}}};
    SparseReadOptions options;
    for (const auto& [duplicates, expected] : cases) {
        options.duplicates = duplicates;
        const auto file = read_sparse<double>(world, path, options);
        EXPECT_EQ(elements_of(file.tensor), expected);
        EXPECT_EQ(file.report.duplicates, 3);
        EXPECT_EQ(elements_of(read_sparse<float>(world, path, options).tensor), expected);
    }
    options.duplicates = Duplicates::mean;
    EXPECT_NE(message_of_reading<std::int64_t>(world, folder.write("w.tns", "1 1 1\n1 1 2\n"), options).find("whole numbers have no mean"),
              std::string::npos);
    SparseTensor<double> X(world, {2, 2});
    const std::vector<std::int64_t> keys{0};
    const std::vector<double> values{2};
    X.write(keys, values, Duplicates::keep_last);
    EXPECT_THROW(X.write(keys, values, Duplicates::mean), InvalidArgument);
}

}  // namespace
}  // namespace arges::test

// MatrixMarket files: every kind of header against what the test wrote down, round trips, and files that are wrong.
#include "io/sparse_files.hpp"
#include "io/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <map>

namespace arges::test {
namespace {

/// Elements by column, then row: the order of gather().
template <class T>
using Elements = std::map<std::pair<std::int64_t, std::int64_t>, T>;

template <class T>
SparseEntries<T> entries_of(const Elements<T>& elements) {
    SparseEntries<T> entries{{{}, {}}, {}};
    for (const auto& [at, value] : elements) {
        entries.indices[0].push_back(at.second);
        entries.indices[1].push_back(at.first);
        entries.values.push_back(value);
    }
    return entries;
}

/// A random file with the elements that it means.
struct RandomFile {
    std::string text;
    Elements<std::complex<double>> elements;
    Numbers lengths;
    bool is_complex = false, is_negated = false;
};

RandomFile random_file(Random& random, int field, int symmetry) {
    const std::vector<std::string> fields{"real", "integer", "pattern", "complex"},
        symmetries{"general", "symmetric", "skew-symmetric", "hermitian"};
    RandomFile file;
    file.is_complex = field == 3;
    file.is_negated = symmetry == 2;
    const auto rows = random.below(20) + 1, columns = symmetry == 0 ? random.below(30) + 1 : rows;
    file.lengths = {rows, columns};
    Elements<std::complex<double>> kept;
    for (auto count = random.below(60); count > 0; --count) {
        auto i = random.below(rows), j = random.below(columns);
        if (symmetry != 0 && i < j) std::swap(i, j);
        if (symmetry == 2 && i == j) continue;
        const double a = field == 2 ? 1 : static_cast<double>(random.below(19) - 9);
        kept[{j, i}] = {a, field != 3 || (symmetry == 3 && i == j) ? 0 : static_cast<double>(random.below(19) - 9)};
    }
    file.text = "%%MatrixMarket " + std::string(random.below(2) == 0 ? "matrix" : "Matrix") + " coordinate " +
                fields[static_cast<std::size_t>(field)] + " " + symmetries[static_cast<std::size_t>(symmetry)] + "\n";
    for (auto comments = random.below(3); comments > 0; --comments) file.text += "% 1 1 1, which is a comment\n";
    file.text += std::to_string(rows) + "  " + std::to_string(columns) + "\t" + std::to_string(kept.size()) + "\r\n";
    for (const auto& [at, value] : kept) {
        if (random.below(9) == 0) file.text += random.below(2) == 0 ? "\n" : "% another one\n";
        file.text += std::to_string(at.second + 1) + " " + std::to_string(at.first + 1);
        const auto number = [&](double x) {
            const auto whole = std::to_string(static_cast<std::int64_t>(x));
            return " " + (field != 1 && random.below(2) == 0 ? whole + ".0e0" : whole);
        };
        if (field != 2) file.text += number(value.real());
        if (field == 3) file.text += number(value.imag());
        file.text += random.below(5) == 0 ? " \r\n" : "\n";
        file.elements[at] = value;
        if (symmetry != 0)
            file.elements[{at.second, at.first}] = symmetry == 3                            ? std::conj(value)
                                                   : symmetry == 2 && at.first != at.second ? -value
                                                                                            : value;
    }
    if (random.below(3) == 0) file.text.pop_back();
    return file;
}

template <class T>
T converted(std::complex<double> value) {
    if constexpr (std::is_same_v<T, std::complex<double>>)
        return value;
    else if constexpr (std::is_same_v<T, bool>)
        return value.real() != 0;
    else
        return static_cast<T>(value.real());
}

template <class T>
void expect_read(const World& world, const TemporaryFolder& folder, const RandomFile& expected) {
    Elements<T> elements;
    for (const auto& [at, value] : expected.elements) elements[at] = converted<T>(value);
    for (const auto& path : {folder.write("m.mtx", expected.text), folder.write("m.gz", zipped(expected.text, 50))}) {
        const auto file = read_sparse<T>(world, path);
        EXPECT_EQ(file.tensor.gather(), entries_of(elements));
        EXPECT_EQ(file.tensor.lengths(), expected.lengths);
        EXPECT_EQ(file.report.form, path.ends_with("gz") ? "gzip MatrixMarket" : "MatrixMarket");
        EXPECT_EQ(file.report.entries, static_cast<std::int64_t>(elements.size()));
        EXPECT_EQ(file.report.lines,
                  std::count(expected.text.begin(), expected.text.end(), '\n') + (expected.text.ends_with('\n') ? 0 : 1));
        EXPECT_EQ(file.report.index_base, 1);
        EXPECT_EQ(file.report.duplicates, 0);
    }
}

TEST(MatrixMarket, GivesTheElementsOfEveryKindOfHeader) {
    const World world;
    const TemporaryFolder folder(world);
    Random random(7);
    for (int repeat = 0; repeat < 3; ++repeat)
        for (int field = 0; field < 4; ++field)
            for (int symmetry = 0; symmetry < 4; ++symmetry) {
                if ((symmetry == 3 && field != 3) || (symmetry == 2 && field == 2)) continue;
                const auto file = random_file(random, field, symmetry);
                SCOPED_TRACE(file.text);
                expect_read<std::complex<double>>(world, folder, file);
                if (file.is_complex) continue;
                expect_read<double>(world, folder, file);
                expect_read<float>(world, folder, file);
                if (field != 0) expect_read<std::int64_t>(world, folder, file);
                if (!file.is_negated) expect_read<bool>(world, folder, file);
                if (::testing::Test::HasFailure()) return;
            }
}

TEST(MatrixMarket, MayHaveNoElements) {
    const World world;
    const TemporaryFolder folder(world);
    for (const std::int64_t n : {0, 3}) {
        const auto size = std::to_string(n) + " " + std::to_string(n) + " 0";
        const auto file = read_sparse<double>(world, folder.write("e.mtx", "%%MatrixMarket matrix coordinate real symmetric\n" + size));
        EXPECT_EQ(file.tensor.lengths(), (Numbers{n, n}));
        EXPECT_EQ(file.tensor.nonzeros(), 0);
    }
}

TEST(MatrixMarket, SumsDuplicatesBeforeTheSymmetryOrRefusesThem) {
    const World world;
    const TemporaryFolder folder(world);
    const auto path = folder.write("d.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n2 1 1\n3 3 8\n2 1 4\n3 3 1\n");
    const auto file = read_sparse<double>(world, path);
    EXPECT_EQ(file.tensor.gather(), entries_of<double>({{{0, 1}, 5}, {{1, 0}, 5}, {{2, 2}, 9}}));
    EXPECT_EQ(file.report.entries, 5);
    EXPECT_EQ(file.report.duplicates, 2);
    SparseReadOptions options;
    options.duplicates = Duplicates::refuse;
    EXPECT_EQ(message_of_reading(world, path, options),
              path + ", line 5: a second value for element (2, 1), which line 3 has, the first of 2 such values; remove one, "
                     "or say what to do with several (--duplicates sum, mean, first or last)");
    options = {};
    options.lengths = {3, 4};
    EXPECT_EQ(message_of_reading(world, path, options),
              path + ": the tensor is 3 x 3, but 3 x 4 is demanded; correct the lengths, or read another file");
}

template <class T>
void expect_round_trip(const World& world, const TemporaryFolder& folder, const SparseTensor<T>& X, const std::vector<const char*>& names) {
    for (const char* name : names) {
        SCOPED_TRACE(name);
        write_sparse(X, folder / name);
        SparseReadOptions options;
        options.lengths = X.lengths();
        const auto file = read_sparse<T>(world, folder / name, options);
        EXPECT_EQ(file.tensor.gather(), X.gather());
        EXPECT_EQ(file.tensor.lengths(), X.lengths());
        EXPECT_EQ(file.report.entries, X.nonzeros());
    }
}

/// Values made of numbers from 0 to 4.
template <class T, class F>
SparseTensor<T> made(const World& world, std::int64_t count, const F& value) {
    SparseEntries<T> mine{{{}, {}}, {}};
    for (std::int64_t k = world.rank(); k < count; k += world.size()) {
        mine.indices[0].push_back(k * 7 % 31);
        mine.indices[1].push_back(k * 5 % 43);
        mine.values.push_back(value(k % 5));
    }
    return SparseTensor<T>::from_entries(world, {31, 43}, mine, Duplicates::keep_first);
}

TEST(MatrixMarket, RoundTrips) {
    const World world;
    const TemporaryFolder folder(world);
    for (std::int64_t count : {0, 1, 600}) {
        expect_round_trip(world, folder, random_tensor<double>(world, 1, {40, 50}, count), {"x.mtx", "x.mtx.gz"});
        expect_round_trip(world, folder, random_tensor<float>(world, 2, {4, std::int64_t{1} << 40}, count), {"x.mtx", "x.mtx.gz"});
        const auto whole = made<std::int64_t>(world, count, [](std::int64_t k) { return (std::int64_t{1} << 62) * (k - 2) + k; });
        expect_round_trip(world, folder, whole, {"x.mtx", "x.mtx.gz", "x.tns"});
        const auto flags = made<bool>(world, count, [](std::int64_t k) { return k > 1; });
        expect_round_trip(world, folder, flags, {"x.mtx", "x.mtx.gz", "x.tns"});
        const auto complex = made<std::complex<double>>(
            world, count, [](std::int64_t k) { return std::complex<double>(0.1 * static_cast<double>(k), -1e-300); });
        expect_round_trip(world, folder, complex, {"x.mtx", "x.mtx.gz"});
    }
}

TEST(MatrixMarket, IsWrittenAsTextThatIsKnown) {
    const World world;
    const TemporaryFolder folder(world);
    SparseTensor<double> X(world, {3, 4}, "X");
    write_sparse(X, folder / "x.mtx");
    EXPECT_EQ(TemporaryFolder::read(folder / "x.mtx"), "%%MatrixMarket matrix coordinate real general\n3 4 0\n");
    X.write_at(world.rank() == 0 ? Numbers{2, 0} : Numbers{}, world.rank() == 0 ? std::vector<double>{-0.1} : std::vector<double>{},
               Duplicates::refuse);
    write_sparse(X, folder / "x.mtx");
    EXPECT_EQ(TemporaryFolder::read(folder / "x.mtx"), "%%MatrixMarket matrix coordinate real general\n3 4 1\n3 1 -0.1\n");
    EXPECT_THROW(write_sparse(X, folder / "x.mtx", IndexBase::zero), InvalidArgument);
    EXPECT_THROW(write_sparse(SparseTensor<double>(world, {2, 2, 2}), folder / "x.mtx"), InvalidArgument);
    EXPECT_THROW(write_sparse(SparseTensor<std::complex<double>>(world, {2, 2}), folder / "x.tns"), InvalidArgument);
    EXPECT_THROW(write_sparse(SparseTensor<std::int64_t>(world, {2, 2}), folder / "x.atns"), InvalidArgument);
}

TEST(MatrixMarket, OtherTypesAreReadFromTextAndNotFromBinaryFiles) {
    const World world;
    const TemporaryFolder folder(world);
    const auto path = folder.write("t.tns", "1 2 3\n2 1 -4\n");
    EXPECT_EQ(read_sparse<std::int64_t>(world, path).tensor.gather(), entries_of<std::int64_t>({{{0, 1}, -4}, {{1, 0}, 3}}));
    EXPECT_EQ(read_sparse<bool>(world, path).tensor.gather(), entries_of<bool>({{{0, 1}, true}, {{1, 0}, true}}));
    write_sparse(random_tensor<double>(world, 1, {4, 5}, 7), folder / "b.atns");
    EXPECT_EQ(message_of_reading<std::int64_t>(world, folder / "b.atns"),
              folder / "b.atns" + ": a binary file has values of float or double; read it as one of them");
    EXPECT_EQ(message_of_reading<std::int64_t>(world, folder.write("h.tns", "1 1 2\n1 2 1.5\n")),
              folder / "h.tns" + ", line 2: value '1.5' is not a whole number; correct it, or read the file as double");
}

struct WrongMatrix {
    std::string text, message;
};

const std::string real = "%%MatrixMarket matrix coordinate real general\n", lower = "%%MatrixMarket matrix coordinate real symmetric\n",
                  skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n",
                  pattern = "%%MatrixMarket matrix coordinate pattern general\n";

const std::vector<WrongMatrix> wrong_files{
    {"%%MatrixMarket matrix coordinate real\n1 1 0\n", ", line 1: 4 words in the header"},
    {"%%MatrixMarket vector coordinate real general\n1 1 0\n", ", line 1: 'vector' in the header is not known; it is one of: matrix"},
    {"%%MatrixMarket matrix array real general\n1 1\n1\n", ", line 1: an array file has all elements of a matrix"},
    {"%%MatrixMarket matrix lines real general\n1 1\n1\n", ", line 1: 'lines' in the header is not known"},
    {"%%MatrixMarket matrix coordinate quaternion general\n1 1 0\n",
     ", line 1: 'quaternion' in the header is not known; it is one of: real"},
    {"%%MatrixMarket matrix coordinate real upper\n1 1 0\n", ", line 1: 'upper' in the header is not known; it is one of: general"},
    {"%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", ", line 1: only complex matrices are hermitian"},
    {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", ", line 1: a pattern is not skew-symmetric"},
    {"%%MatrixMarket matrix coordinate complex general\n1 1 0\n",
     ", line 1: the values are complex; read the file as std::complex<double>"},
    {real, ": the numbers of rows, columns and entries are missing"},
    {real + "% only\n", ": the numbers of rows, columns and entries are missing"},
    {real + "%\n2 2\n", ", line 3: 2 words where the numbers of rows, columns and entries are expected"},
    {real + "2 -2 1\n", ", line 2: '-2' is not a number of rows, columns or entries"},
    {real + "2 2 4611686018427387904\n", ", line 2: '4611686018427387904' is not a number of rows, columns or entries"},
    {real + "2 x 1\n", ", line 2: 'x' is not a number of rows, columns or entries"},
    {lower + "2 3 0\n", ", line 2: the matrix is 2 x 3, but one with a symmetry is square"},
    {real + "2 2 3\n1 1 1\n2 2 1\n", ", line 2: 3 entries are announced, but the file has 2"},
    {real + "2 2 1\n1 1 1\n\n2 2 1\n", ", line 2: 1 entries are announced, but the file has 2"},
    {real + "2 2 2\n1 1 1\n3 2 1\n", ", line 4: index '3' in mode 1 is over the length 2 in the header"},
    {real + "2 2 2\n1 1 1\n0 2 1\n", ", line 4: index 0 in mode 1, but in this form indices count from 1"},
    {real + "2 2 2\n1 1 1\n2 2\n", ", line 4: the value is missing: 2 columns where the header demands 3"},
    {real + "2 2 2\n1 1 1\n2 2 1 0\n", ", line 4: 4 columns where the header demands 3"},
    {real + "2 2 2\n1 1 1\n# 2 1\n", ", line 4: index '#' in mode 1 is not a whole number"},
    {real + "2 2 2\n1 1 nan\n2 2 1\n", ", line 3: value 'nan' is not finite"},
    {pattern + "2 2 2\n1 1 1\n2 2\n", ", line 3: 3 columns where the header demands 2"},
    {lower + "2 2 2\n1 1 1\n1 2 1\n", ", line 4: the entry is above the diagonal"},
    {skew + "2 2 2\n2 1 1\n2 2 1\n", ", line 4: the diagonal of a skew-symmetric matrix is zero"},
};

TEST(MatrixMarket, IsRefusedWithTheLineWhereItIsWrong) {
    const World world;
    const TemporaryFolder folder(world);
    for (const auto& wrong : wrong_files) {
        SCOPED_TRACE(wrong.text);
        for (const auto& path : {folder.write("w.mtx", wrong.text), folder.write("w.gz", zipped(wrong.text, 30))}) {
            const auto message = message_of_reading(world, path);
            EXPECT_EQ(message.substr(0, path.size() + wrong.message.size()), path + wrong.message);
        }
    }
    const auto hermitian = folder.write("h.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 1 3\n2 2 1 1\n");
    EXPECT_EQ(message_of_reading<std::complex<double>>(world, hermitian),
              hermitian + ", line 4: the diagonal of a hermitian matrix is real; correct the value");
    const auto negated = folder.write("s.mtx", skew + "2 2 0\n");
    EXPECT_EQ(message_of_reading<bool>(world, negated),
              negated + ", line 1: the matrix is skew-symmetric, and bool has no negatives; read the file as double");
}

}  // namespace
}  // namespace arges::test

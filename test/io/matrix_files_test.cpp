// Factor matrices and Kruskal tensors in files, with rows from and for any ranks.
#include "io/model/matrix_files_kruskal.hpp"

#include "io/refused.hpp"
#include "io/sparse_files.hpp"
#include "io/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace arges::test {
namespace {

using io::MatrixForm;

/// A matrix of which every row belongs to one rank or to none, then zero.
template <class T>
struct Matrix {
    io::MatrixShape shape;
    std::vector<T> all;     // with zeros
    Numbers rows;           // of this rank
    std::vector<T> values;  // theirs

    Matrix(const World& world, std::uint64_t seed, std::int64_t row_count, std::int64_t columns) : shape{row_count, columns} {
        Random random(seed);
        all.assign(static_cast<std::size_t>(row_count * columns), T(0));
        for (auto row = row_count - 1; row >= 0; --row) {  // descending: rows may come in any order
            const auto owner = random.below(world.size() + 1);
            const bool crowded = random.below(4) == 0;
            for (std::int64_t c = 0; c < columns; ++c) {
                const auto value = static_cast<T>(crowded ? random.unit() / 3 : random.unit() * 1e-20 - 3);
                if (owner == world.size()) continue;
                all[static_cast<std::size_t>(row * columns + c)] = value;
                if (owner == world.rank()) values.push_back(value);
            }
            if (owner == world.rank()) rows.push_back(row);
        }
    }
    io::MatrixRows mine() const { return {rows, values}; }
};

template <class T>
void expect_round_trips(MatrixForm form, const char* name) {
    const World world;
    const TemporaryFolder folder(world);
    const Communicator comm(world.communicator());
    for (std::int64_t rows : {1, 2, 17, 1000})
        for (std::int64_t columns : {1, 3, 16}) {
            SCOPED_TRACE(rows);
            const Matrix<T> A(world, static_cast<std::uint64_t>(rows + columns), rows, columns);
            const auto path = folder / name;
            io::prepare_matrix(comm, path, A.shape, A.mine(), form)->publish();
            EXPECT_EQ(io::matrix_shape(comm, path), A.shape);
            Numbers wanted;
            std::vector<T> expected;
            Random random(static_cast<std::uint64_t>(world.rank()) + 7);
            for (auto i = random.below(2 * rows); i >= 0; --i) {  // any rows, some twice
                wanted.push_back(random.below(rows));
                for (std::int64_t c = 0; c < columns; ++c) expected.push_back(A.all[static_cast<std::size_t>(wanted.back() * columns + c)]);
            }
            EXPECT_EQ(io::read_matrix<T>(comm, path, wanted), expected);
            EXPECT_EQ(io::read_matrix<T>(comm, path, Numbers{}), std::vector<T>{});
        }
    EXPECT_EQ(folder.files(), 1);
}

TEST(MatrixFiles, RoundTripAsTextOfDoubles) { expect_round_trips<double>(MatrixForm::text, "a.txt"); }
TEST(MatrixFiles, RoundTripAsTextOfFloats) { expect_round_trips<float>(MatrixForm::text, "a.txt"); }
TEST(MatrixFiles, RoundTripAsNpyOfDoubles) { expect_round_trips<double>(MatrixForm::npy, "a.npy"); }
TEST(MatrixFiles, RoundTripAsNpyOfFloats) { expect_round_trips<float>(MatrixForm::npy, "a.npy"); }

TEST(MatrixFiles, RoundTripOfLargeWholeNumbers) {
    const World world;
    const TemporaryFolder folder(world);
    const Communicator comm(world.communicator());
    const std::int64_t large = (std::int64_t{1} << 62) - 1;  // no double has this value
    const auto first = 2 * world.rank();
    const Numbers mine{large - first, first};
    for (auto form : {MatrixForm::text, MatrixForm::npy}) {
        io::prepare_matrix(comm, folder / "a", {2 * world.size(), 1}, io::MatrixRows::contiguous(first, mine, 1), form)->publish();
        EXPECT_EQ(io::read_matrix<std::int64_t>(comm, folder / "a", Numbers{1, 0}), (Numbers{0, large}));
        EXPECT_EQ(io::read_matrix<std::int64_t>(comm, folder / "a", Numbers{first}), (Numbers{large - first}));
    }
    EXPECT_NE(TemporaryFolder::read(folder / "a").find("'<i8'"), std::string::npos);
}

TEST(MatrixFiles, HaveTheBytesThatOthersRead) {
    const World world;
    const TemporaryFolder folder(world);
    const Communicator comm(world.communicator());
    const std::vector<double> row{0.1, -2};
    const bool last = world.rank() + 1 == world.size();
    const auto mine = io::MatrixRows::contiguous(1, last ? std::span<const double>(row) : std::span<const double>(), 2);
    io::prepare_matrix(comm, folder / "a.txt", {3, 2}, mine, MatrixForm::text)->publish();
    EXPECT_EQ(TemporaryFolder::read(folder / "a.txt"), "0 0\n0.1 -2\n0 0\n");
    io::prepare_matrix(comm, folder / "a.npy", {3, 2}, mine, MatrixForm::npy)->publish();
    const auto bytes = TemporaryFolder::read(folder / "a.npy");
    ASSERT_EQ(bytes.size(), 128U + 48U);
    EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
    EXPECT_EQ(bytes.substr(10, 59), "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }");
    EXPECT_EQ(bytes[127], '\n');
    double value = 0;
    std::memcpy(&value, bytes.data() + 128 + 16, 8);
    EXPECT_EQ(value, 0.1);
}

TEST(MatrixFiles, RefuseWrongRowsAndFiles) {
    const World world;
    const TemporaryFolder folder(world);
    const Communicator comm(world.communicator());
    const std::vector<double> row{1, 2};
    const auto write = [&](Numbers rows, io::MatrixShape shape) {
        for (auto form : {MatrixForm::text, MatrixForm::npy}) {
            io::MatrixRows mine{world.rank() == 0 ? rows : Numbers{},
                                world.rank() == 0 ? std::span<const double>(row) : std::span<const double>()};
            io::prepare_matrix(comm, folder / "a", shape, mine, form)->publish();
        }
    };
    expect_refused_with("row 3 of a matrix of 3 rows", [&] { write({3}, {3, 2}); });
    expect_refused_with("2 rows are given, but only 1 different ones", [&] { write({0, 0}, {3, 1}); });
    expect_refused_with("2 values for 1 rows of 3 columns", [&] { write({0}, {3, 3}); });
    EXPECT_EQ(folder.files(), 0);
    write({1}, {3, 2});
    const auto read = [&](const std::string& path) { io::read_matrix<double>(comm, path, Numbers{5}); };
    expect_refused_with("row 5 is wanted, but the matrix has 3 rows", [&] { read(folder / "a"); });
    expect_refused_with("there is no such file", [&] { read(folder / "none"); });
    const auto good = TemporaryFolder::read(folder / "a");
    expect_refused_with("47 bytes of elements do not make 3 x 2", [&] { read(folder.write("b", good.substr(0, good.size() - 1))); });
    expect_refused_with("the header of the .npy file is damaged", [&] { read(folder.write("b", good.substr(0, 40))); });
    auto pairs = good;
    pairs.replace(pairs.find("<f8"), 3, "<c8");
    expect_refused_with("of complex numbers", [&] { read(folder.write("b", pairs)); });
    expect_refused_with("b, line 3: value 'x' is not a number", [&] { read(folder.write("b", "1 2\n3 4\n5 x\n")); });
    expect_refused_with("b, line 3: 1 columns where the first row has 2", [&] { read(folder.write("b", "# a\n1 2\n3\n5 6\n")); });
    expect_refused_with("b, line 1: value 'nan' is not finite", [&] { read(folder.write("b", "1 nan\n")); });
    expect_refused_with("there is no row in the file", [&] { read(folder.write("b", "# none\n")); });
}

TEST(KruskalFolder, IsWrittenAndReadBackAndReplacesAnOlderOne) {
    const World world;
    const TemporaryFolder folder(world);
    const Communicator comm(world.communicator());
    const auto path = folder / "cp/run";
    for (auto form : {MatrixForm::npy, MatrixForm::text, MatrixForm::npy}) {
        const std::int64_t components = form == MatrixForm::npy ? 3 : 2;
        const std::vector<double> weights{3, 2.5, 0.1};
        std::vector<Matrix<double>> factors;
        const auto used = std::span<const double>(weights).first(static_cast<std::size_t>(components));
        io::KruskalRows tensor{io::MatrixRows::contiguous(0, used, 1), {}, {}};
        for (std::int64_t length : form == MatrixForm::npy ? Numbers{5, 1, 40} : Numbers{6, 9}) tensor.lengths.push_back(length);
        for (auto length : tensor.lengths) factors.emplace_back(world, static_cast<std::uint64_t>(length), length, components);
        for (const auto& factor : factors) tensor.factors.push_back(factor.mine());
        io::write_kruskal(comm, path, tensor, form);
        const auto shape = io::kruskal_shape(comm, path);
        EXPECT_EQ(shape.form, form);
        EXPECT_EQ(shape.components, components);
        EXPECT_EQ(shape.lengths, tensor.lengths);
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path), {}), 2 + static_cast<std::ptrdiff_t>(tensor.lengths.size()));
        EXPECT_EQ(io::read_matrix<double>(comm, shape.paths[0], Numbers{0, 1}), (std::vector<double>{3, 2.5}));
        for (std::size_t m = 0; m < factors.size(); ++m)
            EXPECT_EQ(io::read_matrix<double>(comm, shape.paths[m + 1], factors[m].rows), factors[m].values);
        EXPECT_NE(TemporaryFolder::read(path + "/description.json").find("\"components\": " + std::to_string(components)),
                  std::string::npos);
        comm.barrier();
    }
    expect_refused_with("there is no such folder", [&] { io::kruskal_shape(comm, folder / "none"); });
    expect_refused_with("name a folder that a decomposition wrote", [&] { io::kruskal_shape(comm, folder / "cp"); });
    const auto lambda = TemporaryFolder::read(path + "/lambda.npy");
    comm.barrier();
    folder.write("cp/run/mode_2.npy", lambda);
    expect_refused_with("mode_2.npy: this is not the file that description.json was written for", [&] { io::kruskal_shape(comm, path); });
    comm.barrier();
    if (comm.rank() == 0) std::filesystem::remove(path + "/description.json");
    comm.barrier();
    expect_refused_with("1 columns, but there are 3 weights", [&] { io::kruskal_shape(comm, path); });
    folder.write("cp/run/description.json", "{\"kind\": \"anything\"}\n");
    expect_refused_with("this is no description of a decomposition", [&] { io::kruskal_shape(comm, path); });
}

/// Two sets of files, and folders as a writer leaves them that is killed while it replaces the first by the second.
class ReplacedFolder : public testing::Test {
protected:
    void SetUp() override {
        write("old", {5, 7}, 2, 1);
        write("new", {4, 6, 3}, 3, 2);
    }

    void write(const std::string& name, const Numbers& lengths, std::int64_t components, std::uint64_t seed) {
        const std::vector<double> weights{static_cast<double>(seed), 2.5, 0.1};
        std::vector<Matrix<double>> factors;
        const auto used = std::span<const double>(weights).first(static_cast<std::size_t>(components));
        io::KruskalRows tensor{io::MatrixRows::contiguous(0, used, 1), lengths, {}};
        for (auto length : lengths) factors.emplace_back(world_, seed, length, components);
        for (const auto& factor : factors) tensor.factors.push_back(factor.mine());
        io::write_kruskal(comm_, folder_ / name, tensor, MatrixForm::npy);
    }

    /// A folder with the old files, in which the writer of the new ones has come to give names to so many; -1: not even to the
    /// description.
    std::string killed_after(int renamed) {
        namespace fs = std::filesystem;
        const auto run = folder_ / "run";
        comm_.barrier();
        if (comm_.rank() == 0) {
            fs::remove_all(run);
            fs::copy(folder_ / "old", run);
            const auto text = TemporaryFolder::read(folder_ / "new/description.json");
            const std::vector<std::string> names{"lambda.npy", "mode_1.npy", "mode_2.npy", "mode_3.npy"};
            for (std::size_t k = 0; k < names.size(); ++k) {
                const auto at = text.find(names[k] + ".arges-part-");
                EXPECT_NE(at, std::string::npos);
                const auto temporary = text.substr(at, text.find('"', at) - at);
                fs::copy(folder_ / ("new/" + names[k]), run + "/" + (static_cast<int>(k) < renamed ? names[k] : temporary),
                         fs::copy_options::overwrite_existing);
            }
            fs::copy(folder_ / "new/description.json", run + (renamed < 0 ? "/description.json.arges-part-77" : "/description.json"),
                     fs::copy_options::overwrite_existing);
        }
        comm_.barrier();
        return run;
    }

    std::vector<std::string> names_in(const std::string& path) {
        comm_.barrier();
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path)) names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        comm_.barrier();
        return names;
    }

    World world_;
    TemporaryFolder folder_{world_};
    Communicator comm_{world_.communicator()};
};

TEST_F(ReplacedFolder, IsTheOldOneOrTheNewOneWhereverTheWriterWasKilled) {
    for (int renamed = -1; renamed <= 4; ++renamed) {
        SCOPED_TRACE(renamed);
        const auto run = killed_after(renamed);
        const auto shape = io::kruskal_shape(comm_, run);
        EXPECT_EQ(shape.lengths, renamed < 0 ? (Numbers{5, 7}) : (Numbers{4, 6, 3}));
        const auto set = folder_ / (renamed < 0 ? "old" : "new");
        const char* const names[] = {"/lambda.npy", "/mode_1.npy", "/mode_2.npy", "/mode_3.npy"};
        for (std::size_t k = 0; k < shape.paths.size(); ++k)
            EXPECT_EQ(TemporaryFolder::read(shape.paths[k]), TemporaryFolder::read(set + names[k]));
    }
}

TEST_F(ReplacedFolder, IsCleanAfterTheNextWriter) {
    for (int renamed = -1; renamed <= 4; ++renamed) {
        SCOPED_TRACE(renamed);
        const auto run = killed_after(renamed);
        write("run", {2, 3}, 1, 9);
        EXPECT_EQ(io::kruskal_shape(comm_, run).lengths, (Numbers{2, 3}));
        EXPECT_EQ(names_in(run), (std::vector<std::string>{"description.json", "lambda.npy", "mode_1.npy", "mode_2.npy"}));
    }
}

/// A writer that fails leaves the set in order that it found half named.
TEST_F(ReplacedFolder, StaysWholeIfTheNextWriterFails) {
    const auto run = killed_after(2);
    const std::vector<double> weights{1};
    io::KruskalRows wrong{io::MatrixRows::contiguous(0, weights, 1), {3}, {{Numbers{world_.rank() == 0 ? 7 : 0}, weights}}};
    expect_refused_with(world_.size() == 1 ? "row 7" : "row", [&] { io::write_kruskal(comm_, run, wrong, MatrixForm::npy); });
    const auto shape = io::kruskal_shape(comm_, run);
    EXPECT_EQ(shape.lengths, (Numbers{4, 6, 3}));
    for (std::size_t k = 0; k < shape.paths.size(); ++k)
        EXPECT_EQ(shape.paths[k], run + (k == 0 ? "/lambda.npy" : "/mode_" + std::to_string(k) + ".npy")) << "the names are given";
}

TEST_F(ReplacedFolder, KeepsFilesThatAreNotOfASet) {
    folder_.write("old/notes.txt", "mine");
    folder_.write("old/mode_9.npy", "of an older set");
    folder_.write("old/mode_x.npy", "mine");
    write("old", {5, 7}, 2, 3);
    EXPECT_EQ(names_in(folder_ / "old"),
              (std::vector<std::string>{"description.json", "lambda.npy", "mode_1.npy", "mode_2.npy", "mode_x.npy", "notes.txt"}));
}

}  // namespace
}  // namespace arges::test

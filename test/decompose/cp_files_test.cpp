// Saved models: the same numbers on any number of ranks, and folders that are not what they should be.
#include "arges/cpd.hpp"
#include "arges/error.hpp"
#include "comm/values.hpp"
#include "io/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>
#include <set>

namespace arges::test {
namespace {

using Numbers = std::vector<std::int64_t>;

/// A model whose rows are distributed at random; some belong to nobody.
template <class T>
CpModel<T> random_model(const World& world, const Numbers& lengths, std::size_t components, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<double> lambda;
    for (std::size_t c = 0; c < components; ++c) lambda.push_back(static_cast<double>(static_cast<T>(10.3 / static_cast<double>(c + 1))));
    std::vector<Numbers> rows(lengths.size());
    std::vector<std::vector<T>> factors(lengths.size());
    for (std::size_t m = 0; m < lengths.size(); ++m)
        for (std::int64_t i = 0; i < lengths[m]; ++i) {
            const bool has_owner = i + 1 == lengths[m] || random() % 4 > 0;
            const auto owner = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(world.size()));
            std::vector<T> row;
            for (std::size_t c = 0; c < components; ++c) row.push_back(static_cast<T>(static_cast<double>(random() % 1000 + 1) / 7));
            if (!has_owner || owner != world.rank()) continue;
            rows[m].push_back(i);
            factors[m].insert(factors[m].end(), row.begin(), row.end());
        }
    return {world, lengths, lambda, rows, factors};
}

template <class T>
void expect_equal(const CpModel<T>& a, const CpModel<T>& b) {
    EXPECT_EQ(a.lengths(), b.lengths());
    EXPECT_EQ(a.lambda(), b.lambda());
    ASSERT_EQ(a.order(), b.order());
    for (int m = 0; m < a.order(); ++m) EXPECT_EQ(a.gather(m), b.gather(m)) << "mode " << m;
}

/// All rows of a mode, with those of other ranks, by number.
template <class T>
std::map<std::int64_t, std::vector<T>> all_rows(const CpModel<T>& model, int mode) {
    const Communicator comm(model.world().communicator());
    const auto numbers = gathered(comm, model.rows(mode));
    const auto values = gathered(comm, model.factor(mode));
    const auto columns = static_cast<std::size_t>(model.rank());
    std::map<std::int64_t, std::vector<T>> rows;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto row = values.begin() + static_cast<std::ptrdiff_t>(i * columns);
        EXPECT_TRUE(rows.emplace(numbers[i], std::vector<T>(row, row + model.rank())).second) << numbers[i];
    }
    return rows;
}

/// For modes that are too long to gather a factor.
template <class T>
void expect_same_rows(const CpModel<T>& a, const CpModel<T>& b) {
    EXPECT_EQ(a.lengths(), b.lengths());
    EXPECT_EQ(a.lambda(), b.lambda());
    ASSERT_EQ(a.order(), b.order());
    for (int m = 0; m < a.order(); ++m) EXPECT_EQ(all_rows(a, m), all_rows(b, m)) << "mode " << m;
}

/// A model of long modes with so many rows each, at random places, the last one among them.
template <class T>
CpModel<T> hollow_model(const World& world, const Numbers& lengths, const Numbers& counts, std::size_t components, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Numbers> rows(lengths.size());
    std::vector<std::vector<T>> factors(lengths.size());
    for (std::size_t m = 0; m < lengths.size(); ++m) {
        std::set<std::int64_t> chosen{lengths[m] - 1};
        while (static_cast<std::int64_t>(chosen.size()) < counts[m])
            chosen.insert(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(lengths[m])));
        for (auto row : chosen) {
            const auto owner = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(world.size()));
            for (std::size_t c = 0; c < components; ++c) {
                const auto value = static_cast<T>(static_cast<double>(random() % 1000 + 1) / 7);
                if (owner == world.rank()) factors[m].push_back(value);
            }
            if (owner == world.rank()) rows[m].push_back(row);
        }
    }
    return {world, lengths, std::vector<double>(components, 0.5), rows, factors};
}

template <class T>
class ModelFiles : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ModelFiles, Types);

TYPED_TEST(ModelFiles, AreReadBackOnAnyNumberOfRanks) {
    using T = TypeParam;
    const World world, alone(MPI_COMM_SELF);
    const Communicator comm(world.communicator());
    const TemporaryFolder folder(world);
    std::uint64_t seed = 1;
    for (auto form : {ModelForm::npy, ModelForm::text})
        for (const auto& lengths : {Numbers{5, 1, 40}, Numbers{700, 3}, Numbers{1, 2, 3, 4, 5}}) {
            SCOPED_TRACE(seed);
            const auto model = random_model<T>(world, lengths, 1 + seed % 4, seed + 7);
            save_model(model, folder / "run", form);
            expect_equal(load_model<T>(world, folder / "run"), model);
            const auto whole = load_model<T>(alone, folder / "run");
            for (int m = 0; m < model.order(); ++m) EXPECT_EQ(whole.gather(m), model.gather(m));
            // One rank writes, all read.
            const auto first = folder / "one";
            if (world.rank() == 0) save_model(whole, first, form);
            comm.barrier();
            expect_equal(load_model<T>(world, first), model);
            comm.barrier();
            ++seed;
        }
}

/// Modes of which fewer than half of the slices are not empty are written without the others, if they are long.
TYPED_TEST(ModelFiles, LeaveOutEmptyRowsOfLongModes) {
    using T = TypeParam;
    const World world, alone(MPI_COMM_SELF);
    const TemporaryFolder folder(world);
    for (auto form : {ModelForm::npy, ModelForm::text}) {
        const std::string ending = form == ModelForm::npy ? ".npy" : ".txt";
        const auto run = folder / "run";
        const auto model =
            hollow_model<T>(world, {1'700'000'000, 30, 100'000, 100'000, std::int64_t{1} << 61}, {500, 10, 49'999, 50'000, 1}, 3, 11);
        save_model(model, run, form);
        expect_same_rows(load_model<T>(world, run), model);
        const auto whole = load_model<T>(alone, run);
        EXPECT_EQ(whole.lengths(), model.lengths());
        for (int m = 0; m < model.order(); ++m) EXPECT_EQ(all_rows(whole, m), all_rows(model, m)) << "mode " << m;
        for (int m = 1; m <= 5; ++m)
            EXPECT_EQ(std::filesystem::exists(run + "/mode_" + std::to_string(m) + "_rows" + ending), m != 2 && m != 4) << m;
        EXPECT_LT(std::filesystem::file_size(run + "/mode_1" + ending), 40'000U);
        EXPECT_LT(std::filesystem::file_size(run + "/mode_1_rows" + ending), 6'000U);
        MPI_Barrier(world.communicator());

        // Without the description a mode is as long as its last row says.
        if (world.rank() == 0) std::filesystem::remove(run + "/description.json");
        MPI_Barrier(world.communicator());
        expect_same_rows(load_model<T>(world, run), model);

        // The next model has no such lists; they do not stay.
        const auto next = random_model<T>(world, {5, 4, 3, 2, 1}, 3, 5);
        save_model(next, run, form);
        expect_equal(load_model<T>(world, run), next);
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(run), {}), 7);
        MPI_Barrier(world.communicator());
    }
}

void expect_refused(const World& world, const std::string& folder, const std::string& part) {
    try {
        load_model<double>(world, folder);
        ADD_FAILURE() << "no exception instead of: " << part;
    } catch (const InvalidArgument& error) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

TEST(ModelFolders, ThatAreNotWholeAreRefused) {
    const World world;
    const Communicator comm(world.communicator());
    for (auto form : {ModelForm::npy, ModelForm::text}) {
        const std::string ending = form == ModelForm::npy ? ".npy" : ".txt";
        const TemporaryFolder folder(world);
        const auto run = folder / "run", other = folder / "other";
        const auto save = [&] { save_model(random_model<double>(world, {6, 20, 4}, 3, 5), run, form); };
        const auto remove = [&](const std::string& name) {
            comm.barrier();
            if (world.rank() == 0) std::filesystem::remove(folder / name);
            comm.barrier();
        };
        save();
        const auto whole = TemporaryFolder::read(run + "/mode_2" + ending);
        expect_refused(world, folder / "none", "there is no such folder");
        remove("run/mode_3" + ending);
        expect_refused(world, run, "mode_3" + ending + ": there is no such file, but description.json names it");
        save();
        folder.write("run/mode_2" + ending, whole.substr(0, whole.size() / 2));
        expect_refused(world, run, "mode_2" + ending + ": this is not the file that description.json was written for");
        remove("run/description.json");
        if (form == ModelForm::npy) expect_refused(world, run, "truncated");
        // Files of a model with other numbers of components and rows, with and without the description.
        save_model(random_model<double>(world, {6, 9, 4}, 2, 6), other, form);
        save();
        folder.write("run/mode_2" + ending, TemporaryFolder::read(other + "/mode_2" + ending));
        expect_refused(world, run, "mode_2" + ending + ": this is not the file");
        remove("run/description.json");
        expect_refused(world, run, "2 columns, but there are 3 weights");
        remove("run/lambda" + ending);
        expect_refused(world, run, "name a folder that a decomposition wrote");
        save();
        EXPECT_EQ(load_model<double>(world, run).lengths(), (Numbers{6, 20, 4}));
    }
}

/// What rank 0 cannot look at is not there; the others do not wait for it.
TEST(ModelFolders, MayBeNamedByNamesThatNoFileCanHave) {
    const World world;
    const TemporaryFolder folder(world);
    const std::string run = folder / "run", endless(300, 'x');
    const auto model = random_model<double>(world, {6, 20, 4}, 3, 5);
    save_model(model, run);
    auto text = TemporaryFolder::read(run + "/description.json");
    MPI_Barrier(world.communicator());  // all have read what is written next
    const std::string name = "mode_1.npy.arges-part-";
    const auto begin = text.find(name) + name.size();
    text.replace(begin, text.find('"', begin) - begin, endless);
    folder.write("run/description.json", text);
    expect_equal(load_model<double>(world, run), model);
    save_model(model, run);
    expect_equal(load_model<double>(world, run), model);
    expect_refused(world, folder / endless, "there is no such folder");
    EXPECT_THROW(save_model(model, folder / endless), InvalidArgument);
}

/// A sparse tensor may have modes of more rows than all memory and all disks.
TEST(ModelFolders, DoNotTakeMoreRowsThanFilesCanHave) {
    const World world;
    const TemporaryFolder folder(world);
    const std::int64_t length = std::int64_t{1} << 60;  // times 16 components: 2^64 elements
    std::vector<Numbers> rows(2);
    std::vector<std::vector<double>> factors(2);
    if (world.rank() == 0) {
        rows = {{0, length - 1}, {1}};
        factors = {std::vector<double>(32, 1.0), std::vector<double>(16, 1.0)};
    }
    const CpModel<double> model(world, {length, 2}, std::vector<double>(16, 1.0), rows, factors);
    EXPECT_THROW(model.gather(0), OutOfMemory);
    EXPECT_EQ(model.gather(1).size(), 32U);
    save_model(model, folder / "run");
    expect_same_rows(load_model<double>(world, folder / "run"), model);
    const CpModel<double> empty(world, {length, 2}, std::vector<double>(16, 1.0), {{}, rows[1]}, {{}, factors[1]});
    EXPECT_THROW(save_model(empty, folder / "run"), Unsupported);
}

/// What numpy.save writes for an array in the given order of numbers.
template <class T>
std::string npy(const std::string& type, const std::string& order, const std::string& shape, const std::vector<T>& numbers) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
    header.append(117 - header.size(), ' ');
    header += '\n';
    return std::string("\x93NUMPY\1\0v\0", 10) + header +
           std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
}

/// Weights in any usual shape, factors in both orders and of other types of numbers.
TEST(ModelFolders, MayHaveBeenMadeByNumPy) {
    const World world;
    const TemporaryFolder folder(world);
    folder.write("mode_1.npy", npy<double>("<f8", "True", "(3, 2)", {1, 3, 0, 2, 4, 0}));
    folder.write("mode_2.npy", npy<std::int32_t>("<i4", "False", "(1, 2)", {-1, 7}));
    for (const char* shape : {"(2,)", "(2, 1)", "(1, 2)"})
        for (const char* order : {"False", "True"}) {
            folder.write("lambda.npy", npy<float>("<f4", order, shape, {2, 0.5F}));
            const auto model = load_model<double>(world, folder / "");
            EXPECT_EQ(model.lambda(), (std::vector<double>{2, 0.5})) << shape;
            EXPECT_EQ(model.gather(0), (std::vector<double>{1, 2, 3, 4, 0, 0}));
            EXPECT_EQ(model.gather(1), (std::vector<double>{-1, 7}));
        }
    folder.write("lambda.npy", npy<float>("<f4", "False", "(2, 2)", {2, 0.5F, 1, 1}));
    expect_refused(world, folder / "", "lambda.npy: 2 x 2 weights; give one for each component");
    folder.write("lambda.npy", npy<float>("<f4", "False", "(3,)", {2, 0.5F, 1}));
    expect_refused(world, folder / "", "2 columns, but there are 3 weights");
    folder.write("lambda.npy", npy<float>("<c8", "False", "(1,)", {2, 0.5F}));
    expect_refused(world, folder / "", "complex");
}

/// A writer that was killed left lists of rows without their names, as the other files.
TEST(ModelFolders, WithListsOfRowsAreWholeUnderTemporaryNames) {
    const World world;
    const TemporaryFolder folder(world);
    const auto run = folder / "run";
    const auto model = hollow_model<double>(world, {4, 1'000'000'000}, {3, 50}, 2, 8);
    save_model(model, run);
    const auto text = TemporaryFolder::read(run + "/description.json");
    MPI_Barrier(world.communicator());
    for (const std::string name : {"lambda.npy", "mode_1.npy", "mode_2.npy", "mode_2_rows.npy"}) {
        const auto at = text.find(name + ".arges-part-");
        ASSERT_NE(at, std::string::npos) << text;
        if (world.rank() == 0) std::filesystem::rename(run + "/" + name, run + "/" + text.substr(at, text.find('"', at) - at));
    }
    MPI_Barrier(world.communicator());
    expect_same_rows(load_model<double>(world, run), model);
    EXPECT_FALSE(std::filesystem::exists(run + "/mode_2_rows.npy"));
    MPI_Barrier(world.communicator());
    save_model(model, run);
    expect_same_rows(load_model<double>(world, run), model);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(run), {}), 5);
}

/// Lists of rows that do not fit to the factor or to the mode.
TEST(ModelFolders, WithWrongListsOfRowsAreRefused) {
    const World world;
    const TemporaryFolder folder(world);
    const auto run = folder / "run", list = run + "/mode_1_rows.txt";
    save_model(hollow_model<double>(world, {1'000'000, 2}, {3, 1}, 1, 4), run, ModelForm::text);
    const auto with_list = [&](const std::string& text) {
        MPI_Barrier(world.communicator());
        folder.write("run/mode_1_rows.txt", text);
    };
    with_list("1\n2\n3\n");
    expect_refused(world, run, "mode_1_rows.txt: this is not the file that description.json was written for");
    MPI_Barrier(world.communicator());
    if (world.rank() == 0) std::filesystem::remove(run + "/description.json");
    with_list("1\n2\n70\n");
    EXPECT_EQ(load_model<double>(world, run).lengths(), (Numbers{71, 2}));
    const std::pair<const char*, const char*> wrong[] = {
        {"1\n2\n", "mode_1_rows.txt: 2 x 1 numbers for 3 rows in mode_1.txt"},
        {"1\n1\n3\n", "mode_1_rows.txt: number 2 is 1 after 1; the rows of a mode of 4 are counted from 0, in ascending order"},
        {"-1\n1\n3\n", "mode_1_rows.txt: number 1 is -1"},
        {"1\n9\n3\n", "mode_1_rows.txt: number 2 is 9"},
        {"1\n2\n2.5\n", "mode_1_rows.txt, line 3: value '2.5' is not a number"},
        {"1\n2\n99999999999999999999\n", "mode_1_rows.txt, line 3: value '99999999999999999999' is not finite or too large"}};
    for (const auto& [numbers, message] : wrong) {
        with_list(numbers);
        expect_refused(world, run, message);
    }
}

TEST(ModelFolders, MayHaveBeenMadeByOthers) {
    const World world;
    const TemporaryFolder folder(world);
    folder.write("lambda.txt", "2\n0.5\n");
    folder.write("mode_1.txt", "1 2\n3 4\n0 0\n");
    folder.write("mode_2.txt", "-1 1e-3\n");
    const auto model = load_model<double>(world, folder / "");
    EXPECT_EQ(model.lambda(), (std::vector<double>{2, 0.5}));
    EXPECT_EQ(model.gather(0), (std::vector<double>{1, 2, 3, 4, 0, 0}));
    EXPECT_EQ(model.gather(1), (std::vector<double>{-1, 1e-3}));
}

}  // namespace
}  // namespace arges::test

// Worlds whose ranks are in the order of the machine.
#include "comm/communicator.hpp"
#include "interface/wrong_uses.hpp"
#include "support/tensor_checks.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

namespace arges::test {
namespace {

/// A file of coordinates that ARGES_COORDINATES names while the object lives. Rank 0 writes it.
class CoordinatesFile {
public:
    explicit CoordinatesFile(const std::string& text)
        : path_((std::filesystem::temp_directory_path() / ("arges_coordinates_" + std::to_string(process_count()))).string()),
          variable_("ARGES_COORDINATES", path_.c_str()) {
        if (process_number() == 0) std::ofstream(path_) << text;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ~CoordinatesFile() {
        MPI_Barrier(MPI_COMM_WORLD);
        if (process_number() == 0) std::filesystem::remove(path_);
    }
    CoordinatesFile(const CoordinatesFile&) = delete;
    CoordinatesFile& operator=(const CoordinatesFile&) = delete;

private:
    std::string path_;
    Environment variable_;
};

/// The number on the torus of each process, by chance.
std::vector<std::int64_t> shuffled(std::int64_t processes, std::uint64_t seed) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(processes));
    std::iota(numbers.begin(), numbers.end(), 0);
    std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(seed));
    return numbers;
}

std::string coordinates_text(const std::vector<std::int64_t>& numbers, std::int64_t length) {
    std::string text = "# x y\n";
    for (const auto n : numbers) text += std::to_string(n % length) + " " + std::to_string(10 + n / length) + "\n";
    return text;
}

TEST(WorldOrder, FollowsCoordinates) {
    const auto processes = process_count();
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const std::int64_t length = processes % 2 == 0 && seed % 2 == 0 ? 2 : 1;
        const auto numbers = shuffled(processes, seed);
        const CoordinatesFile file(coordinates_text(numbers, length));
        const World world;
        EXPECT_EQ(world.torus(), Torus({length, processes / length}));
        EXPECT_EQ(world.rank(), numbers[static_cast<std::size_t>(process_number())]);
        int rank = -1;
        MPI_Comm_rank(world.communicator(), &rank);
        EXPECT_EQ(rank, world.rank());
        EXPECT_EQ(World(MPI_COMM_WORLD, Torus({length, processes / length})).rank(), world.rank());
        EXPECT_EQ(World(world.communicator()).rank(), world.rank());
    }
}

/// Statements, functions of elements, key-value pairs and gathered arrays: bit by bit the same as without coordinates.
TEST(WorldOrder, ChangesNoResult) {
    const auto processes = process_count();
    const std::int64_t length = processes % 2 == 0 ? 2 : 1;
    const World plain(MPI_COMM_WORLD, Torus({length, processes / length}));
    const CoordinatesFile file(coordinates_text(shuffled(processes, 11), length));
    const World ordered;
    std::vector<std::vector<double>> results;
    for (const auto& world : {plain, ordered}) {
        Tensor<double> A(world, {7, 7, 5}, "ijk", "sym(i,j)", "A"), B(world, {5, 7}), C(world, {7, 7});
        A.fill([](Index x) { return static_cast<double>(x[0] + x[1]) + 0.25 * static_cast<double>(x[2]); });
        B.fill_random(3);
        for (int run = 0; run < 3; ++run) C["ij"] = A["ikl"] * B["lk"] * A["jjl"] + C["ji"];
        const std::vector<std::int64_t> keys(world.rank() == 0 ? std::vector<std::int64_t>{1, 8} : std::vector<std::int64_t>{});
        C.accumulate(keys, std::vector<double>(keys.size(), 0.5));
        results.push_back(C.gather());
        results.push_back(A.gather());
        results.push_back({C.norm(), A.sum()});
        EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(results[i], results[i + 3]);
}

TEST(WorldOrder, LetsTensorsBeTransferred) {
    const World plain;
    const auto processes = process_count();
    const CoordinatesFile file(coordinates_text(shuffled(processes, 5), 1));
    const World ordered;
    Tensor<double> A(plain, {4, 6, 3});
    A.fill_random(9);
    const auto there = transfer(plain, A, ordered);
    EXPECT_EQ(there.gather(), A.gather());
    EXPECT_EQ(transfer(ordered, there, plain).gather(), A.gather());
}

TEST(WorldOrder, IsKeptInWorldsOfFewerRanks) {
    const auto processes = process_count();
    const CoordinatesFile file(coordinates_text(shuffled(processes, 6), 1));
    EXPECT_EQ(World(MPI_COMM_SELF).rank(), 0);
    if (processes < 3) return;
    const bool inside = process_number() > 0;
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, inside ? 0 : 1, static_cast<int>(process_number()), &part);
    EXPECT_EQ(World(part).rank(), inside ? process_number() - 1 : 0);
    MPI_Comm_free(&part);
}

/// All ranks of a test are on one node, so its order is that of the communicator.
TEST(WorldOrder, FollowsNodes) {
    const World asked(MPI_COMM_WORLD, {}, RankOrder::by_machine);
    EXPECT_EQ(asked.rank(), process_number());
    const Environment variable("ARGES_RANK_ORDER", "machine");
    EXPECT_EQ(World().rank(), process_number());
}

TEST(WorldOrder, RefusesWrongFilesOnAllRanks) {
    const auto processes = process_count();
    const auto message_of = [](const std::string& text, const Torus& torus = {}) {
        const CoordinatesFile file(text);
        std::string message;
        EXPECT_EQ(caught([&] { const World world(MPI_COMM_WORLD, torus); }, message), "InvalidArgument") << text;
        return message;
    };
    auto lines = coordinates_text(shuffled(processes, 7), 1);
    EXPECT_NE(message_of(lines + "0 99\n").find("there are " + std::to_string(processes + 1) + " lines"), std::string::npos);
    EXPECT_NE(message_of("x\n").find("line 1: \"x\" is not a whole number"), std::string::npos);
    for (const auto& torus : {Torus({processes, 2}), Torus({processes})})
        EXPECT_NE(message_of(lines, torus).find("is given; correct one of them"), std::string::npos);
    std::string twice;
    for (std::int64_t p = 0; p < processes; ++p) twice += "3 1\n";
    if (processes > 1) {
        EXPECT_NE(message_of(twice).find("processes 0 and 1 are both at 3 1"), std::string::npos);
    }
    const Environment nowhere("ARGES_COORDINATES", "/nowhere/coordinates");
    std::string message;
    EXPECT_EQ(caught([] { const World world; }, message), "InvalidArgument");
    EXPECT_NE(message.find("/nowhere/coordinates: the file cannot be read"), std::string::npos);
}

}  // namespace
}  // namespace arges::test

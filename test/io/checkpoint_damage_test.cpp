// Checkpoints that are damaged, unfinished or asked for what they do not have.
#include "arges/arges.hpp"
#include "comm/communicator.hpp"
#include "io/checkpoint/checkpoint_contents.hpp"
#include "io/child_process.hpp"
#include "io/file/hdf5_handle.hpp"
#include "io/file/parallel_file.hpp"
#include "io/refused.hpp"
#include "io/sparse_files.hpp"
#include "io/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

namespace arges {
namespace {

using namespace test;

/// A small checkpoint; `version` tells one from the next.
void save(const World& world, const std::string& path, std::int64_t version = 1) {
    Tensor<double> t2(world, {6, 6, 4, 4}, "abij", "antisym(a,b) antisym(i,j)");
    t2.fill_random(static_cast<std::uint64_t>(version));
    Tensor<std::complex<float>> dense(world, {5, 9});
    dense.fill_random(static_cast<std::uint64_t>(version));
    CheckpointWriter writer(world, path);
    writer.add("t2", t2);
    writer.add("dense", dense);
    writer.set("version", version);
    writer.set("method", "ccsd");
    writer.set("energies", std::vector<double>{-1.5, 2.25});
    writer.commit();
}

/// Everything that is in a checkpoint, as numbers.
struct Everything {
    std::vector<double> t2;
    std::vector<std::complex<float>> dense;
    std::int64_t version = 0;
    std::string method;
    std::vector<double> energies;
    bool operator==(const Everything&) const = default;
};

Everything everything_in(const World& world, const std::string& path) {
    const CheckpointReader reader(world, path);
    return {reader.read<double>("t2").gather(), reader.read<std::complex<float>>("dense").gather(), reader.value<std::int64_t>("version"),
            reader.value<std::string>("method"), reader.value<std::vector<double>>("energies")};
}

class CheckpointDamage : public testing::Test {
protected:
    CheckpointDamage() : folder_(world_), path_(folder_ / "c.h5") {
        save(world_, path_);
        bytes_ = TemporaryFolder::read(path_);
    }
    /// What reading a file of these bytes gives; nothing if they are refused.
    std::optional<Everything> read(const std::string& bytes) {
        try {
            return everything_in(world_, folder_.write("damaged.h5", bytes));
        } catch (const InvalidArgument&) {
            return std::nullopt;
        }
    }

    World world_;
    TemporaryFolder folder_;
    std::string path_, bytes_;
};

TEST_F(CheckpointDamage, OfElementsIsRefused) {
    const auto contents = io::read_contents(io::InputFile(Communicator(world_.communicator()), path_));
    Random random(3);
    for (const auto& [name, tensor] : contents.tensors) {
        const auto element = io::number_type_of(tensor.shape.element).bytes;
        for (int i = 0; i < (world_.size() > 1 ? 4 : 30); ++i) {
            auto damaged = bytes_;
            const auto at = tensor.offset + random.below(tensor.shape.packed_size * element);
            damaged[static_cast<std::size_t>(at)] ^= static_cast<char>(1 << random.below(8));
            const auto path = folder_.write("damaged.h5", damaged);
            expect_refused_with("the elements of tensor \"" + name + "\" differ from their checksum", [&] { everything_in(world_, path); });
        }
    }
}

TEST_F(CheckpointDamage, AnywhereIsRefused) {
    Random random(4);
    for (int i = 0; i < (world_.size() > 1 ? 20 : 200); ++i) {
        auto damaged = bytes_;
        const auto at = random.below(static_cast<std::int64_t>(bytes_.size()));
        damaged[static_cast<std::size_t>(at)] ^= static_cast<char>(1 << random.below(8));
        EXPECT_FALSE(read(damaged)) << "byte " << at;
    }
}

TEST_F(CheckpointDamage, ByTruncationIsRefused) {
    const auto size = bytes_.size();
    for (std::size_t length :
         {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{47}, std::size_t{100}, size / 2, size - 100, size - 1})
        EXPECT_FALSE(read(bytes_.substr(0, length))) << length;
    EXPECT_TRUE(read(bytes_));
}

TEST_F(CheckpointDamage, ByOtherProgramsIsRefused) {
    for (const char* gone : {"tensors", "values", "tensors/t2", "values/method"}) {
        folder_.write("damaged.h5", bytes_);
        const auto path = folder_ / "damaged.h5";
        if (world_.rank() == 0) {
            const io::Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
            H5Ldelete(file.id(), gone, H5P_DEFAULT);
        }
        folder_.files();
        expect_refused_with("changed by another program", [&] { everything_in(world_, path); });
    }
}

TEST_F(CheckpointDamage, FilesThatAreNoCheckpoints) {
    const auto open = [&](const std::string& path) { CheckpointReader(world_, path); };
    expect_refused_with("there is no such file", [&] { open(folder_ / "none.h5"); });
    expect_refused_with("this is a directory", [&] { open(folder_ / ""); });
    expect_refused_with("the file is empty", [&] { open(folder_.write("empty.h5", "")); });
    expect_refused_with("no complete checkpoint", [&] { open(folder_.write("text.h5", "1 2 3\n")); });
    const auto path = folder_ / "other.h5";
    if (world_.rank() == 0) io::Hdf5Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose).close();
    folder_.files();
    expect_refused_with("no complete checkpoint", [&] { open(path); });
    expect_refused_with("a dry run", [&] { CheckpointReader(World::dry_run(4), path_); });
}

TEST_F(CheckpointDamage, WrongQuestions) {
    const CheckpointReader reader(world_, path_);
    Tensor<double> other_extents(world_, {6, 6, 5, 5}, "abij", "antisym(a,b) antisym(i,j)"), none;
    Tensor<double> other_symmetry(world_, {6, 6, 4, 4}, "abij", "sym(a,b) antisym(i,j)");
    const World second;
    Tensor<double> elsewhere(second, {6, 6, 4, 4}, "abij", "antisym(a,b) antisym(i,j)");
    expect_refused_with("has no tensor \"t1\"; it has \"dense\", \"t2\"", [&] { (void)reader.read<double>("t1"); });
    expect_refused_with("has no tensor \"\"", [&] { (void)reader.tensor(""); });
    expect_refused_with("elements of type float64, not float32", [&] { (void)reader.read<float>("t2"); });
    expect_refused_with("elements of type complex64, not float64", [&] { (void)reader.read<double>("dense"); });
    expect_refused_with("is 6 x 6 x 4 x 4, and the tensor to read into 6 x 6 x 5 x 5", [&] { reader.read_into("t2", other_extents); });
    expect_refused_with("has the symmetry antisym(a,b)", [&] { reader.read_into("t2", other_symmetry); });
    expect_refused_with("of another world", [&] { reader.read_into("t2", elsewhere); });
    expect_refused_with("no shape yet", [&] { reader.read_into("t2", none); });
    expect_refused_with("has no value \"t2\"; it has \"energies\", \"method\", \"version\"", [&] { (void)reader.value<double>("t2"); });
    expect_refused_with("value \"method\" is a text, not a number", [&] { (void)reader.value<double>("method"); });
    expect_refused_with("value \"version\" is an integer, not a number", [&] { (void)reader.value<double>("version"); });
    expect_refused_with("value \"energies\" is a vector of numbers, not a text", [&] { (void)reader.value<std::string>("energies"); });
}

TEST_F(CheckpointDamage, WrongUsesOfAWriter) {
    const Tensor<double> x(world_, {3}), none;
    const World second;
    const Tensor<double> elsewhere(second, {3});
    expect_refused_with("cannot be made", [&] { CheckpointWriter(world_, folder_ / "none/c.h5"); });
    expect_refused_with("this is a directory", [&] { CheckpointWriter(world_, folder_ / "."); });
    expect_refused_with("a dry run", [&] { CheckpointWriter(World::dry_run(4), path_); });
    CheckpointWriter writer(world_, folder_ / "w.h5");
    for (const char* name : {"", ".", "a/b", "/"}) expect_refused_with("cannot be a name", [&] { writer.add(name, x); });
    expect_refused_with("cannot be a name", [&] { writer.set("a/b", 1); });
    writer.add("x", x);
    writer.set("x", 1);
    expect_refused_with("has \"x\" already", [&] { writer.add("x", x); });
    expect_refused_with("has \"x\" already", [&] { writer.set("x", 2.5); });
    expect_refused_with("zero character", [&] { writer.set("zero", std::string("a\0b", 3)); });
    expect_refused_with("on another world", [&] { writer.add("y", elsewhere); });
    expect_refused_with("no shape yet", [&] { writer.add("y", none); });
    if (world_.size() > 1) expect_refused_with("different names", [&] { writer.set("r" + std::to_string(world_.rank()), 1); });
    writer.commit();
    expect_refused_with("nothing can be added", [&] { writer.add("z", x); });
    expect_refused_with("nothing can be added", [&] { writer.set("z", 1); });
    expect_refused_with("commit() was called already", [&] { writer.commit(); });
    EXPECT_EQ(CheckpointReader(world_, folder_ / "w.h5").tensors().size(), 1u);
}

TEST_F(CheckpointDamage, UnfinishedFilesLeaveTheOldOne) {
    const auto old = everything_in(world_, path_);
    {
        CheckpointWriter writer(world_, path_);
        writer.add("x", Tensor<double>(world_, {100}));
        EXPECT_EQ(folder_.files(), 2);
        EXPECT_EQ(everything_in(world_, path_), old);
        save(world_, path_, 2);  // does not touch the file of a writer that lives
        EXPECT_EQ(folder_.files(), 2);
        EXPECT_EQ(everything_in(world_, path_).version, 2);
    }
    EXPECT_EQ(folder_.files(), 1);
    folder_.write("c.h5.arges-part-123", bytes_.substr(0, 500));  // as a writer leaves it that was killed
    folder_.write("c.h5.arges-part-x", "of the user");
    folder_.write("d.h5.arges-part-5", "of another checkpoint");
    EXPECT_EQ(everything_in(world_, path_).version, 2);
    save(world_, path_, 3);
    EXPECT_EQ(everything_in(world_, path_).version, 3);
    EXPECT_EQ(folder_.files(), 3);
}

/// The largest file that may be written, while this lives.
class FileLimit {
public:
    explicit FileLimit(rlim_t bytes) {
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit now{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &now);
    }
    ~FileLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;

private:
    rlimit before_{};
    void (*handler_)(int) = nullptr;
};

TEST_F(CheckpointDamage, ADiskWithoutRoomLeavesTheOldOne) {
    const auto old = everything_in(world_, path_);
    for (rlim_t limit : {0, 100, 5000, 300000}) {
        const FileLimit full(limit);
        expect_refused_with("cannot be written", [&] {
            CheckpointWriter writer(world_, path_);
            writer.add("small", Tensor<double>(world_, {100}));
            writer.add("large", Tensor<double>(world_, {100, 1000}));
            writer.commit();
        });
    }
    EXPECT_EQ(everything_in(world_, path_), old);
    EXPECT_EQ(folder_.files(), 1);
    save(world_, path_, 2);
    EXPECT_EQ(everything_in(world_, path_).version, 2);
}

constexpr char victim_variable[] = "ARGES_TEST_VICTIM", many_victims_variable[] = "ARGES_TEST_VICTIMS";

/// Writes for ever, to be killed; runs only in the process that CheckpointKill starts.
TEST(CheckpointVictim, WritesForEver) {
    const char* path = std::getenv(victim_variable);
    if (path == nullptr) GTEST_SKIP() << "started by CheckpointKill";
    const World world;
    CheckpointWriter writer(world, path);
    for (int i = 0;; ++i) writer.add("x" + std::to_string(i), Tensor<double>(world, {1000}));
}

/// Saves one version after the other, to be killed; each rank leaves its process number beside the checkpoint.
TEST(CheckpointVictim, SavesForEver) {
    const char* path = std::getenv(many_victims_variable);
    if (path == nullptr) GTEST_SKIP() << "started by CheckpointKill";
    const World world;
    {
        std::ofstream file(path + (".pid" + std::to_string(world.rank())));
        file << getpid() << std::endl;
    }
    auto version = everything_in(world, path).version;
    for (;;) save(world, path, ++version);
}

/// Kills writers at random moments, and looks at what they leave.
class Killings {
public:
    explicit Killings(const World& world) : world_(world), folder_(world), path_(folder_ / "c.h5") { save(world, path_); }

    /// Starts a writer on so many ranks, kills one of them, and waits until all have ended.
    void kill_one_of(int ranks, const std::string& launcher) {
        const auto variable = many_victims_variable + ("=" + path_);
        const std::string filter = "--gtest_filter=CheckpointVictim.SavesForEver";
        for (int r = 0; r < ranks; ++r) std::filesystem::remove(pid_file(r));
        pid_t started = -1;
        if (launcher.empty()) {
            started = start_process("/proc/self/exe", {filter}, {variable});
        } else {
            const char* const preload = std::getenv("LD_PRELOAD");
            const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
            started = start_process("/bin/sh",
                                    {"-c", "exec " + launcher + " -n " + std::to_string(ranks) + " env LD_PRELOAD=" +
                                               (preload == nullptr ? "" : preload) + " " + program + " " + filter + " >/dev/null 2>&1"},
                                    {variable});
        }
        ASSERT_GT(started, 0);
        const auto victim = std::stoi("0" + number_in(pid_file(static_cast<int>(random_.below(ranks)))));
        ASSERT_GT(victim, 0) << "no writer started";
        const auto before = std::filesystem::last_write_time(path_);
        for (int i = 0; i < 2000 && std::filesystem::last_write_time(path_) == before; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        std::this_thread::sleep_for(std::chrono::microseconds(random_.below(40000)));
        kill(victim, SIGKILL);
        EXPECT_NE(exit_code_of(started), 0);
    }

    /// What is there is complete, and not older than what was.
    void look() {
        const auto found = everything_in(world_, path_);
        EXPECT_GT(found.version, seen_) << "nothing was saved before the writer was killed";
        seen_ = found.version;
        const auto other = folder_ / "same.h5";
        save(world_, other, seen_);
        EXPECT_EQ(found, everything_in(world_, other));
        std::filesystem::remove(other);
    }

    /// The next writer removes what the others have left.
    void clean_up(int ranks) {
        save(world_, path_, seen_ + 1);
        EXPECT_EQ(folder_.files(), 1 + ranks) << "the checkpoint, and the process numbers";
    }

private:
    std::string pid_file(int rank) const { return path_ + ".pid" + std::to_string(rank); }
    /// The line in a file that a writer makes when it starts.
    std::string number_in(const std::string& file) const {
        for (int i = 0; i < 6000; ++i) {
            if (const auto text = std::filesystem::exists(file) ? TemporaryFolder::read(file) : ""; text.ends_with('\n')) return text;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return {};
    }

    const World& world_;
    TemporaryFolder folder_;
    std::string path_;
    std::int64_t seen_ = 0;
    Random random_{17};
};

TEST(CheckpointKill, AtAnyMomentLeavesOneOrTheOther) {
    const World world;
    if (world.size() > 1) GTEST_SKIP() << "one process kills others";
    Killings killings(world);
    for (int round = 0; round < 20; ++round) {
        killings.kill_one_of(1, "");
        killings.look();
    }
    killings.clean_up(1);
}

TEST(CheckpointKill, OfOneRankOfSeveralLeavesOneOrTheOther) {
    const World world;
    if (world.size() > 1) GTEST_SKIP() << "one process kills others";
    const char* const launcher = std::getenv("MPIEXEC");
    if (launcher == nullptr) GTEST_SKIP() << "MPIEXEC is not set; make sets it";
    const char* const flags = std::getenv("MPIEXEC_FLAGS");
    Killings killings(world);
    for (int round = 0; round < 6; ++round) {
        killings.kill_one_of(3, std::string(launcher) + " " + (flags == nullptr ? "" : flags));
        killings.look();
    }
    killings.clean_up(3);
}

TEST(CheckpointKill, LeavesTheOldOne) {
    const World world;
    if (world.size() > 1) GTEST_SKIP() << "one process kills another";
    const TemporaryFolder folder(world);
    save(world, folder / "c.h5");
    const auto process =
        start_process("/proc/self/exe", {"--gtest_filter=CheckpointVictim.*"}, {victim_variable + ("=" + (folder / "c.h5"))});
    ASSERT_GT(process, 0);
    // Wait until the other has written something; it writes faster than one can read.
    const auto part = folder / ("c.h5.arges-part-" + std::to_string(process));
    const auto written = [&] { return std::filesystem::exists(part) ? std::filesystem::file_size(part) : 0; };
    for (int i = 0; i < 3000 && written() < 100000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_GT(written(), 0u);
    save(world, folder / "c.h5", 2);
    EXPECT_EQ(folder.files(), 2) << "the other one lives";
    kill(process, SIGKILL);
    EXPECT_EQ(exit_code_of(process), -1);
    EXPECT_EQ(folder.files(), 2);
    EXPECT_EQ(everything_in(world, folder / "c.h5").version, 2);
    save(world, folder / "c.h5", 3);
    EXPECT_EQ(everything_in(world, folder / "c.h5").version, 3);
    EXPECT_EQ(folder.files(), 1);
}

}  // namespace
}  // namespace arges

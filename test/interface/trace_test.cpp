// ARGES_TRACE: lines and events of executed steps.
#include "base/trace.hpp"
#include "support/tensor_checks.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace arges::test {
namespace {

using Json = nlohmann::json;

/// A folder that is gone afterwards. Collective.
class Folder {
public:
    explicit Folder(const World& world) : world_(world) {
        std::int64_t process = getpid();
        world.state()->communicator().broadcast(&process, sizeof process, 0);
        path_ = std::filesystem::temp_directory_path() / ("arges_trace_" + std::to_string(process));
        if (world.rank() == 0) std::filesystem::create_directory(path_);
        world.state()->communicator().barrier();
    }
    ~Folder() {
        world_.state()->communicator().barrier();
        if (world_.rank() == 0) std::filesystem::remove_all(path_);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    World world_;
    std::filesystem::path path_;
};

/// A world that was made while ARGES_TRACE had this value; afterwards the variable is as it was.
class TracedWorld {
public:
    explicit TracedWorld(const std::string& value, MPI_Comm comm = MPI_COMM_WORLD) {
        const char* const before = std::getenv("ARGES_TRACE");
        if (before != nullptr) before_ = before;
        setenv("ARGES_TRACE", value.c_str(), 1);
        try {
            world_.emplace(comm);
        } catch (...) {
            restore();
            throw;
        }
        restore();
    }
    const World& operator*() const { return *world_; }

private:
    void restore() const {
        if (before_)
            setenv("ARGES_TRACE", before_->c_str(), 1);
        else
            unsetenv("ARGES_TRACE");
    }
    std::optional<std::string> before_;
    std::optional<World> world_;
};

/// The calling rank's own file.
std::string own_file(const World& world, const std::string& file) {
    return world.rank() == 0 ? file : file + ".rank" + std::to_string(world.rank());
}

Json events_in(const std::string& file) {
    std::ifstream stream(file);
    return Json::parse(stream);
}

/// Runs a movement, products of two and of several tensors, and one over a packed pair. Returns the lines, which only rank 0
/// prints, and the bytes sent.
std::string run_statements(const World& world) {
    Tensor<double> A(world, {6, 5}, "A"), B(world, {5, 6}, "B"), C(world, {6, 6}, "C");
    Tensor<double> X(world, {6, 5, 4}, "X"), U(world, {5, 3}, "U"), V(world, {4, 3}, "V"), M(world, {6, 3}, "M \"quoted\"");
    Tensor<double> D(world, {6, 6}, {AS, NS}, "D"), x(world, {}, "x");
    A.fill_random(1);
    X.fill_random(2);
    U.fill_random(3);
    V.fill_random(4);
    testing::internal::CaptureStderr();
    B["ji"] = A["ij"];
    auto sent = world.last_report().bytes_sent;
    C["ik"] = A["ij"] * B["jk"] + 2.0 * A["kj"] * B["ji"];
    sent += world.last_report().bytes_sent;
    M["ia"] = X["ijk"] * U["ja"] * V["ka"];
    sent += world.last_report().bytes_sent;
    x[""] = D["ij"] * D["ij"];
    sent += world.last_report().bytes_sent;
    const auto lines = testing::internal::GetCapturedStderr();
    EXPECT_EQ(lines.empty(), world.rank() != 0);
    EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
    return lines + "sent " + std::to_string(sent);
}

/// Checks the fields of events and that they sent what they planned; returns the bytes in all.
std::int64_t check_events(const World& world, const Json& events) {
    std::int64_t sent = 0;
    double last = 0;
    for (const auto& event : events) {
        EXPECT_EQ(event["ph"], "X");
        EXPECT_EQ(event["pid"], world.rank());
        EXPECT_EQ(event["tid"], 0);
        EXPECT_GE(event["ts"].get<double>(), last);
        EXPECT_GE(event["dur"].get<double>(), 0);
        EXPECT_GT(event["args"]["planned_seconds"].get<double>(), 0);
        EXPECT_EQ(event["args"]["planned_bytes"], event["args"]["bytes_sent"]) << event;
        sent += event["args"]["bytes_sent"].get<std::int64_t>();
        last = event["ts"];
    }
    return sent;
}

TEST(Trace, WritesAnEventForEachStepOnEachRank) {
    const World plain;
    const Folder folder(plain);
    const auto file = folder.file("trace.json");
    const TracedWorld world(file);
    EXPECT_TRUE(events_in(own_file(plain, file)).empty());
    const auto report = run_statements(*world);
    const auto events = events_in(own_file(plain, file));  // while the world lives
    ASSERT_GE(events.size(), 4U);
    EXPECT_EQ(events[0]["name"], "B[ji] <- A[ij]");
    EXPECT_EQ(events[0]["args"]["kind"], "movement");
    EXPECT_EQ(events[1]["name"], "C[ik] <- A[ij] B[jk]");
    EXPECT_EQ(events[2]["name"], "C[ik] <- A[kj] B[ji]");
    EXPECT_EQ(events[events.size() - 2]["name"].get<std::string>().substr(0, 16), "M \"quoted\"[ia] <");
    EXPECT_EQ(events.back()["name"], "x[] <- D[ij] D[ij]");
    EXPECT_EQ(events.back()["args"]["kind"], "pairwise");  // the pair stays packed
    const auto is_fused = [](const Json& event) { return event["args"]["kind"] == "fused"; };
    EXPECT_TRUE(std::any_of(events.begin(), events.end(), is_fused));
    EXPECT_EQ("sent " + std::to_string(check_events(plain, events)), report.substr(report.rfind("sent ")));
    if (plain.rank() != 0) return;
    EXPECT_EQ(report.find("arges: B[ji] <- A[ij]  movement  planned "), 0U) << report;
    EXPECT_NE(report.find(" B  measured "), std::string::npos) << report;
    EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), static_cast<std::ptrdiff_t>(events.size())) << report;
}

TEST(Trace, OfSeveralWorldsGoesToOneFileOfAProcess) {
    const World plain;
    const Folder folder(plain);
    const auto file = folder.file("worlds.json");
    std::size_t steps = 0;
    {
        const TracedWorld world(file);
        run_statements(*world);
        steps = events_in(own_file(plain, file)).size();
    }
    const TracedWorld world(file), self(file, MPI_COMM_SELF);
    run_statements(*world);
    EXPECT_EQ(events_in(own_file(plain, file)).size(), 2 * steps);
    Tensor<double> A(*self, {3, 3}, "A"), B(*self, {3, 3}, "B");
    testing::internal::CaptureStderr();
    B["ji"] = A["ij"];
    EXPECT_FALSE(testing::internal::GetCapturedStderr().empty());  // rank 0 of its world
    const auto events = events_in(own_file(plain, file));
    EXPECT_EQ(events.size(), 2 * steps + 1);
    EXPECT_EQ(events.back()["pid"], plain.rank());
}

TEST(Trace, WithADashPrintsLinesOnly) {
    const TracedWorld world("-");
    const auto report = run_statements(*world);
    EXPECT_EQ(report.find("arges: ") == 0, (*world).rank() == 0);
    EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST(Trace, IsOffByDefault) {
    if (std::getenv("ARGES_TRACE") != nullptr) GTEST_SKIP() << "ARGES_TRACE is set";
    const World world;
    EXPECT_EQ(world.state()->trace(), nullptr);
}

TEST(Trace, RefusesAFileThatCannotBeWritten) {
    const World plain;
    const Folder folder(plain);
    auto refused = [&](const std::string& file) {
        try {
            const TracedWorld world(file);
            ADD_FAILURE() << "no exception for " << file;
        } catch (const InvalidArgument& error) {
            const std::string message = error.what();
            EXPECT_NE(message.find("ARGES_TRACE: cannot write the file \"" + file), std::string::npos) << message;
        }
    };
    refused(folder.file("missing/trace.json"));
    if (std::filesystem::exists("/dev/full") && plain.size() == 1) refused("/dev/full");
    const auto one = folder.file("one.json");  // only the last rank's is in the way
    if (plain.rank() == 0) std::filesystem::create_directory(own_file(plain, one) + (plain.size() > 1 ? ".rank1" : ""));
    plain.state()->communicator().barrier();
    refused(one);
}

TEST(Trace, EscapesNames) {
    auto name_in_event = [](const std::string& name) {
        StepRecord record;
        record.statement = name;
        return Json::parse(to_event(record, 0)).at("name").get<std::string>();
    };
    for (const std::string& text : {std::string("plain"), std::string("a\"b\\c/d"), std::string("\n\t\x01\x1f\x7f"), std::string("\0x", 2),
                                    std::string("\u00e4\u20ac\U0001d11e")})
        EXPECT_EQ(name_in_event(text), text);
    for (const std::string bytes : {"\xff", "\xc0\xaf", "\xe4", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe0\x80\x80"}) {
        const auto parsed = name_in_event("a" + bytes + "b");
        EXPECT_EQ(parsed.substr(0, 4), "a\ufffd");
        EXPECT_EQ(parsed.back(), 'b');
    }
}

}  // namespace
}  // namespace arges::test

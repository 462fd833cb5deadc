// Collective calls that not all ranks make, or not in the same order: with ARGES_CALL_TIMEOUT they end with an exception that names them.
#include "interface/wrong_uses.hpp"

#include <chrono>
#include <thread>

namespace arges::test {
namespace {

/// A world whose calls are compared.
World watched_world(const char* seconds) {
    const Environment set("ARGES_CALL_TIMEOUT", seconds);
    return World();
}

/// The message of the exception that a call must throw.
std::string refusal(const std::function<void()>& call) {
    std::string message;
    EXPECT_EQ(caught(call, message), "InvalidArgument") << message;
    return message;
}

class MissingRanks : public testing::Test {
protected:
    void SetUp() override {
        if (World().size() == 1) GTEST_SKIP() << "one rank is complete";
    }
    static inline bool said_before_ = false;  // in this process
};

TEST_F(MissingRanks, DifferentCallsAreNamedOnEveryRank) {
    const auto world = watched_world("30");
    Tensor<double> A(world, {4, 4}, "A");
    const bool first = world.rank() == 0;
    const auto message = refusal([&] { first ? A.norm() : A.sum(); });
    EXPECT_NE(message.find("rank 0 is in Tensor::norm"), std::string::npos) << message;
    EXPECT_NE(message.find("rank 1 is in Tensor::sum"), std::string::npos) << message;
    // They are in step again.
    EXPECT_EQ(A.norm(), 0);
    EXPECT_NE(refusal([&] {
                  if (first)
                      A["ij"] = A["ji"];
                  else
                      static_cast<void>(A.gather());
              }).find("a statement"),
              std::string::npos);
    EXPECT_NE(refusal([&] {
                  if (first)
                      const Tensor<double> B(A);
                  else
                      static_cast<void>(A.read(Keys{}));
              }).find("Tensor"),
              std::string::npos);
    A["ij"] = A["ji"];
    EXPECT_EQ(A.norm(), 0);
}

TEST_F(MissingRanks, ACallOfSomeRanksEndsWithItsName) {
    const auto start = std::chrono::steady_clock::now();
    for (const bool first_alone : {true, false}) {
        const auto world = watched_world("1");
        Tensor<double> A(world, {4, 4}, "A");
        if ((world.rank() == 0) != first_alone) continue;  // with the world the tensor goes, too: nothing of that is collective
        const auto message = refusal([&] { const Tensor<double> copy(A); });
        EXPECT_NE(message.find("Tensor"), std::string::npos) << message;
        EXPECT_NE(message.find(first_alone ? "did not make this call within 1 s" : "rank 0 of"), std::string::npos) << message;
    }
    World().state()->communicator().barrier();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST_F(MissingRanks, ALateRankGetsTheExceptionToo) {
    const auto world = watched_world("1");
    const World steady;
    Tensor<double> A(world, {4, 4}, "A");
    const bool is_late = world.rank() == 1;
    if (is_late) steady.state()->communicator().barrier();  // until the others have given up
    EXPECT_NE(refusal([&] { A.norm(); }).find("did not make this call"), std::string::npos);
    if (!is_late) steady.state()->communicator().barrier();
    steady.state()->communicator().barrier();
    EXPECT_EQ(A.norm(), 0);  // in step again
}

TEST_F(MissingRanks, ACallInAProgressFunction) {
    const auto world = watched_world("20");
    Tensor<double> A(world, {6, 5, 4}, "A");
    A.fill_random(1);
    CpOptions options;
    options.rank = 2;
    const auto message = refusal([&] {
        cp_decompose(A, options, [&](const CpIteration&, const std::function<CpModel<double>()>& model) {
            if (world.rank() == 0) static_cast<void>(model().gather(0));
        });
    });
    EXPECT_NE(message.find("CpModel::gather"), std::string::npos) << message;
    EXPECT_GT(A.norm(), 0);  // in step again
}

/// In every build: a word on standard error, once, while the call goes on.
TEST_F(MissingRanks, ALongWaitIsNamed) {
    const Environment never("ARGES_CALL_TIMEOUT", "0");
    for (const char* seconds : {"0", "0.5", "0.5"}) {
        const Environment set("ARGES_WAIT_NOTICE", seconds);
        const World world;
        Tensor<double> A(world, {4, 4}, "A");
        const bool is_late = world.rank() == world.size() - 1;
        testing::internal::CaptureStderr();
        if (is_late) std::this_thread::sleep_for(std::chrono::milliseconds(1200));
        EXPECT_EQ(A.norm(), 0);
        const auto said = testing::internal::GetCapturedStderr();
        const bool is_named = said.find("rank " + std::to_string(world.rank()) + " has waited") != std::string::npos &&
                              said.find("Tensor::norm") != std::string::npos;
        EXPECT_EQ(is_named, !is_late && !said_before_ && std::string(seconds) != "0") << said;
        said_before_ = said_before_ || is_named;
    }
}

}  // namespace
}  // namespace arges::test

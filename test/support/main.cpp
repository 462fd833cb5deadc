// Runs GoogleTest on every rank of MPI_COMM_WORLD. Rank 0 prints the usual report, other ranks
// only their failures. At the end the ranks agree, test by test: one that failed anywhere failed, and
// so did one that some ranks skipped and others ran.
// The last line that rank 0 prints is what scripts/run_tests.sh reads, for example
//     [ranks] 4: 12 passed, 0 failed, 1 skipped
#include "support/test_device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// Prints the failures of a rank other than 0, each line with the rank in front.
class FailurePrinter : public testing::EmptyTestEventListener {
public:
    explicit FailurePrinter(int rank) : prefix_("[rank " + std::to_string(rank) + "] ") {}

    // GoogleTest holds a lock while it reports a failure: ask for the test's name before.
    void OnTestStart(const testing::TestInfo& test) override { test_ = test.test_suite_name() + std::string(".") + test.name(); }
    void OnTestEnd(const testing::TestInfo&) override { test_ = "outside any test"; }

    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (!result.failed()) return;
        std::ostringstream text;
        const char* file = result.file_name() ? result.file_name() : "unknown file";
        text << prefix_ << file << ":" << result.line_number() << ": Failure in " << test_ << "\n";
        std::istringstream message(result.message());
        for (std::string line; std::getline(message, line);) text << prefix_ << line << "\n";
        std::fputs(text.str().c_str(), stderr);
    }

private:
    std::string prefix_;
    std::string test_ = "outside any test";
};

// Ordered so that the maximum over the ranks is the verdict where none skipped the test.
enum Outcome : int { skipped, passed, failed };

struct Verdict {
    std::string name;
    int outcome;
};

/// What this rank saw of every test that ran, in the same order on all ranks.
std::vector<Verdict> local_verdicts() {
    std::vector<Verdict> verdicts;
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int s = 0; s < all.total_test_suite_count(); ++s) {
        const testing::TestSuite& suite = *all.GetTestSuite(s);
        for (int t = 0; t < suite.total_test_count(); ++t) {
            const testing::TestInfo& test = *suite.GetTestInfo(t);
            if (!test.should_run()) continue;
            const testing::TestResult& result = *test.result();
            const int outcome = result.Failed() ? failed : result.Skipped() ? skipped : passed;
            verdicts.push_back({suite.name() + std::string(".") + test.name(), outcome});
        }
    }
    return verdicts;
}

/// Collective: whether all ranks ran the same tests in the same order.
bool same_tests(const std::vector<Verdict>& verdicts, MPI_Comm comm) {
    std::string names;
    for (const Verdict& verdict : verdicts) names += verdict.name + "\n";
    const auto hash = static_cast<unsigned long long>(std::hash<std::string>{}(names));
    unsigned long long extremes[2] = {hash, ~hash};  // the largest hash and the complement of the smallest
    MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm);
    return extremes[0] == ~extremes[1];
}

/// The largest (MPI_MAX) or smallest (MPI_MIN) outcome over the ranks, of each test.
std::vector<int> reduced(std::vector<int> outcomes, MPI_Op op, MPI_Comm comm) {
    MPI_Allreduce(MPI_IN_PLACE, outcomes.data(), static_cast<int>(outcomes.size()), MPI_INT, op, comm);
    return outcomes;
}

/// Collective: the exit code of the whole run. Rank 0 prints what the others found and the totals.
int agree(int local_exit, MPI_Comm comm) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const std::vector<Verdict> verdicts = local_verdicts();
    if (!same_tests(verdicts, comm)) {
        if (rank == 0) std::printf("[  FAILED  ] the ranks ran different tests\n[ranks] %d: 0 passed, 1 failed, 0 skipped\n", size);
        return 1;
    }
    std::vector<int> outcomes{local_exit ? failed : passed};  // [0]: the run, then its tests
    for (const Verdict& verdict : verdicts) outcomes.push_back(verdict.outcome);
    const std::vector<int> most = reduced(outcomes, MPI_MAX, comm);
    const std::vector<int> least = reduced(outcomes, MPI_MIN, comm);
    long counts[3] = {0, 0, 0};
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const bool split = least[i + 1] == skipped && most[i + 1] == passed;
        ++counts[split ? failed : most[i + 1]];
        if (rank == 0 && split)
            std::printf("[  FAILED  ] %s, skipped on some ranks only\n", verdicts[i].name.c_str());
        else if (rank == 0 && most[i + 1] == failed && verdicts[i].outcome != failed)
            std::printf("[  FAILED  ] %s, on another rank\n", verdicts[i].name.c_str());
    }
    // A failure outside any test, as in the set-up of a suite, counts as one.
    if (most[0] == failed) counts[failed] = std::max(counts[failed], 1L);
    if (rank == 0) std::printf("[ranks] %d: %ld passed, %ld failed, %ld skipped\n", size, counts[passed], counts[failed], counts[skipped]);
    return counts[failed] > 0 ? 1 : 0;
}

}  // namespace

#ifdef __SANITIZE_ADDRESS__
// What a module of MPI allocated counts as leaked once the module is gone: they stay. Shared libraries call this one, too.
extern "C" __attribute__((visibility("default"))) int dlclose(void*) noexcept { return 0; }
#endif

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm comm = MPI_COMM_NULL;  // apart from what the tests send on MPI_COMM_WORLD
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);

    testing::InitGoogleTest(&argc, argv);
    if (rank != 0) {
        testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(new FailurePrinter(rank));
    }
    if (const char* const device = std::getenv("ARGES_TEST_DEVICE")) arges::test::use_test_device(std::string_view(device) == "messages");
    const int exit_code = agree(RUN_ALL_TESTS(), comm);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return exit_code;
}

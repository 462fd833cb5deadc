// Runs GoogleTest on every rank of MPI_COMM_WORLD. Rank 0 prints the usual report, other ranks
// only their failures. At the end the ranks agree, test by test: one that failed anywhere failed.
// The last line that rank 0 prints is what scripts/run_tests.sh reads, for example
//     [ranks] 4: 12 passed, 0 failed, 1 skipped
#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sstream>
#include <string>
#include <vector>

namespace {

/// Prints the failures of a rank other than 0, each line with the rank in front.
class FailurePrinter : public testing::EmptyTestEventListener {
public:
    explicit FailurePrinter(int rank) : prefix_("[rank " + std::to_string(rank) + "] ") {}

    // GoogleTest holds a lock while it reports a failure: ask for the test's name before.
    void OnTestStart(const testing::TestInfo& test) override {
        test_ = test.test_suite_name() + std::string(".") + test.name();
    }
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

// Ordered so that the maximum over the ranks is the verdict.
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

/// Collective: the exit code of the whole run. Rank 0 prints what the others found and the totals.
int agree(int local_exit, MPI_Comm comm) {
    const std::vector<Verdict> verdicts = local_verdicts();
    std::vector<int> outcomes{local_exit ? failed : passed};  // [0]: the run, then its tests
    for (const Verdict& verdict : verdicts) outcomes.push_back(verdict.outcome);
    MPI_Allreduce(MPI_IN_PLACE, outcomes.data(), static_cast<int>(outcomes.size()), MPI_INT,
                  MPI_MAX, comm);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0) {
        long counts[3] = {0, 0, 0};
        for (std::size_t i = 0; i < verdicts.size(); ++i) {
            ++counts[outcomes[i + 1]];
            if (outcomes[i + 1] == failed && verdicts[i].outcome != failed)
                std::printf("[  FAILED  ] %s, on another rank\n", verdicts[i].name.c_str());
        }
        // A failure outside any test, as in the set-up of a suite, counts as one.
        if (outcomes[0] == failed) counts[failed] = std::max(counts[failed], 1L);
        std::printf("[ranks] %d: %ld passed, %ld failed, %ld skipped\n", size, counts[passed],
                    counts[failed], counts[skipped]);
    }
    return outcomes[0] == failed ? 1 : 0;
}

}  // namespace

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
    const int exit_code = agree(RUN_ALL_TESTS(), comm);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return exit_code;
}

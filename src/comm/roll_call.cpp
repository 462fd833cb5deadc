// Every rank tells the first one what it is about to do and waits for its word, for a limited time;
// messages of earlier meetings are dropped.
#include "comm/roll_call.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

namespace arges {

namespace {

constexpr int saying = 72, word = 73;  // tags

/// The first rank decides; the others give it time to say so.
constexpr double patience_of_others = 1.25;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string listed(const std::vector<int>& ranks) { return (ranks.size() == 1 ? "rank " : "ranks ") + joined(ranks); }

std::string seconds_text(double seconds) {
    auto text = std::to_string(seconds);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text + " s (ARGES_CALL_TIMEOUT)";
}

}  // namespace

RollCall::RollCall(MPI_Comm comm, double seconds) : seconds_(seconds) {
    if (MPI_Comm_dup(comm, &comm_) != MPI_SUCCESS) throw MpiError("MPI_Comm_dup failed");
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    // A number that no earlier meeting had: MPI may give this communicator the context of one that is gone, with what nobody has received.
    number_ = std::chrono::steady_clock::now().time_since_epoch().count();
    MPI_Bcast(&number_, 1, MPI_INT64_T, 0, comm_);
}

RollCall::~RollCall() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) MPI_Comm_free(&comm_);
}

void RollCall::meet(const std::string& what) {
    Message own{++number_, {}};
    what.copy(own.text, sizeof own.text - 1);
    const auto verdict = rank_ == 0 ? hear_all(own) : wait_for_word(own);
    if (!verdict.empty()) throw OutOfStep(verdict);
}

/// A message of this meeting; those of earlier ones, which came too late, are dropped. False: none came in time.
bool RollCall::receive(Message& message, int peer, int tag, double deadline) const {
    do {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(&message, sizeof message, MPI_BYTE, peer, tag, comm_, &request);
        int done = 0;
        for (long turn = 0;; ++turn) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            if (done != 0) break;
            if (now() > deadline) {
                MPI_Cancel(&request);
                MPI_Status status;
                MPI_Wait(&request, &status);
                int cancelled = 0;
                MPI_Test_cancelled(&status, &cancelled);
                if (cancelled != 0) return false;
                break;
            }
            if (turn < 1000)
                std::this_thread::yield();
            else
                std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    } while (message.number < number_);
    return true;
}

std::string RollCall::hear_all(const Message& own) {
    const auto deadline = now() + seconds_;
    std::vector<int> missing;
    std::string verdict;
    for (int r = 1; r < size_; ++r) {
        Message theirs;
        if (!receive(theirs, r, saying, deadline))
            missing.push_back(r);
        else if (verdict.empty() && std::strcmp(theirs.text, own.text) != 0)
            verdict = "rank 0 is in " + std::string(own.text) + ", but rank " + std::to_string(r) + " is in " + theirs.text +
                      "; collective calls must be made by all ranks, in the same order";
    }
    if (!missing.empty())
        verdict = std::string(own.text) + ": " + listed(missing) + " of " + std::to_string(size_) + " did not make this call within " +
                  seconds_text(seconds_) + "; it is collective, every rank must make it";
    Message answer{number_, {}};
    verdict.copy(answer.text, sizeof answer.text - 1);
    for (int r = 1; r < size_; ++r) MPI_Send(&answer, sizeof answer, MPI_BYTE, r, word, comm_);
    return answer.text;
}

std::string RollCall::wait_for_word(const Message& own) {
    MPI_Send(&own, sizeof own, MPI_BYTE, 0, saying, comm_);
    Message answer;
    if (receive(answer, 0, word, now() + patience_of_others * seconds_ + 1)) return answer.text;
    return std::string(own.text) + ": rank 0 of " + std::to_string(size_) + " did not make this call within " + seconds_text(seconds_) +
           "; it is collective, every rank must make it";
}

}  // namespace arges

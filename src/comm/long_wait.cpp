#include "comm/roll_call.hpp"

#include "comm/collective_call.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace arges {

namespace {

using Clock = std::chrono::steady_clock;

/// The wait under way, and the thread that looks at it.
class Watcher {
public:
    static Watcher& instance() {
        static Watcher watcher;
        return watcher;
    }

    void begin(int rank, double seconds) {
        if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
        rank_ = rank;
        seconds_ = seconds;
        call_ = CollectiveCall::current();
        since_ = Clock::now().time_since_epoch().count();
    }
    void end() { since_ = 0; }

private:
    Watcher() = default;
    ~Watcher() {
        {
            const std::lock_guard lock(mutex_);
            ends_ = true;
        }
        ended_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

    void watch() {
        constexpr std::chrono::milliseconds period(250);
        std::unique_lock lock(mutex_);
        while (!ended_.wait_for(lock, period, [this] { return ends_; })) {
            const auto since = since_.load();
            const double seconds = seconds_;
            const char* const call = call_;
            const int rank = rank_;
            const auto waited = std::chrono::duration<double>(Clock::now().time_since_epoch() - Clock::duration(since)).count();
            if (since == 0 || waited < seconds || since != since_.load()) continue;  // or another wait has begun meanwhile
            std::array<char, 512> text{};
            std::snprintf(text.data(), text.size(),
                          "arges: rank %d has waited %.0f s for other ranks in %s. They work on something else, or do not make this call, "
                          "which every rank must make; "
                          "ARGES_CALL_TIMEOUT=%.0f ends such a call with an error, ARGES_WAIT_NOTICE=0 switches this note off\n",
                          rank, waited, call, seconds);
            std::fputs(text.data(), stderr);
            return;
        }
    }

    std::atomic<Clock::rep> since_ = 0;  // of the wait under way; 0: none
    std::atomic<double> seconds_ = 0;
    std::atomic<const char*> call_ = "";
    std::atomic<int> rank_ = 0;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool ends_ = false;
    std::thread thread_;
};

}  // namespace

LongWait::LongWait(int rank, double seconds) {
    if (seconds > 0) Watcher::instance().begin(rank, seconds);
}

LongWait::~LongWait() { Watcher::instance().end(); }

}  // namespace arges

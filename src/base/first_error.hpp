/// Exceptions of work that must not be left by one: threaded regions, and what ranks do together.
#pragma once

#include <exception>
#include <mutex>
#include <utility>

namespace arges {

/// Keeps the first exception of several pieces of work until it may be thrown. An exception that leaves a threaded region ends
/// the process; one that leaves a movement on one rank lets the others wait for ever.
class FirstError {
public:
    /// Runs `work`; what it throws is kept if it is the first. Threads may call it at the same time.
    template <class F>
    void run(F&& work) {
        try {
            std::forward<F>(work)();
        } catch (...) {
            const std::scoped_lock lock(mutex_);
            if (!error_) error_ = std::current_exception();
        }
    }
    /// True if something is kept. Not beside run().
    bool any() const { return error_ != nullptr; }
    /// Throws what is kept, if anything is: behind the region, or where all ranks hear of it.
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    std::mutex mutex_;
    std::exception_ptr error_;
};

}  // namespace arges

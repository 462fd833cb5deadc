/// What has failed on this rank's device. One rank must not leave by itself what ranks do together, so that its kernels fail in silence,
/// and all ranks hear of it where they next agree.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <type_traits>
#include <utility>

namespace arges::device {

class Failure {
public:
    static Failure& the() {
        static Failure failure;
        return failure;
    }
    /// What f() gives. If it throws, that is kept, and calls until rethrow() do nothing and give zero. A call within another one throws.
    template <class F>
    auto guarded(F&& f) -> decltype(f()) {
        using Result = decltype(f());
        if (is_within_) return f();
        std::conditional_t<std::is_void_v<Result>, bool, Result> result{};
        if (!failed_) {
            is_within_ = true;
            try {
                if constexpr (std::is_void_v<Result>)
                    f();
                else
                    result = f();
            } catch (...) {
                keep(std::current_exception());
            }
            is_within_ = false;
        }
        if constexpr (!std::is_void_v<Result>) return result;
    }
    /// Is there something?
    bool any() const { return failed_; }
    /// Throws what is kept, once.
    void rethrow() {
        if (!failed_) return;
        const std::scoped_lock lock(mutex_);
        failed_ = false;
        std::rethrow_exception(std::exchange(error_, nullptr));
    }

private:
    void keep(std::exception_ptr error) {
        const std::scoped_lock lock(mutex_);
        if (!failed_.exchange(true)) error_ = std::move(error);
    }

    static inline thread_local bool is_within_ = false;
    std::mutex mutex_;
    std::exception_ptr error_;
    std::atomic<bool> failed_ = false;
};

}  // namespace arges::device

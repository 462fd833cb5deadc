#include "comm/collective_call.hpp"

#include "arges/error.hpp"
#include "comm/roll_call.hpp"

#include <exception>
#include <string>
#include <utility>

namespace arges {

namespace {
thread_local const char* outermost = nullptr;
}

CollectiveCall::Scope::Scope(const char* name) : is_inner(outermost != nullptr) {
    if (!is_inner) outermost = name;
}

CollectiveCall::Scope::~Scope() {
    if (!is_inner) outermost = nullptr;
}

const char* CollectiveCall::current() { return outermost == nullptr ? "a call" : outermost; }

void CollectiveCall::run_callback(const Communicator& ranks, const std::function<void()>& callback) {
    std::exception_ptr own;
    {
        const auto* const around = std::exchange(outermost, nullptr);
        try {
            if (callback) callback();
        } catch (const OutOfStep&) {  // the others have it, too
            outermost = around;
            throw;
        } catch (...) {
            own = std::current_exception();
        }
        outermost = around;
    }
    try {
        ranks.agree([&] {
            if (own) std::rethrow_exception(own);
        });
    } catch (...) {
        if (own) std::rethrow_exception(own);
        throw;
    }
}

void CollectiveCall::compare(const Communicator& ranks, std::uint64_t digest) {
    if (ranks.all_equal(digest)) return;
    throw InvalidArgument(std::string(current()) + ": the arguments differ between ranks; give the same ones on every rank");
}

}  // namespace arges

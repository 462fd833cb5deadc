/// Public calls that all ranks of a communicator make together.
#pragma once

#include "base/digest.hpp"
#include "comm/communicator.hpp"

#include <functional>

namespace arges {

/// Stands at the head of a collective call, for as long as that lasts. Its name is in the messages about ranks that make another call.
class CollectiveCall {
public:
    /// Compares the arguments that must be the same on every rank: hand in all of them, tensors too, see call_arguments.hpp. Inside of
    /// another call nothing is compared: arguments then follow from those of the outer one. Collective.
    /// @param ranks  null: there is one rank only, and nothing is looked at
    /// @throws InvalidArgument on every rank if the arguments differ
    template <class... Arguments>
    CollectiveCall(const Communicator* ranks, const char* name, const Arguments&... arguments)
        : scope_(name), ranks_(scope_.is_inner ? nullptr : ranks) {
        if constexpr (sizeof...(arguments) > 0) require_same(arguments...);
    }

    /// Likewise of arguments that could not be looked at before they were checked. Collective.
    template <class... Arguments>
    void require_same(const Arguments&... arguments) const {
        if (ranks_ == nullptr) return;
        Digest digest;
        (digest.add(arguments), ...);
        compare(*ranks_, digest.value());
    }

    /// Name of the outermost call under way on this thread; "a call" where there is none.
    static const char* current();

    /// Runs a function of the user's in the middle of a call, as progress functions are, or none. Calls that it makes are calls of their
    /// own, with their names, and their arguments are compared. Where it throws, that rank throws the same, and the others what they can
    /// know of it. Collective.
    static void run_callback(const Communicator& ranks, const std::function<void()>& callback);

private:
    /// Notes that a call is under way, also while its constructor still compares arguments.
    struct Scope {
        explicit Scope(const char* name);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
        bool is_inner;  ///< another call is around it
    };
    static void compare(const Communicator& ranks, std::uint64_t digest);
    Scope scope_;
    const Communicator* ranks_;  ///< that are compared
};

}  // namespace arges

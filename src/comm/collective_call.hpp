/// Public calls that all ranks of a communicator make together.
#pragma once

#include "base/digest.hpp"
#include "comm/communicator.hpp"

namespace arges {

/// Stands at the head of a collective call, for as long as that lasts. Its name is in the messages about ranks that make another call.
class CollectiveCall {
public:
    /// Compares the arguments that must be the same on every rank. Inside of another call nothing is compared: arguments then follow from
    /// those of the outer one. Collective. @param ranks  null: there is one rank only
    /// @throws InvalidArgument on every rank if the arguments differ
    template <class... Arguments>
    CollectiveCall(const Communicator* ranks, const char* name, const Arguments&... arguments) : scope_(name) {
        if constexpr (sizeof...(arguments) > 0) {
            if (ranks != nullptr && !scope_.is_inner) {
                Digest digest;
                (digest.add(arguments), ...);
                require_same(*ranks, digest.value());
            }
        }
    }

    /// Name of the outermost call under way on this thread; "a call" where there is none.
    static const char* current();

private:
    /// Notes that a call is under way, also while its constructor still compares arguments.
    struct Scope {
        explicit Scope(const char* name);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
        bool is_inner;  ///< another call is around it
    };
    static void require_same(const Communicator& ranks, std::uint64_t digest);
    Scope scope_;
};

}  // namespace arges

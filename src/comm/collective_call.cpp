#include "comm/collective_call.hpp"

#include "arges/error.hpp"

#include <string>

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

void CollectiveCall::require_same(const Communicator& ranks, std::uint64_t digest) {
    if (ranks.all_equal(digest)) return;
    throw InvalidArgument(std::string(current()) + ": the arguments differ between ranks; give the same ones on every rank");
}

}  // namespace arges

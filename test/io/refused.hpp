/// Checks that wrong input is refused, with the reason.
#pragma once

#include "arges/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace arges::test {

/// Expects that the call throws InvalidArgument with `part` in the message.
template <class F>
void expect_refused_with(const std::string& part, const F& call) {
    try {
        call();
        ADD_FAILURE() << "not refused: " << part;
    } catch (const InvalidArgument& error) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

}  // namespace arges::test

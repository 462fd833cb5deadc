/// What the program's tests have in common.
#pragma once

#include "support/program_run.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace arges::test {

using Json = nlohmann::json;

/// Facts of YAGO: 201,089 nonzeros of order 4.
inline const char* const yago = "test/data/yago-4d.tns.gz";

/// What a run has printed, which must have ended well.
inline Json parsed(const ProgramOutcome& outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? Json::parse(outcome.out) : Json::object();
}

}  // namespace arges::test

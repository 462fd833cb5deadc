/// Runs the `arges` program inside of a test.
#pragma once

#include "cli/program.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace arges::test {

/// What a command line did.
struct ProgramOutcome {
    int code = 0;
    std::string out, err;
};

inline ProgramOutcome run_program(std::vector<const char*> words) {
    words.insert(words.begin(), "arges");
    std::ostringstream out, err;
    const int code = cli::run_program(static_cast<int>(words.size()), words.data(), {out, err});
    return {code, out.str(), err.str()};
}

/// A command line that is answered with one line and an exit code.
struct WrongCommand {
    std::vector<const char*> words;
    int code;
    const char* message;
};

inline void check_wrong_lines(const std::vector<WrongCommand>& commands) {
    for (const auto& command : commands) {
        const auto outcome = run_program(command.words);
        EXPECT_EQ(outcome.code, command.code) << command.message;
        EXPECT_TRUE(outcome.err.starts_with("arges: error: ")) << outcome.err;
        EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
        EXPECT_NE(outcome.err.find(command.message), std::string::npos) << outcome.err;
        EXPECT_TRUE(outcome.out.empty()) << outcome.out;
    }
}

/// ARGES_MACHINE for as long as the object lives.
class MachineFile {
public:
    explicit MachineFile(const std::string& file) {
        if (const char* before = std::getenv("ARGES_MACHINE")) before_ = before;
        setenv("ARGES_MACHINE", file.c_str(), 1);
    }
    ~MachineFile() { before_ ? setenv("ARGES_MACHINE", before_->c_str(), 1) : unsetenv("ARGES_MACHINE"); }
    MachineFile(const MachineFile&) = delete;
    MachineFile& operator=(const MachineFile&) = delete;

private:
    std::optional<std::string> before_;
};

}  // namespace arges::test

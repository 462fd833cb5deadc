/// Other programs that tests start.
#pragma once

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace arges::test {

/// Starts a program with the environment of this one, but without what ties it to the launcher of MPI. Returns its process, or
/// -1.
inline pid_t start_process(const std::string& program, std::vector<std::string> arguments, std::vector<std::string> variables = {}) {
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string text(*variable);
        bool is_tie = false;
        for (const char* prefix : {"PMI", "HYD", "MPI", "OMPI", "LD_PRELOAD"}) is_tie = is_tie || text.starts_with(prefix);
        if (!is_tie) variables.push_back(text);
    }
    const auto pointers = [](std::vector<std::string>& texts) {
        std::vector<char*> result;
        for (auto& text : texts) result.push_back(text.data());
        result.push_back(nullptr);
        return result;
    };
    arguments.insert(arguments.begin(), program);
    pid_t process = -1;
    const auto code = posix_spawnp(&process, program.c_str(), nullptr, nullptr, pointers(arguments).data(), pointers(variables).data());
    return code == 0 ? process : -1;
}

/// Waits for a process; its exit code, or -1 if a signal ended it.
inline int exit_code_of(pid_t process) {
    int status = 0;
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace arges::test

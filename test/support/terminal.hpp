/// Standard error as a terminal.
#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace arges::test {

/// What a call writes to a terminal that is its standard error; no more than the 4 kB that a terminal holds unread.
template <class F>
std::string shown_on_terminal(const F& call) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_TRUE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    const int screen = open(ptsname(terminal), O_RDWR | O_NOCTTY), before = dup(STDERR_FILENO);
    EXPECT_TRUE(screen >= 0 && isatty(screen) != 0);
    dup2(screen, STDERR_FILENO);
    call();
    dup2(before, STDERR_FILENO);
    close(before);
    close(screen);  // then reading ends where the text ends
    std::string text;
    char piece[256];
    for (ssize_t count; (count = read(terminal, piece, sizeof piece)) > 0;) text.append(piece, static_cast<std::size_t>(count));
    close(terminal);
    return text;
}

}  // namespace arges::test

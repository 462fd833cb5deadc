#include "cli/interruption.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>

#include <unistd.h>

namespace arges::cli {

namespace {

/// A line that a signal handler may read at any time: two buffers, of which the one that is not shown is written.
struct Line {
    std::array<char, 1024> text;
    std::size_t length = 0;
};
std::array<Line, 2> lines;
std::atomic<int> shown = 0;
std::atomic<bool> is_speaker = false, notes_first = false;
std::atomic<int> noted = 0;

/// A path that a signal handler may read at any time.
struct Removed {
    std::array<char, 4096> path;
    std::atomic<bool> is_valid;
};
std::array<Removed, 4> removed_files;

extern "C" void end_by_signal(int signal) {
    if (notes_first && noted == 0) {
        noted = signal;
        return;
    }
    const auto& line = lines[shown.load()];
    for (const auto& file : removed_files)
        if (file.is_valid) unlink(file.path.data());
    if (!is_speaker)
        sleep(2);  // a launcher kills the other ranks as soon as one has ended: first the line
    else if (write(STDERR_FILENO, line.text.data(), line.length) < 0)
        _exit(1);
    _exit(128 + signal);
}

}  // namespace

void watch_interruptions(bool speaks) {
    is_speaker = speaks;
    set_interruption_note("no file was changed");
    struct sigaction action = {};
    action.sa_handler = end_by_signal;
    sigfillset(&action.sa_mask);  // launchers send several signals; one line is enough
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

void note_first_signal() { notes_first = true; }

bool is_interrupted(const World& world) { return world.maximum(noted) > 0; }

void end_if_interrupted(const World& world, const std::string& left) {
    if (const auto signal = world.maximum(noted); signal > 0) throw Interrupted{static_cast<int>(signal), left};
}

void remove_when_interrupted(const std::string& path) {
    const auto free = std::find_if(removed_files.begin(), removed_files.end(), [](const Removed& file) { return !file.is_valid; });
    if (free == removed_files.end() || path.size() >= free->path.size()) return;  // the next writer removes it
    std::copy_n(path.c_str(), path.size() + 1, free->path.begin());
    free->is_valid = true;
}

void keep_when_interrupted(const std::string& path) {
    for (auto& file : removed_files)
        if (file.is_valid && path == file.path.data()) file.is_valid = false;
}

void set_interruption_note(const std::string& note) {
    const int next = 1 - shown.load();
    auto& line = lines[next];
    const std::string text = "arges: interrupted; " + note + "\n";
    line.length = std::min(text.size(), line.text.size());
    std::copy_n(text.begin(), line.length, line.text.begin());
    shown = next;
}

}  // namespace arges::cli

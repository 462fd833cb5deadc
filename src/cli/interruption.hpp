/// Ctrl-C and SIGTERM while the program runs.
#pragma once

#include "arges/world.hpp"

#include <string>

namespace arges::cli {

/// From now on SIGINT and SIGTERM end this process with the status that shells give them (130, 143), behind one line on stderr; MPI's
/// launcher then ends the other ranks, which wait up to two seconds so that the line is written first. Files that are written under
/// another name and renamed stay as they were. Local.
/// @param speaks  whether this process writes the line: one of all
void watch_interruptions(bool speaks);

/// From now on the first signal is only noted, for work that soon comes to a place where it can save what there is; a second one ends the
/// process. Local.
void note_first_signal();

/// Thrown on all ranks when a noted signal has ended the work, and what there was has been saved.
struct Interrupted {
    int signal;
    std::string left;  ///< as for set_interruption_note()
};

/// True on all ranks if one of them has noted a signal. Collective.
bool is_interrupted(const World& world);

/// Ends the work on all ranks if one of them has noted a signal. Collective. @param left  as for set_interruption_note()
/// @throws Interrupted
void end_if_interrupted(const World& world, const std::string& left);

/// A file that a signal which ends the process removes: one that only says that a place is taken. Local.
void remove_when_interrupted(const std::string& path);

/// It is no longer removed. Local.
void keep_when_interrupted(const std::string& path);

/// What the line says is left: "molecule.h5 has the amplitudes of iteration 5". At first: no file was changed. Local.
void set_interruption_note(const std::string& note);

}  // namespace arges::cli

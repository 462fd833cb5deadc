/// The `arges` program without its main function, so that tests can run it, and the tables that it writes.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace arges::cli {

/// Where the program writes; on ranks other than 0 the streams lead nowhere.
struct Console {
    std::ostream& out;  ///< results
    std::ostream& err;  ///< one line if something is wrong
};

inline constexpr int exit_success = 0;   ///< all done
inline constexpr int exit_error = 1;     ///< the input or the calculation failed
inline constexpr int exit_usage = 2;     ///< the command line is wrong
inline constexpr int exit_signal = 128;  ///< plus the number of the signal that ended the work, as shells say it

/// Runs a command line. MPI must be initialised. Collective over all processes; every rank gets the
/// same exit code.
int run_program(int argc, const char* const* argv, const Console& console);

/// Rows of cells; the first row is the heading. Columns that `left` names are aligned to the left. Columns that do not fit into 100 letters
/// follow in further tables, behind the first `names` columns again.
std::string table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& left, std::size_t names = 1);

}  // namespace arges::cli

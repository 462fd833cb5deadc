/// Whether this is a checked build (make OPT=checked).
#pragma once

namespace arges {

/// In checked builds what is true by construction is looked at while the program runs: all ranks compare their plans, what runs takes no
/// more memory than its plan says, statements leave their operands as they were, and ranks that make different collective calls are found
/// (RollCall).
#ifdef ARGES_CHECKED
inline constexpr bool is_checked_build = true;
#else
inline constexpr bool is_checked_build = false;
#endif

}  // namespace arges

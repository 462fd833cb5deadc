/// The names of files that are not whole yet.
#pragma once

namespace arges::io {

/// What stands between the name that a file will get and a number: 0 for a claim, else that of a writer.
inline constexpr char part_suffix[] = ".arges-part-";

}  // namespace arges::io

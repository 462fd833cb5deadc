/// That a program will write a file, said before the work that leads to it, and the names of files that are not whole yet.
#pragma once

#include "io/file/parallel_file.hpp"

#include <string>

namespace arges::io {

/// What stands between the name that a file will get and a number: 0 for a claim, else that of a writer.
inline constexpr char part_suffix[] = ".arges-part-";

/// While this lives no other claim for the same path is made, on any node that shares its file system and locks. The claim is an empty file
/// under a lock beside the path, PATH.arges-part-0, which the next writer of the path removes where a program was killed.
class OutputClaim {
public:
    OutputClaim() = default;
    /// Local; on one rank. @throws InvalidArgument if another program has a claim, or the folder cannot be written to
    explicit OutputClaim(const std::string& path);
    ~OutputClaim();
    OutputClaim(OutputClaim&& other) noexcept;
    OutputClaim& operator=(OutputClaim&& other) noexcept;

    /// The file that says so.
    const std::string& file() const { return file_; }

private:
    std::string file_;
    Descriptor lock_;
};

}  // namespace arges::io

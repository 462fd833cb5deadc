/// @file output_claim.hpp
/// That a program will write a file, said before the work that leads to it; and short texts as files.
#pragma once

#include <string>

namespace arges {

/// @cond
class World;
/// @endcond

/// While this lives no other claim for the same path is made, on any node that shares its file system and locks. The claim is an empty file
/// under a lock beside the path, PATH.arges-part-0, which the next writer of the path removes where a program was killed.
class OutputClaim {
public:
    /// No claim.
    OutputClaim() = default;
    /// Local; on one rank. @throws InvalidArgument if another program has a claim, or the folder cannot be written to
    explicit OutputClaim(const std::string& path);
    ~OutputClaim();
    /// Takes the claim over.
    OutputClaim(OutputClaim&& other) noexcept;
    /// Likewise.
    OutputClaim& operator=(OutputClaim&& other) noexcept;

    /// The file that says so.
    const std::string& file() const { return file_; }

private:
    std::string file_;
    int lock_ = -1;  // a file descriptor
};

/// Writes a text of rank 0 as a file, which appears under its name when it is complete. Collective.
/// @throws InvalidArgument on every rank if it cannot be written
void write_text(const World& world, const std::string& text, const std::string& path);

/// The whole text of a file, on every rank; empty where there is no such file. Collective.
/// @throws InvalidArgument on every rank if it is there and cannot be read
std::string read_text(const World& world, const std::string& path);

}  // namespace arges

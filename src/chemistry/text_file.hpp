/// A text file that the ranks of a world read in disjoint parts.
#pragma once

#include "arges/world.hpp"
#include "comm/communicator.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace arges::chemistry {

/// An error at a place of a file; of several the one with the lowest position counts.
struct LocatedError {
    std::int64_t position = none;  ///< byte in the file
    std::string message = {};      ///< what is wrong and what to do

    static constexpr std::int64_t none = INT64_MAX;  ///< position of no error
    /// Keeps the error with the lower position.
    void note(std::int64_t other_position, const std::string& other_message) {
        if (other_position >= position) return;
        position = other_position;
        message = other_message;
    }
};

/// The text of rank `root`, on every rank. Collective.
std::string broadcast_text(const Communicator& comm, const std::string& text, std::int64_t root);
/// The error with the lowest position (of equal ones, that of the lowest rank), on every rank.
/// Collective.
LocatedError first_error(const Communicator& comm, const LocatedError& mine);

/// The lines whose first byte lies in [begin, end) of a file, so that disjoint ranges give every
/// line once. Example "ab\ncd\n": [0,2) gives "ab", [2,6) gives "cd" although the range begins
/// inside "ab".
class LineReader {
public:
    LineReader(const std::string& path, std::int64_t begin, std::int64_t end);

    /// Bytes of the file that are read at once.
    static constexpr std::size_t buffer_bytes = std::size_t(1) << 20;

    /// Moves to the next line, without its end of line; false at the end of the range.
    bool next();
    /// The line. Valid until the next call.
    std::string_view line() const { return line_; }
    /// Position of its first byte.
    std::int64_t position() const { return position_; }

private:
    bool refill();

    std::ifstream stream_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, used_ = 0;  // what is left in the buffer
    std::string_view line_;
    std::int64_t position_ = 0;
    std::int64_t next_position_ = 0;  // in the file, of buffer_[begin_]
    std::int64_t end_ = 0;
};

/// A file that every rank can read, each its own part. Calls are collective unless marked local.
class TextFile {
public:
    /// @throws InvalidArgument if a rank cannot read the file, or it is empty
    TextFile(const World& world, const std::string& path);

    const std::string& path() const { return path_; }
    const Communicator& comm() const { return comm_; }
    /// Length in bytes.
    std::int64_t size() const { return size_; }
    /// The first bytes, at most `count`. Only rank 0 reads; empty elsewhere.
    std::string beginning(std::int64_t count) const;
    /// This rank's share of the lines that begin at or behind `begin`. Local.
    LineReader lines_from(std::int64_t begin) const;
    /// Number of the line, counted from 1, that begins at `position`.
    std::int64_t line_number(std::int64_t position) const;
    /// "name, line 7: " for the line that begins at `position`.
    std::string where(std::int64_t position) const;
    /// Throws InvalidArgument with the first error of all ranks, if there is one; its message
    /// begins with file and line.
    void throw_first(const LocatedError& mine) const;

private:
    /// First byte of the share of rank `rank` of [begin, size).
    std::int64_t share_begin(std::int64_t begin, std::int64_t rank) const;

    Communicator comm_;
    std::string path_;
    std::int64_t size_ = 0;
};

}  // namespace arges::chemistry

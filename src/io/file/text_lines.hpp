/// Text in blocks of whole lines, from a part of a file or from a compressed one.
#pragma once

#include "io/file/parallel_file.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arges::io {

/// Bytes one after the other.
class ByteSource {
public:
    virtual ~ByteSource() = default;
    /// Reads at most `bytes`, at least one unless there are no more. @throws InvalidArgument
    virtual std::size_t read(char* data, std::size_t bytes) = 0;
    /// What is likely to be the number of all.
    virtual double expected_bytes() const = 0;
};

/// The lines of a file whose first byte lies in [begin, end). Disjoint ranges give each line once.
/// Example "ab\ncd\n": [0,2) gives "ab", [2,6) gives "cd" although the range begins inside "ab\n".
class FileLines : public ByteSource {
public:
    FileLines(const InputFile& file, std::int64_t begin, std::int64_t end);
    /// This rank's part of a file, or of what begins at byte `begin`. Local.
    static FileLines part_of(const InputFile& file, std::int64_t begin = 0);
    /// This rank's part of the lines from byte `begin` on, where one begins. The end of a line between two quotes is none; `quote` 0: there
    /// are no quotes. Collective.
    static FileLines part_of(const InputFile& file, std::int64_t begin, char quote);
    std::size_t read(char* data, std::size_t bytes) override;
    const InputFile& file() const { return file_; }
    /// Position of the first line.
    std::int64_t begin() const { return begin_; }
    double expected_bytes() const override { return end_ - begin_; }

private:
    struct ExactRange {
        std::int64_t begin, end;  ///< where lines begin
    };
    FileLines(const InputFile& file, ExactRange range) : file_(file), begin_(range.begin), end_(range.end), next_(range.begin) {}
    /// The first byte of the first line that begins at or behind `position`.
    std::int64_t line_begin(std::int64_t position) const;

    const InputFile& file_;
    std::int64_t begin_ = 0, end_ = 0, next_ = 0;
};

/// Cuts bytes into blocks of whole lines.
class LineBlocks {
public:
    static constexpr std::size_t longest_line = std::size_t{1} << 20;

    /// @param quote  blocks do not end between two of these; 0: there are no quotes
    LineBlocks(ByteSource& source, std::size_t block_bytes, char quote = 0) : source_(source), buffer_(block_bytes), quote_(quote) {}

    /// The next block; every line ends with '\n', also the last one of the file. Empty at the end. Valid until the next call.
    /// @throws InvalidArgument for a line longer than `longest_line`, without file and number
    std::string_view next();
    /// Lines in the blocks so far; after an error all lines before it.
    std::int64_t lines() const { return lines_; }
    /// Lines in the latest block.
    std::int64_t lines_of_block() const { return lines_of_block_; }

private:
    std::size_t read_more();
    std::size_t whole_lines(std::size_t searched) const;

    ByteSource& source_;
    std::vector<char> buffer_;
    char quote_;
    std::size_t used_ = 0;   // bytes in the buffer
    std::size_t given_ = 0;  // of these, given out by the latest call
    std::int64_t lines_ = 0, lines_of_block_ = 0;
    bool ended_ = false;
};

/// The lines of a part of a file, one at a time.
class LineReader {
public:
    static constexpr std::size_t block_bytes = std::size_t{1} << 18;

    explicit LineReader(const FileLines& part) : source_(part), blocks_(source_, block_bytes), next_(part.begin()) {}
    LineReader(const LineReader&) = delete;
    LineReader& operator=(const LineReader&) = delete;

    /// Moves to the next line; false behind the last one. Local. @throws InvalidArgument as LineBlocks::next(), with file and place
    bool next();
    /// The line without its end. Valid until the next call.
    std::string_view line() const { return line_; }
    /// Position of its first byte in the file.
    std::int64_t position() const { return position_; }

private:
    FileLines source_;
    LineBlocks blocks_;
    std::string_view rest_, line_;  // of the block
    std::int64_t position_ = 0, next_ = 0;
};

/// Number of the line, counted from 1, that begins at `position`. Collective.
std::int64_t line_number(const InputFile& file, std::int64_t position);

/// A piece of a line for a message: what cannot be printed becomes "?", what is long is cut.
std::string quoted(std::string_view text);

}  // namespace arges::io

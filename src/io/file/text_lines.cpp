// Lines of a byte range: those whose first byte is in it, so that disjoint ranges give each line
// once, in blocks that end with a whole line.
#include "io/file/text_lines.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace arges::io {

FileLines::FileLines(const InputFile& file, std::int64_t begin, std::int64_t end)
    : file_(file), begin_(line_begin(begin)), end_(line_begin(end)), next_(begin_) {}

FileLines FileLines::part_of(const InputFile& file, std::int64_t begin) {
    const auto rank = file.comm().rank(), ranks = file.comm().size(), bytes = std::max<std::int64_t>(0, file.size() - begin);
    return {file, begin + part_begin(bytes, rank, ranks), begin + part_begin(bytes, rank + 1, ranks)};
}

std::int64_t FileLines::line_begin(std::int64_t position) const {
    if (position == 0) return 0;
    std::array<char, 4096> text;
    for (auto at = position - 1; at < file_.size();) {
        const auto got = file_.read(at, text.data(), text.size());
        if (got == 0) break;
        if (const void* found = std::memchr(text.data(), '\n', got)) return at + (static_cast<const char*>(found) - text.data()) + 1;
        at += static_cast<std::int64_t>(got);
    }
    return file_.size();
}

std::size_t FileLines::read(char* data, std::size_t bytes) {
    const auto got = file_.read(next_, data, std::min(bytes, static_cast<std::size_t>(end_ - next_)));
    next_ += static_cast<std::int64_t>(got);
    return got;
}

/// Bytes that came behind those in the buffer.
std::size_t LineBlocks::read_more() {
    try {
        return source_.read(buffer_.data() + used_, buffer_.size() - used_ - 1);
    } catch (const InvalidArgument&) {
        lines_ += std::count(buffer_.data(), buffer_.data() + used_, '\n');  // so that the caller knows the line
        throw;
    }
}

std::string_view LineBlocks::next() {
    std::memmove(buffer_.data(), buffer_.data() + given_, used_ - given_);
    used_ -= given_;
    given_ = 0;
    lines_of_block_ = 0;
    std::size_t searched = 0;
    while (!ended_) {
        if (buffer_.size() - used_ < 2) buffer_.resize(2 * buffer_.size());  // a line that is longer than a block
        const auto got = read_more();
        used_ += got;
        ended_ = got == 0;
        const bool full = buffer_.size() - used_ < 2;
        if (!full && !ended_) continue;
        if (const void* found = memrchr(buffer_.data() + searched, '\n', used_ - searched)) {
            given_ = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data()) + 1;
            break;
        }
        searched = used_;
        if (used_ > longest_line)
            throw InvalidArgument("the line is longer than " + std::to_string(longest_line) +
                                  " bytes; this is not a text file with one entry on each line");
    }
    if (ended_ && used_ > given_) {
        if (buffer_[used_ - 1] != '\n') buffer_[used_++] = '\n';
        given_ = used_;
    }
    lines_of_block_ = std::count(buffer_.data(), buffer_.data() + given_, '\n');
    lines_ += lines_of_block_;
    return {buffer_.data(), given_};
}

bool LineReader::next() {
    if (rest_.empty()) {
        try {
            rest_ = blocks_.next();
        } catch (const InvalidArgument& error) {
            throw InvalidArgument(source_.file().path() + ", from byte " + std::to_string(next_) + " on: " + error.what());
        }
        if (rest_.empty()) return false;
    }
    const auto length = rest_.find('\n');
    line_ = rest_.substr(0, length);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    position_ = next_;
    next_ += static_cast<std::int64_t>(length) + 1;
    rest_.remove_prefix(length + 1);
    return true;
}

std::int64_t line_number(const InputFile& file, std::int64_t position) {
    std::int64_t before = 0;
    file.comm().agree([&] {
        for (LineReader lines(FileLines::part_of(file)); lines.next() && lines.position() < position;) ++before;
    });
    return file.comm().sum(before) + 1;
}

std::string quoted(std::string_view text) {
    constexpr std::size_t most = 40;
    std::string result = "'";
    for (char c : text.substr(0, most)) result += c >= ' ' && c <= '~' ? c : '?';
    return result + (text.size() > most ? "...'" : "'");
}

}  // namespace arges::io

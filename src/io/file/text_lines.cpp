// Lines of a byte range: those whose first byte is in it, so that disjoint ranges give each line
// once, in blocks that end with a whole line.
#include "io/file/text_lines.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
#include "comm/values.hpp"

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

namespace {

/// The first byte of the first line from `from` on, which is not the first one. @param is_inside  `from` is between quotes
std::int64_t record_begin(const InputFile& file, std::int64_t from, bool is_inside, char quote) {
    std::vector<char> text(std::size_t{1} << 16);
    for (auto at = from - 1; at < file.size();) {
        const auto got = file.read(at, text.data(), text.size());
        if (got == 0) break;
        if (at == from - 1 && text[0] == quote) is_inside = !is_inside;  // as it was before that byte
        for (std::size_t i = 0; i < got; ++i) {
            if (text[i] == quote) is_inside = !is_inside;
            if (text[i] == '\n' && !is_inside) return at + static_cast<std::int64_t>(i) + 1;
        }
        at += static_cast<std::int64_t>(got);
    }
    return file.size();
}

std::int64_t count_of(const InputFile& file, std::int64_t begin, std::int64_t end, char sign) {
    std::vector<char> text(std::size_t{1} << 20);
    std::int64_t count = 0;
    for (auto at = begin; at < end;) {
        const auto got = file.read(at, text.data(), std::min(text.size(), static_cast<std::size_t>(end - at)));
        if (got == 0) break;
        count += std::count(text.data(), text.data() + got, sign);
        at += static_cast<std::int64_t>(got);
    }
    return count;
}

}  // namespace

FileLines FileLines::part_of(const InputFile& file, std::int64_t begin, char quote) {
    const auto& comm = file.comm();
    const auto bytes = std::max<std::int64_t>(0, file.size() - begin);
    const auto first = begin + part_begin(bytes, comm.rank(), comm.size()),
               behind = begin + part_begin(bytes, comm.rank() + 1, comm.size());
    std::int64_t quotes = 0;
    comm.agree([&] {
        if (quote != 0 && comm.size() > 1) quotes = count_of(file, first, behind, quote);
    });
    const bool is_inside = sum_before(comm, quotes) % 2 != 0;
    std::vector<std::int64_t> mine{first};
    comm.agree([&] {
        if (comm.rank() > 0) mine[0] = record_begin(file, first, is_inside, quote);
    });
    auto begins = gathered(comm, mine);
    begins.push_back(file.size());
    return {file, ExactRange{begins[comm.rank()], begins[comm.rank() + 1]}};
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

/// Length of the whole lines in the buffer, of which so many bytes have been searched in vain.
std::size_t LineBlocks::whole_lines(std::size_t searched) const {
    const char* const text = buffer_.data();
    if (quote_ == 0) {
        const void* const found = memrchr(text + searched, '\n', used_ - searched);
        return found == nullptr ? 0 : static_cast<std::size_t>(static_cast<const char*>(found) - text) + 1;
    }
    bool is_inside = std::count(text, text + used_, quote_) % 2 != 0;
    for (auto end = used_; end > 0; --end) {
        if (text[end - 1] == quote_) is_inside = !is_inside;
        if (text[end - 1] == '\n' && !is_inside) return end;
    }
    return 0;
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
        given_ = whole_lines(searched);
        if (given_ > 0) break;
        searched = used_;
        if (used_ > longest_line)
            throw InvalidArgument("the line is longer than " + std::to_string(longest_line) +
                                  (quote_ == 0 ? " bytes; this is not a text file with one entry on each line"
                                               : " bytes; this is no table, or a quote is not closed: close it, or say that there are no "
                                                 "quotes (--quotes no)"));
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

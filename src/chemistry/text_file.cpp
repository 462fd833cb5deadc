#include "chemistry/text_file.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace arges::chemistry {

namespace {

struct FileState {
    std::int64_t size = -1;
    std::string problem;
};

FileState look_at(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code code;
    const auto status = fs::status(path, code);
    if (!fs::exists(status)) return {-1, "there is no such file; check the path"};
    if (fs::is_directory(status)) return {-1, "this is a directory; name a file in it"};
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return {-1, "the file cannot be opened; check its permissions"};
    stream.seekg(0, std::ios::end);
    const std::int64_t size = static_cast<std::int64_t>(stream.tellg());
    if (size < 0) return {-1, "this cannot be read from any position; copy it to a regular file"};
    return {size, ""};
}

}  // namespace

std::string broadcast_text(const Communicator& comm, const std::string& text, std::int64_t root) {
    std::string result = text;
    comm.broadcast(result, root);
    return result;
}

LocatedError first_error(const Communicator& comm, const LocatedError& mine) {
    const std::int64_t position = comm.minimum(mine.position);
    if (position == LocatedError::none) return {};
    const std::int64_t root = comm.minimum(mine.position == position ? comm.rank() : comm.size());
    return {position, broadcast_text(comm, mine.message, root)};
}

LineReader::LineReader(const std::string& path, std::int64_t begin, std::int64_t end)
    : buffer_(buffer_bytes), next_position_(begin), end_(end) {
    stream_.rdbuf()->pubsetbuf(nullptr, 0);  // blocks are read as they are
    stream_.open(path, std::ios::binary);
    if (begin == 0 || begin >= end) {
        stream_.seekg(begin);
        return;
    }
    // The rest of a line that began before belongs to the reader of that part.
    stream_.seekg(begin - 1);
    next_position_ = begin - 1;
    next();
}

/// Reads behind what is left; false where there is no more. A line that is longer than the buffer makes that grow.
bool LineReader::refill() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, used_ - begin_);
    used_ -= begin_;
    begin_ = 0;
    if (used_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
    stream_.read(buffer_.data() + used_, static_cast<std::streamsize>(buffer_.size() - used_));
    const auto got = static_cast<std::size_t>(stream_.gcount());
    used_ += got;
    return got > 0;
}

bool LineReader::next() {
    if (next_position_ >= end_) return false;
    const void* found = nullptr;
    for (std::size_t searched = begin_;;) {
        found = std::memchr(buffer_.data() + searched, '\n', used_ - searched);
        if (found != nullptr) break;
        const std::size_t known = used_ - begin_;
        if (!refill()) break;
        searched = known;
    }
    if (found == nullptr && begin_ == used_) return false;
    const auto end = found != nullptr ? static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data()) : used_;
    line_ = {buffer_.data() + begin_, end - begin_};
    position_ = next_position_;
    const std::size_t next = std::min(used_, end + 1);
    next_position_ += static_cast<std::int64_t>(end + 1 - begin_);
    begin_ = next;
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    return true;
}

TextFile::TextFile(const World& world, const std::string& path)
    : comm_(world.communicator()), path_(path) {
    const FileState state = look_at(path);
    size_ = state.size;
    comm_.broadcast(&size_, sizeof size_, 0);
    comm_.agree([&] {
        if (state.size < 0 && comm_.rank() == 0) throw InvalidArgument(path + ": " + state.problem);
        if (state.size != size_)
            throw InvalidArgument(path + ": rank " + std::to_string(comm_.rank()) +
                                  " does not see the file that " +
                                  "rank 0 sees; put it on a file system that all nodes share");
    });
    if (size_ == 0) throw InvalidArgument(path + ": the file is empty");
}

std::string TextFile::beginning(std::int64_t count) const {
    if (comm_.rank() != 0) return "";
    std::string text(static_cast<std::size_t>(std::min(count, size_)), '\0');
    std::ifstream stream(path_, std::ios::binary);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return text;
}

std::int64_t TextFile::share_begin(std::int64_t begin, std::int64_t rank) const {
    const std::int64_t length = std::max<std::int64_t>(0, size_ - begin);
    const std::int64_t share = length / comm_.size(), rest = length % comm_.size();
    return begin + rank * share + std::min<std::int64_t>(rank, rest);
}

LineReader TextFile::lines_from(std::int64_t begin) const {
    return {path_, share_begin(begin, comm_.rank()), share_begin(begin, comm_.rank() + 1)};
}

std::int64_t TextFile::line_number(std::int64_t position) const {
    std::int64_t before = 0;
    for (LineReader lines = lines_from(0); lines.next() && lines.position() < position;) ++before;
    return comm_.sum(before) + 1;
}

std::string TextFile::where(std::int64_t position) const {
    return path_ + ", line " + std::to_string(line_number(position)) + ": ";
}

void TextFile::throw_first(const LocatedError& mine) const {
    const LocatedError error = first_error(comm_, mine);
    if (error.position != LocatedError::none)
        throw InvalidArgument(where(error.position) + error.message);
}

}  // namespace arges::chemistry

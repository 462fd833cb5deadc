#include "io/table/table_source.hpp"

#include "arges/error.hpp"
#include "comm/values.hpp"
#include "io/file/foreign_form.hpp"
#include "io/file/gz.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace arges::io {

namespace {

constexpr std::size_t beginning_bytes = std::size_t{1} << 18;

class StandardInput : public ByteSource {
public:
    std::size_t read(char* data, std::size_t bytes) override {
        for (;;) {
            const auto got = ::read(STDIN_FILENO, data, bytes);
            if (got >= 0) return static_cast<std::size_t>(got);
            if (errno != EINTR) throw InvalidArgument(std::string("reading failed (") + std::strerror(errno) + "); check what writes it");
        }
    }
    double expected_bytes() const override { return 0; }
};

/// A text that was read already, and what follows.
class ReadBefore : public ByteSource {
public:
    ReadBefore(std::string text, std::unique_ptr<ByteSource> rest) : text_(std::move(text)), rest_(std::move(rest)) {}
    std::size_t read(char* data, std::size_t bytes) override {
        if (at_ == text_.size()) return rest_->read(data, bytes);
        const auto count = text_.copy(data, bytes, at_);
        at_ += count;
        return count;
    }
    double expected_bytes() const override { return rest_->expected_bytes(); }

private:
    std::string text_;
    std::unique_ptr<ByteSource> rest_;
    std::size_t at_ = 0;
};

}  // namespace

TableSource::TableSource(const Communicator& comm, const std::string& path) : name_(path == "-" ? "standard input" : path) {
    if (path != "-") file_.emplace(comm, path);
    is_stream_ = from_first_rank(comm, [&] {
        std::array<std::byte, 20> first{};
        if (!file_) return true;
        return is_gzip(std::span<const std::byte>(first).first(file_->read(0, first.data(), first.size())));
    });
    comm.agree([&] {
        if (comm.rank() == 0) read_beginning();
    });
}

/// Whole lines, unless the first one is longer.
void TableSource::read_beginning() {
    if (!file_)
        source_ = std::make_unique<StandardInput>();
    else if (is_stream_)
        source_ = std::make_unique<GzipSource>(*file_);
    else
        source_ = std::make_unique<FileLines>(*file_, 0, file_->size());
    std::string text(beginning_bytes, '\0');
    std::size_t used = 0;
    bool has_ended = false;
    try {
        while (!has_ended && used < text.size()) {
            const auto got = source_->read(text.data() + used, text.size() - used);
            used += got;
            has_ended = got == 0;
        }
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(name_ + ": " + error.what());
    }
    text.resize(used);
    if (used == 0) throw InvalidArgument(name_ + ": there is nothing to read; check how it was made");
    const auto bytes = std::as_bytes(std::span(text));
    if (!file_ && is_gzip(bytes)) throw InvalidArgument(name_ + ": this is compressed; unpack it on the way (zcat)");
    if (text.starts_with("ARGESTNS"))
        throw InvalidArgument(name_ + ": the file is a sparse tensor in binary form, and no table; leave out the columns");
    if (const auto foreign = foreign_form(bytes); !foreign.empty())
        throw InvalidArgument(name_ + ": the file is " + foreign + "; tables are read from text, which may be compressed by gzip");
    if (has_ended) {
        beginning_ = std::move(text);
        if (!beginning_.ends_with('\n')) beginning_ += '\n';
        return;
    }
    const auto end = text.rfind('\n');
    if (end == std::string::npos)
        throw InvalidArgument(name_ + ": the first line is longer than " + std::to_string(beginning_bytes) + " bytes; this is no table");
    beginning_ = text.substr(0, end + 1);
    rest_ = text.substr(end + 1);
}

std::unique_ptr<ByteSource> TableSource::stream_from(std::int64_t place) {
    return std::make_unique<ReadBefore>(beginning_.substr(place) + rest_, std::move(source_));
}

}  // namespace arges::io

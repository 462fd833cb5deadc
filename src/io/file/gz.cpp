#include "io/file/gz.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <new>
#include <zlib.h>

namespace arges::io {

namespace {
constexpr int gzip_window_bits = 15 + 16;  // 16: with gzip header and trailer
constexpr std::size_t piece_bytes = std::size_t{1} << 18;
}  // namespace

bool is_gzip(std::span<const std::byte> beginning) {
    return beginning.size() >= 2 && beginning[0] == std::byte{0x1f} && beginning[1] == std::byte{0x8b};
}

struct GzipSource::Stream : z_stream {};
struct GzipMember::Stream : z_stream {};

GzipSource::GzipSource(const InputFile& file) : file_(file), stream_(new Stream{}), input_(piece_bytes) {
    if (inflateInit2(stream_.get(), gzip_window_bits) != Z_OK) throw std::bad_alloc();
}
GzipSource::~GzipSource() { inflateEnd(stream_.get()); }

bool GzipSource::refill() {
    const auto got = file_.read(next_, input_.data(), input_.size());
    next_ += static_cast<std::int64_t>(got);
    stream_->next_in = input_.data();
    stream_->avail_in = static_cast<uInt>(got);
    return got > 0;
}

std::size_t GzipSource::read(char* data, std::size_t bytes) {
    auto& z = *stream_;
    z.next_out = reinterpret_cast<Bytef*>(data);
    z.avail_out = static_cast<uInt>(std::min<std::size_t>(bytes, std::size_t{1} << 30));
    const auto wanted = z.avail_out;
    while (z.avail_out == wanted) {
        if (z.avail_in == 0 && !refill()) {
            if (in_member_ || next_ == 0)
                throw InvalidArgument("the compressed data end too early; the file is truncated: copy or make it again");
            return 0;
        }
        if (!in_member_ && next_ > static_cast<std::int64_t>(z.avail_in) && *z.next_in == 0) {  // padding behind a member
            ++z.next_in;
            --z.avail_in;
            continue;
        }
        in_member_ = true;
        const int code = inflate(&z, Z_NO_FLUSH);
        if (code == Z_STREAM_END) {
            in_member_ = false;
            inflateReset(&z);
        } else if (code == Z_MEM_ERROR) {
            throw std::bad_alloc();
        } else if (code != Z_OK && code != Z_BUF_ERROR && z.avail_out == wanted) {  // what is good goes out first
            throw InvalidArgument(std::string("the compressed data are damaged (zlib: ") + (z.msg ? z.msg : "data error") +
                                  "); copy or make the file again");
        }
    }
    given_ += wanted - z.avail_out;
    return wanted - z.avail_out;
}

double GzipSource::expected_bytes() const {
    const auto used = std::max<std::int64_t>(1, next_ - static_cast<std::int64_t>(stream_->avail_in));
    return static_cast<double>(given_) / used * static_cast<double>(file_.size());
}

GzipMember::GzipMember() : stream_(new Stream{}) {
    constexpr int level = 3, memory_level = 8;  // numbers hardly get smaller with more
    if (deflateInit2(stream_.get(), level, Z_DEFLATED, gzip_window_bits, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
}
GzipMember::~GzipMember() { deflateEnd(stream_.get()); }

void GzipMember::deflate_all(int flush) {
    auto& z = *stream_;
    int code = Z_OK;
    do {
        const auto used = output_.size();
        output_.resize(used + piece_bytes);
        z.next_out = reinterpret_cast<Bytef*>(output_.data() + used);
        z.avail_out = static_cast<uInt>(piece_bytes);
        code = deflate(&z, flush);
        output_.resize(used + piece_bytes - z.avail_out);
    } while (flush == Z_FINISH ? code != Z_STREAM_END : z.avail_in > 0);
}

void GzipMember::add(std::string_view text) {
    auto& z = *stream_;
    for (std::size_t done = 0; done < text.size(); done += piece_bytes) {
        const auto piece = text.substr(done, piece_bytes);
        z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
        z.avail_in = static_cast<uInt>(piece.size());
        deflate_all(Z_NO_FLUSH);
    }
}

std::vector<char> GzipMember::finish() {
    deflate_all(Z_FINISH);
    return std::move(output_);
}

}  // namespace arges::io

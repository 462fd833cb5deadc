/// gzip (RFC 1952) by zlib: inflating a file in blocks, and deflating pieces that may be joined.
#pragma once

#include "io/file/text_lines.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace arges::io {

/// The inflated bytes of a gzip file of one or more members. Local.
class GzipSource : public ByteSource {
public:
    explicit GzipSource(const InputFile& file);
    ~GzipSource() override;
    /// @throws InvalidArgument if the file is truncated or damaged, without file and place
    std::size_t read(char* data, std::size_t bytes) override;
    /// From the rate so far.
    double expected_bytes() const override;

private:
    struct Stream;
    bool refill();

    const InputFile& file_;
    std::unique_ptr<Stream> stream_;
    std::vector<unsigned char> input_;
    std::int64_t next_ = 0, given_ = 0;
    bool in_member_ = false;
};

/// True if a file that begins with these bytes is compressed.
bool is_gzip(std::span<const std::byte> beginning);

/// One gzip member, made piece by piece. Members written one after the other are a gzip file.
class GzipMember {
public:
    GzipMember();
    ~GzipMember();
    /// Adds text.
    void add(std::string_view text);
    /// Ends the member and returns it.
    std::vector<char> finish();

private:
    struct Stream;
    void deflate_all(int flush);

    std::unique_ptr<Stream> stream_;
    std::vector<char> output_;
};

}  // namespace arges::io

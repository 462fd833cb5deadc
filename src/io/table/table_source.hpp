/// Where the bytes of a table come from: a file, plain or compressed, or standard input.
#pragma once

#include "io/file/text_lines.hpp"

#include <memory>
#include <optional>
#include <string>

namespace arges::io {

/// A table that is open, with its first bytes.
class TableSource {
public:
    /// Collective. @throws InvalidArgument on every rank if the file cannot be read, or is no text
    TableSource(const Communicator& comm, const std::string& path);

    /// "standard input" for "-".
    const std::string& name() const { return name_; }
    /// A plain file, which all ranks read; null: a stream, which rank 0 reads.
    const InputFile* plain_file() const { return is_stream_ ? nullptr : &*file_; }
    /// For a report: "table", "gzip table".
    std::string form() const { return is_stream_ && file_ ? "gzip table" : "table"; }
    /// Bytes of the file; of standard input those of the beginning.
    std::int64_t bytes() const { return file_ ? file_->size() : std::ssize(beginning_); }
    /// First lines, the last one with its end. On rank 0.
    std::string_view beginning() const { return beginning_; }
    /// The stream from some place in the beginning on. Once; on rank 0.
    std::unique_ptr<ByteSource> stream_from(std::int64_t place);

private:
    void read_beginning();

    std::string name_;
    std::optional<InputFile> file_;
    bool is_stream_ = false;
    std::unique_ptr<ByteSource> source_;  ///< behind what was read
    std::string beginning_, rest_;        ///< whole lines that were read; what was read behind them
};

}  // namespace arges::io

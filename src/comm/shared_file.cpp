#include "comm/shared_file.hpp"

#include "arges/error.hpp"

#include <algorithm>

namespace arges {

namespace {

void file_check(int code, const std::string& call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw MpiError(call + ": " + std::string(text, length));
}

/// Calls piece(offset, count) for pieces that MPI can count; ranks may have other numbers of them.
template <class Piece>
void in_pieces(std::int64_t bytes, const Piece& piece) {
    constexpr std::int64_t largest = std::int64_t{1} << 30;
    for (std::int64_t done = 0; done < bytes; done += largest) piece(done, static_cast<int>(std::min(largest, bytes - done)));
}

}  // namespace

void write_at(MPI_File file, std::int64_t offset, const char* data, std::int64_t bytes) {
    in_pieces(bytes, [&](std::int64_t done, int count) {
        file_check(MPI_File_write_at(file, offset + done, data + done, count, MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_write_at");
    });
}

void read_at(MPI_File file, std::int64_t offset, char* data, std::int64_t bytes) {
    in_pieces(bytes, [&](std::int64_t done, int count) {
        MPI_Status status;
        file_check(MPI_File_read_at(file, offset + done, data + done, count, MPI_BYTE, &status), "MPI_File_read_at");
        int got = 0;
        MPI_Get_count(&status, MPI_BYTE, &got);
        if (got != count) throw MpiError("the file ends within the tensor; give the offset at which it was written");
    });
}

SharedFile::SharedFile(MPI_Comm comm, const char* path, bool writes)
    : path_(path), code_(MPI_File_open(comm, path, writes ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY, MPI_INFO_NULL, &file_)) {}

SharedFile::~SharedFile() {
    if (code_ == MPI_SUCCESS) MPI_File_close(&file_);
}

void SharedFile::check() const { file_check(code_, "MPI_File_open " + path_); }

}  // namespace arges

/// @file shared_file.hpp
/// Files that are read and written through MPI, those too that the user has opened.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace arges {

/// Bytes of this rank, from `offset` on, to a file or from it. Local. @throws MpiError, on this rank only
void write_at(MPI_File file, std::int64_t offset, const char* data, std::int64_t bytes);
void read_at(MPI_File file, std::int64_t offset, char* data, std::int64_t bytes);

/// A file that the ranks of a communicator have open together.
class SharedFile {
public:
    /// Collective; so is the end of its life.
    SharedFile(MPI_Comm comm, const char* path, bool writes);
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;
    ~SharedFile();
    /// Local. @throws MpiError if it could not be opened, maybe on this rank only
    void check() const;
    MPI_File get() const { return file_; }

private:
    std::string path_;
    MPI_File file_ = MPI_FILE_NULL;
    int code_;
};

}  // namespace arges

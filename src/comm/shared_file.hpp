/// @file shared_file.hpp
/// Files that the user has opened through MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>

namespace arges {

/// Bytes of this rank, from `offset` on, to a file or from it. Collective over the ranks that have opened it. @throws MpiError
void write_at(MPI_File file, std::int64_t offset, const char* data, std::int64_t bytes);
void read_at(MPI_File file, std::int64_t offset, char* data, std::int64_t bytes);
/// A file that all ranks of a communicator open for the time of a call. Collective. @throws MpiError where it cannot be opened
void with_file(MPI_Comm comm, const char* path, bool writes, const std::function<void(MPI_File)>& work);

}  // namespace arges

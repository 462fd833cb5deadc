/// @file attached.hpp
/// Objects that live as long as a communicator of the user's.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>

namespace arges {

/// The object that belongs to a communicator: made by the first call, gone when the communicator is freed or MPI_Finalize begins.
/// Collective where `make` is.
std::shared_ptr<void> attached(MPI_Comm comm, const std::function<std::shared_ptr<void>()>& make);
/// Runs at the beginning of MPI_Finalize, after which there are no attached objects. Local.
void at_end_of_mpi(std::function<void()> work);
/// Ranks of a communicator, and which of them this is. Local. @throws InvalidArgument unless MPI runs and there is a communicator
void size_and_rank(MPI_Comm comm, int& size, int& rank);

}  // namespace arges

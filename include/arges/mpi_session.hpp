/// @file mpi_session.hpp
/// MPI for the lifetime of a program.
#pragma once

namespace arges {

/// Initialises MPI, and finalises it in the destructor. For programs that do not call MPI_Init() themselves.
class MpiSession {
public:
    /// From the arguments of main(). Collective. @throws MpiError
    MpiSession(int& argc, char**& argv);
    ~MpiSession();
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    /// Rank among all processes of the program. Local.
    int rank() const;
    /// Ends all processes at once: only for an error that a single one of them sees. Local.
    [[noreturn]] void abort(int code) const;
};

}  // namespace arges

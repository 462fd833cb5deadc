/// Ranks that others wait for: the calls that ranks make are compared within a time, and a notice says which calls some do not make.
#pragma once

#include "arges/error.hpp"

#include <mpi.h>

#include <cstdint>
#include <string>

namespace arges {

/// What RollCall::meet() throws: on every rank that came, so that it must not be told to the others again.
class OutOfStep : public InvalidArgument {
public:
    using InvalidArgument::InvalidArgument;
};

/// Every rank tells the first one what it is about to do, and waits for its word that all ranks do the same. After a time a rank gives up,
/// so that a collective call which not all ranks make ends with an exception instead of a hang. (ARGES_CALL_TIMEOUT)
class RollCall {
public:
    /// @param comm  of the ranks, which is duplicated. Collective. @param seconds  to wait for the others
    RollCall(MPI_Comm comm, double seconds);
    ~RollCall();
    RollCall(const RollCall&) = delete;
    RollCall& operator=(const RollCall&) = delete;

    /// Collective. @throws OutOfStep on every rank if ranks say different things; on those that have waited, if some do not come
    void meet(const std::string& what);

private:
    /// What a rank says, or the word of the first one: an empty text if all is well.
    struct Message {
        std::int64_t number = 0;
        char text[504] = {};
    };
    std::string hear_all(const Message& own);
    std::string wait_for_word(const Message& own);
    bool receive(Message& message, int peer, int tag, double deadline) const;

    MPI_Comm comm_ = MPI_COMM_NULL;
    double seconds_;
    int rank_ = 0, size_ = 1;
    std::int64_t number_ = 0;  // of the meeting
};

/// Stands around a step that waits for other ranks. A thread of the process looks now and then; where the step lasts longer than a time, it
/// writes the rank and the public call to standard error, once in a process. (ARGES_WAIT_NOTICE)
class LongWait {
public:
    /// @param seconds  until the word; 0: none. One thread at a time waits.
    LongWait(int rank, double seconds);
    ~LongWait();
    LongWait(const LongWait&) = delete;
    LongWait& operator=(const LongWait&) = delete;
};

}  // namespace arges

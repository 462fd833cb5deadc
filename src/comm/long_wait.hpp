/// A word about calls that other ranks do not come to.
#pragma once

namespace arges {

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

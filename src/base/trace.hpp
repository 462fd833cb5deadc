/// ARGES_TRACE: what each executed step of a statement planned and took, as lines and as events for a trace viewer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace arges {

/// A step as it was planned, and as it went on this rank.
struct StepRecord {
    std::string statement;  ///< C[ia] <- X[ijk] A[ja] B[ka]
    std::string kind;       ///< movement, pairwise, rows or fused
    std::string grid;       ///< labels and packed groups with more than one rank: "i=2 (ab)=3"
    double planned_seconds = 0, seconds = 0;
    double exposed_seconds = 0;      ///< of `seconds`: that messages kept the rank, not hidden behind its products
    std::int64_t planned_bytes = 0;  ///< that this rank sends
    std::int64_t bytes = 0;          ///< that it has sent
    double start_microseconds = 0;   ///< of system time, so that ranks can be put side by side
};

/// The line of rank 0, with a line feed.
std::string to_line(const StepRecord& record);
/// A complete event ("ph":"X") of Chrome's trace format.
std::string to_event(const StepRecord& record, std::int64_t process);

class TraceFile;

/// Notes the steps of one world. Several worlds of a process write to one file.
class Trace {
public:
    /// Null unless ARGES_TRACE is set. Local. @param process  by which files and events are told apart @throws InvalidArgument if the file
    /// cannot be written
    static std::shared_ptr<Trace> from_option(std::int64_t rank, std::int64_t process);
    Trace(std::int64_t rank, std::int64_t process, std::shared_ptr<TraceFile> file)
        : rank_(rank), process_(process), file_(std::move(file)) {}

    /// Rank 0 prints its line; the event is kept for write().
    void add(const StepRecord& record);
    /// Brings the events to the file, which is valid JSON afterwards. Local.
    void write();

private:
    std::int64_t rank_, process_;
    std::shared_ptr<TraceFile> file_;  // null: lines only
    std::string events_;
};

}  // namespace arges

/// Files that all ranks read or write at once, each at its own places, by POSIX calls.
#pragma once

#include "comm/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace arges::io {

/// What stands between the name that a file will get and a number: 0 for an OutputClaim, else that of a writer.
inline constexpr char part_suffix[] = ".arges-part-";

/// An owned file descriptor.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { close(); }

    int number() const { return number_; }
    /// Closes now. Returns false if the system reports an error, for example of a delayed write.
    bool close();

private:
    int number_ = -1;
};

/// A regular file that every rank reads.
class InputFile {
public:
    /// Collective. @throws InvalidArgument on every rank if the file is missing, a directory, empty, or not the same on all
    InputFile(const Communicator& comm, const std::string& path);

    const std::string& path() const { return path_; }
    const Communicator& comm() const { return comm_; }
    /// Length in bytes.
    std::int64_t size() const { return size_; }
    /// Reads at most `bytes` bytes from `offset` on; fewer only at the end of the file. Local.
    /// @throws InvalidArgument if the system cannot read
    std::size_t read(std::int64_t offset, void* data, std::size_t bytes) const;
    /// Reads exactly so many. @throws InvalidArgument if the file ends before
    void read_exactly(std::int64_t offset, void* data, std::size_t bytes) const;

private:
    Communicator comm_;
    std::string path_;
    Descriptor file_;
    std::int64_t size_ = 0;
};

/// Removes unfinished files for a name whose writers have ended. Local; on one rank.
void remove_dead_parts(const std::string& path);

/// A file that every rank writes its part of. It gets its name at publish(), and replaces an older file of that name then;
/// before, it leaves nothing behind if it is destroyed. Until then it lies beside that name as NAME.arges-part-N, under a lock
/// that the system takes from a process that ends. What a writer that was killed has left is removed by the next one for the
/// same name.
class OutputFile {
public:
    /// Collective. @throws InvalidArgument on every rank if the file cannot be made
    OutputFile(const Communicator& comm, const std::string& path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    const Communicator& comm() const { return comm_; }
    /// The name that it has before publish().
    const std::string& temporary() const { return temporary_; }
    /// Writes at a place. Local. @throws InvalidArgument if the system cannot write, for example on a full disk
    void write(std::int64_t offset, const void* data, std::size_t bytes);
    /// Sets the length; what nobody writes is zero. Local; on one rank.
    void set_size(std::int64_t bytes);
    /// Makes the file at least so long, with room for it on the disk if the file system can promise that. Local; on one rank.
    /// @throws InvalidArgument if there is no room
    void reserve(std::int64_t bytes);
    /// Nothing more will be written; waits until the disk has all. Collective. @throws InvalidArgument on every rank
    void complete();
    /// From now on the file stays, under its present name if it gets no other.
    void keep() { published_ = true; }
    /// Gives the file its name. Collective; after complete(). @throws InvalidArgument on every rank
    void publish();
    /// complete() and publish().
    void commit();

private:
    [[noreturn]] void fail(const std::string& what, int error) const;
    void make_temporary();

    Communicator comm_;
    std::string path_, temporary_;
    Descriptor file_, lock_;  // lock_: on rank 0, until publish()
    bool published_ = false;
};

/// The sum of the values of lower ranks; `total` gets the sum of all. Collective.
std::int64_t sum_before(const Communicator& comm, std::int64_t value, std::int64_t* total = nullptr);

/// An error at a line of a text file; of several, the one with the lowest line counts.
struct LineError {
    static constexpr std::int64_t none = INT64_MAX;
    std::int64_t line = none;  ///< counted from 1
    std::string message{};     ///< what is wrong and what to do
};

/// Throws InvalidArgument "path, line 7: message" with the first error of all ranks, if there is one. Collective.
void throw_first(const Communicator& comm, const std::string& path, const LineError& mine);

}  // namespace arges::io

// Files that all ranks read or write at their own places. A new file is written beside its name under a lock and renamed when it is whole;
// what killed writers left is removed.
#include "io/file/parallel_file.hpp"

#include "arges/error.hpp"
#include "comm/values.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace arges::io {

namespace {

constexpr std::size_t largest_call = std::size_t{1} << 30;  // Linux moves at most 2^31 bytes in a call

/// Opens a file for reading, or says why not.
std::pair<int, std::string> opened(const std::string& path, std::int64_t& size) {
    const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (number < 0) {
        if (errno == ENOENT) return {-1, "there is no such file; check the path"};
        if (errno == EACCES) return {-1, "the file may not be read; check its permissions"};
        return {-1, std::string("the file cannot be opened (") + std::strerror(errno) + "); check the path"};
    }
    Descriptor file(number);
    struct stat status {};
    if (::fstat(number, &status) != 0) return {-1, std::string("no information on the file (") + std::strerror(errno) + ")"};
    if (S_ISDIR(status.st_mode)) return {-1, "this is a directory; name a file in it"};
    if (!S_ISREG(status.st_mode)) return {-1, "this cannot be read from any position; copy it to a regular file"};
    if (status.st_size == 0) return {-1, "the file is empty; check how it was made"};
    size = status.st_size;
    return {::dup(number), ""};
}

/// Waits until the disk has a folder's names, where it can.
void flush_folder_of(const std::string& path) {
    const auto parent = std::filesystem::path(path).parent_path();
    const Descriptor folder(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.number() >= 0) (void)::fsync(folder.number());
}

}  // namespace

bool Descriptor::close() {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
}

InputFile::InputFile(const Communicator& comm, const std::string& path) : comm_(comm), path_(path) {
    std::int64_t own = -1;
    const auto [number, problem] = opened(path, own);
    file_ = Descriptor(number);
    size_ = own;
    comm_.broadcast(&size_, sizeof size_, 0);
    comm_.agree([&, &problem = problem] {
        if (!problem.empty() && (comm_.rank() == 0 || size_ < 0)) throw InvalidArgument(path + ": " + problem);
        if (own != size_)
            throw InvalidArgument(path + ": rank " + std::to_string(comm_.rank()) +
                                  " does not see the file that rank 0 sees; put it on a file system that all nodes share");
    });
}

std::size_t InputFile::read(std::int64_t offset, void* data, std::size_t bytes) const {
    std::size_t done = 0;
    while (done < bytes) {
        const auto got = ::pread(file_.number(), static_cast<char*>(data) + done, std::min(bytes - done, largest_call),
                                 offset + static_cast<std::int64_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw InvalidArgument(path_ + ": reading failed (" + std::strerror(errno) + "); check the disk, or copy the file");
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

void InputFile::read_exactly(std::int64_t offset, void* data, std::size_t bytes) const {
    if (read(offset, data, bytes) != bytes)
        throw InvalidArgument(path_ + ": the file ends too early, after " + std::to_string(size_) +
                              " bytes; it is truncated: copy or make it again");
}

/// Those that can be locked.
void remove_dead_parts(const std::string& path) {
    const std::filesystem::path whole(path);
    const auto beginning = whole.filename().string() + part_suffix;
    const auto folder = whole.has_parent_path() ? whole.parent_path() : std::filesystem::path(".");
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        const auto name = entry->path().filename().string();
        if (!name.starts_with(beginning) || name.find_first_not_of("0123456789", beginning.size()) != std::string::npos) continue;
        const Descriptor file(::open(entry->path().c_str(), O_RDWR | O_CLOEXEC));
        if (file.number() >= 0 && ::flock(file.number(), LOCK_EX | LOCK_NB) == 0) ::unlink(entry->path().c_str());
    }
}

OutputFile::OutputFile(const Communicator& comm, const std::string& path) : comm_(comm), path_(path) {
    comm_.agree([&] {
        if (comm_.rank() == 0) make_temporary();
    });
    comm_.broadcast(temporary_, 0);
    try {
        comm_.agree([&] {
            if (comm_.rank() == 0) return;
            file_ = Descriptor(::open(temporary_.c_str(), O_RDWR | O_CLOEXEC));
            if (file_.number() < 0) fail("rank " + std::to_string(comm_.rank()) + " does not see the file that rank 0 made", errno);
        });
    } catch (...) {  // the destructor does not run
        if (comm_.rank() == 0) ::unlink(temporary_.c_str());
        throw;
    }
}

void OutputFile::make_temporary() {
    struct stat status {};
    if (::stat(path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
        throw InvalidArgument(path_ + ": this is a directory; name a file in it");
    remove_dead_parts(path_);
    const auto base = path_ + part_suffix;
    for (std::int64_t number = ::getpid();; ++number) {
        temporary_ = base + std::to_string(number);
        file_ = Descriptor(::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (file_.number() < 0 && errno == EEXIST) continue;  // of a writer that lives, on another node perhaps
        if (file_.number() < 0) fail("cannot be made", errno);
        (void)::flock(file_.number(), LOCK_EX | LOCK_NB);  // a file system without locks keeps what dead writers leave
        // Another writer may have taken it for a dead one's between the two calls.
        if (::fstat(file_.number(), &status) == 0 && status.st_nlink > 0) break;
    }
    lock_ = Descriptor(::dup(file_.number()));  // the lock outlives complete()
}

OutputFile::~OutputFile() {
    if (!published_ && comm_.rank() == 0) ::unlink(temporary_.c_str());
}

void OutputFile::fail(const std::string& what, int error) const {
    throw InvalidArgument(path_ + ": " + what + " (" + std::strerror(error) +
                          "); check that the folder exists on all nodes, may be written, and has room");
}

void OutputFile::write(std::int64_t offset, const void* data, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
        const auto put = ::pwrite(file_.number(), static_cast<const char*>(data) + done, std::min(bytes - done, largest_call),
                                  offset + static_cast<std::int64_t>(done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) fail("writing failed", put < 0 ? errno : EIO);
        done += static_cast<std::size_t>(put);
    }
}

void OutputFile::set_size(std::int64_t bytes) {
    if (::ftruncate(file_.number(), bytes) != 0) fail("the file cannot be made " + std::to_string(bytes) + " bytes long", errno);
}

void OutputFile::reserve(std::int64_t bytes) {
    if (::fallocate(file_.number(), 0, 0, bytes) != 0 && errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)
        fail(std::to_string(bytes) + " bytes cannot be written", errno);
}

void OutputFile::complete() {
    comm_.agree([&] {
        if (::fsync(file_.number()) != 0 && errno != EINVAL) fail("writing failed", errno);
        if (!file_.close()) fail("writing failed", errno);
    });
}

void OutputFile::publish() {
    comm_.agree([&] {
        if (comm_.rank() != 0) return;
        if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot get its name", errno);
        flush_folder_of(path_);
        lock_.close();
    });
    published_ = true;
}

void OutputFile::commit() {
    complete();
    publish();
}

std::int64_t sum_before(const Communicator& comm, std::int64_t value, std::int64_t* total) {
    const auto all = gathered(comm, std::vector<std::int64_t>{value});
    std::int64_t before = 0, sum = 0;
    for (std::size_t r = 0; r < all.size(); ++r) {
        if (static_cast<std::int64_t>(r) == comm.rank()) before = sum;
        sum += all[r];
    }
    if (total != nullptr) *total = sum;
    return before;
}

void throw_first(const Communicator& comm, const std::string& path, const LineError& mine) {
    const auto line = comm.minimum(mine.line);
    if (line == LineError::none) return;
    comm.agree([&] {
        if (mine.line == line) throw InvalidArgument(path + ", line " + std::to_string(line) + ": " + mine.message);
    });
}

}  // namespace arges::io

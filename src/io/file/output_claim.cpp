#include "arges/output_claim.hpp"

#include "arges/error.hpp"
#include "io/file/parallel_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace arges {

OutputClaim::OutputClaim(const std::string& path) : file_(path + io::part_suffix + "0") {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
        throw InvalidArgument(path + ": this is a directory; name a file in it");
    for (;;) {
        if (lock_ >= 0) ::close(lock_);
        lock_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock_ < 0)
            throw InvalidArgument(path + ": cannot be made (" + std::strerror(errno) +
                                  "); check that the folder exists on all nodes, may be written, and has room");
        if (::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            throw InvalidArgument(path + ": another program is about to write this file; wait until it has ended, or name another file");
        // Whoever had the lock may have removed the file between the two calls.
        if (::fstat(lock_, &status) == 0 && status.st_nlink > 0) return;
    }
}

OutputClaim::~OutputClaim() {
    if (lock_ < 0) return;
    ::unlink(file_.c_str());
    ::close(lock_);
}
OutputClaim::OutputClaim(OutputClaim&& other) noexcept : file_(std::move(other.file_)) { std::swap(lock_, other.lock_); }
OutputClaim& OutputClaim::operator=(OutputClaim&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(lock_, other.lock_);
    return *this;
}

}  // namespace arges

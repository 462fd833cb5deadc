#include "arges/output_claim.hpp"

#include "arges/error.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/world/world_state.hpp"
#include "io/file/parallel_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
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

void write_text(const World& world, const std::string& text, const std::string& path) {
    const CollectiveCall call(ranks_of(world), "write_text", path);
    const auto& comm = communicator_of(world, path);
    io::OutputFile file(comm, path);
    comm.agree([&] {
        if (comm.rank() == 0) file.write(0, text.data(), text.size());
    });
    file.commit();
}

std::string read_text(const World& world, const std::string& path) {
    const CollectiveCall call(ranks_of(world), "read_text", path);
    const auto& comm = communicator_of(world, path);
    const bool is_there = from_first_rank(comm, [&] {
        std::error_code ignored;
        return std::filesystem::exists(path, ignored);
    });
    if (!is_there) return {};
    const io::InputFile file(comm, path);
    return from_first_rank(comm, [&] {
        std::string text(static_cast<std::size_t>(file.size()), '\0');
        file.read_exactly(0, text.data(), text.size());
        return text;
    });
}

}  // namespace arges

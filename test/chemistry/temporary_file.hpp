/// A file that rank 0 writes for a test, and that is gone afterwards.
#pragma once

#include "arges/chemistry/fcidump.hpp"
#include "arges/error.hpp"
#include "comm/communicator.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace arges::chemistry {

class TemporaryFile {
public:
    /// A file with this text; no file if `text` is null. Collective.
    explicit TemporaryFile(const World& world, const char* text) : comm_(world.communicator()) {
        std::int64_t process = getpid();
        comm_.broadcast(&process, sizeof process, 0);
        static int number = 0;
        const auto name = "arges_test_" + std::to_string(process) + "_" + std::to_string(number++) + ".fcidump";
        path_ = (std::filesystem::temp_directory_path() / name).string();
        if (text && comm_.rank() == 0) std::ofstream(path_, std::ios::binary) << text;
        comm_.barrier();
    }
    ~TemporaryFile() {
        comm_.barrier();
        if (comm_.rank() == 0) std::filesystem::remove(path_);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& path() const { return path_; }

private:
    Communicator comm_;
    std::string path_;
};

/// True if all ranks give the same text. Collective.
inline bool same_on_all_ranks(const World& world, const std::string& text) {
    const Communicator comm(world.communicator());
    const auto hash = static_cast<std::int64_t>(std::hash<std::string>()(text) >> 1);
    return comm.maximum(hash) == comm.minimum(hash);
}

/// The message of the error that reading integrals from a path gives; it must be the same on all ranks. Collective.
inline std::string error_of(const World& world, const std::string& path) {
    std::string message;
    try {
        read_integrals(world, path);
    } catch (const InvalidArgument& error) {
        message = error.what();
    }
    EXPECT_TRUE(same_on_all_ranks(world, message)) << message;
    return message;
}

}  // namespace arges::chemistry

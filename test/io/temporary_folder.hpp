/// A folder for the files of a test that is gone afterwards, and files in it.
#pragma once

#include "arges/world.hpp"
#include "comm/communicator.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace arges::test {

class TemporaryFolder {
public:
    /// Collective, as is the end.
    explicit TemporaryFolder(const World& world) : comm_(world.communicator()) {
        std::int64_t process = getpid();
        comm_.broadcast(&process, sizeof process, 0);
        static int number = 0;
        path_ =
            (std::filesystem::temp_directory_path() / ("arges_io_" + std::to_string(process) + "_" + std::to_string(number++))).string();
        if (comm_.rank() == 0) std::filesystem::create_directory(path_);
        comm_.barrier();
    }
    ~TemporaryFolder() {
        comm_.barrier();
        if (comm_.rank() == 0) std::filesystem::remove_all(path_);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string operator/(const std::string& name) const { return path_ + "/" + name; }
    /// Writes a file on rank 0. Collective.
    std::string write(const std::string& name, const std::string& text) const {
        if (comm_.rank() == 0) std::ofstream(*this / name, std::ios::binary) << text;
        comm_.barrier();
        return *this / name;
    }
    /// The bytes of a file.
    static std::string read(const std::string& path) {
        std::ifstream stream(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    /// Number of files in it. Collective.
    std::int64_t files() const {
        comm_.barrier();
        const auto count = std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
        comm_.barrier();
        return count;
    }

private:
    Communicator comm_;
    std::string path_;
};

}  // namespace arges::test

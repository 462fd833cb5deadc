#include "cli/outputs.hpp"

#include "arges/error.hpp"
#include "cli/interruption.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace arges::cli {

namespace {

namespace fs = std::filesystem;

/// A folder is no file that is replaced: who writes says so.
bool is_there(const std::string& path) {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(path, ignored)) && !fs::is_directory(path, ignored);
}

bool is_one_of(const std::string& path, const std::vector<std::string>& others) {
    return std::any_of(others.begin(), others.end(), [&](const std::string& other) {
        std::error_code ignored;
        return fs::equivalent(path, other, ignored) || fs::equivalent(path, other.substr(0, other.find(":/")), ignored);
    });
}

}  // namespace

Outputs::~Outputs() {
    for (const auto& claim : claims_) keep_when_interrupted(claim.file());
}

void Outputs::declare(CLI::App& app) { app.add_flag("--overwrite", overwrites_, "replace what has the name of an output already"); }

void Outputs::claim(const World& world, const std::string& file, const std::vector<std::string>& inputs) {
    if (file.empty()) return;
    world.agree([&] {
        if (world.rank() != 0 || overwrites_ || !is_there(file)) return;
        if (is_one_of(file, inputs))
            throw InvalidArgument(file + ": this is an input, which the output would replace; name another output, or give --overwrite");
    });
    refuse_present(world, {file});
    claim_continued(world, file);
}

void Outputs::claim_continued(const World& world, const std::string& file) {
    world.agree([&] {
        if (world.rank() != 0 || file.empty()) return;
        claims_.emplace_back(file);
        remove_when_interrupted(claims_.back().file());
    });
}

void Outputs::make_folder(const World& world, const std::string& folder, const std::string& option) {
    world.agree([&] {
        if (world.rank() != 0 || folder.empty()) return;
        std::error_code error;
        fs::create_directories(folder, error);
        if (!error && access(folder.c_str(), W_OK) != 0) error = std::error_code(errno, std::generic_category());
        if (error)
            throw InvalidArgument(option + ": " + folder + " cannot be written to (" + error.message() + "); name a folder that can");
    });
}

void Outputs::refuse_present(const World& world, const std::vector<std::string>& files) const {
    world.agree([&] {
        if (world.rank() != 0 || overwrites_) return;
        const auto present = std::find_if(files.begin(), files.end(), is_there);
        if (present != files.end())
            throw InvalidArgument(*present + ": there is such a file already; name another output, or give --overwrite to replace it");
    });
}

}  // namespace arges::cli

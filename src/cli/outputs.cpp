#include "cli/outputs.hpp"

#include "arges/error.hpp"
#include "cli/interruption.hpp"

#include <unistd.h>

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

/// Both names lead to one file, by links or other ways; of files that are not there yet, to one place.
bool is_same(const std::string& a, const std::string& b) {
    std::error_code ignored;
    if (fs::equivalent(a, b, ignored)) return true;
    const auto place = fs::weakly_canonical(a, ignored);
    return !place.empty() && place == fs::weakly_canonical(b, ignored);
}

}  // namespace

Outputs::~Outputs() {
    for (const auto& claim : claims_) keep_when_interrupted(claim.file());
}

void Outputs::declare(CLI::App& app) {
    app.add_flag("--overwrite", overwrites_, "replace what has the name of an output already; an input is never replaced");
}

void Outputs::keep_inputs(const std::vector<std::string>& files) {
    for (const auto& file : files) {
        if (file.empty()) continue;
        inputs_.push_back(file);
        if (const auto dataset = file.find(":/"); dataset != std::string::npos) inputs_.push_back(file.substr(0, dataset));
    }
}

/// On rank 0.
void Outputs::check(const std::string& file, bool may_be_there) const {
    for (const auto& input : inputs_)
        if (is_same(file, input))
            throw InvalidArgument(file + ": this is an input" + (file == input ? "" : " (" + input + ")") +
                                  ", which the output would replace; name another output");
    for (const auto& output : outputs_)
        if (is_same(file, output)) throw InvalidArgument(file + ": two outputs of this run would have this name; name another one");
    if (!may_be_there && !overwrites_ && is_there(file))
        throw InvalidArgument(file + ": there is such a file already; name another output, or give --overwrite to replace it");
}

void Outputs::claim(const World& world, const std::string& file) {
    if (file.empty()) return;
    refuse_present(world, {file});
    claim_continued(world, file);
}

void Outputs::claim_continued(const World& world, const std::string& file) {
    world.agree([&] {
        if (world.rank() != 0 || file.empty()) return;
        check(file, true);
        claims_.emplace_back(file);
        outputs_.push_back(file);
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
        if (world.rank() != 0) return;
        for (const auto& file : files) check(file, false);
    });
}

}  // namespace arges::cli

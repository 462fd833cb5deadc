/// Where a subcommand writes: what is there already is not replaced unbidden, and no other run writes there meanwhile.
#pragma once

#include "arges/output_claim.hpp"
#include "arges/world.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace arges::cli {

/// --overwrite, and the files that a run is going to write.
class Outputs {
public:
    Outputs() = default;
    ~Outputs();
    Outputs(const Outputs&) = delete;
    Outputs& operator=(const Outputs&) = delete;

    /// Adds the option; the object must live until everything is written.
    void declare(CLI::App& app);
    /// Names files that the run reads, FILE or FILE:/dataset: they are never replaced, not with --overwrite either. Empty names are none.
    void keep_inputs(const std::vector<std::string>& files);
    /// Claims a file before the work. Nothing for an empty name. Collective.
    /// @throws InvalidArgument if it is an input or another output by any path, if it is there and --overwrite is not given, if it cannot
    /// be made, or if another run writes it
    void claim(const World& world, const std::string& file);
    /// Claims a file that the run goes on with, which may be there. Collective. @throws InvalidArgument likewise
    void claim_continued(const World& world, const std::string& file);
    /// Makes a folder if it is missing. Nothing for an empty name. Collective. @throws InvalidArgument where it cannot be written to
    static void make_folder(const World& world, const std::string& folder, const std::string& option);
    /// Refuses files of which the run may write some, as claim() does, but claims none. Collective. @throws InvalidArgument
    void refuse_present(const World& world, const std::vector<std::string>& files) const;

private:
    void check(const std::string& file, bool may_be_there) const;

    bool overwrites_ = false;
    std::vector<std::string> inputs_, outputs_;
    std::vector<OutputClaim> claims_;  ///< on rank 0
};

}  // namespace arges::cli

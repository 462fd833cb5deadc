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
    /// Claims a file before the work. Nothing for an empty name. Collective.
    /// @param inputs  files that the run reads, for the message
    /// @throws InvalidArgument if it is there and --overwrite is not given, if it cannot be made, or if another run writes it
    void claim(const World& world, const std::string& file, const std::vector<std::string>& inputs = {});
    /// Claims a file that the run goes on with, which may be there. Collective. @throws InvalidArgument likewise
    void claim_continued(const World& world, const std::string& file);
    /// Makes a folder if it is missing. Nothing for an empty name. Collective. @throws InvalidArgument where it cannot be written to
    static void make_folder(const World& world, const std::string& folder, const std::string& option);
    /// Refuses files that are there, unless --overwrite is given. Collective. @throws InvalidArgument
    void refuse_present(const World& world, const std::vector<std::string>& files) const;

private:
    bool overwrites_ = false;
    std::vector<OutputClaim> claims_;  ///< on rank 0
};

}  // namespace arges::cli

/// The options of subcommands that read a table.
#pragma once

#include "arges/table_io.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace arges::cli {

/// How a table is read.
struct TableCommand {
    TableOptions options{};  ///< columns and what is given as it is

    /// Adds the options. @param value  what --value says
    void declare(CLI::App& app, const char* value);
    /// Of all options.
    TableOptions read_options() const;
    /// Refuses them for a file that is no table. @throws CLI::ValidationError
    static void refuse(const CLI::App& app, const std::string& file);

private:
    std::string header_ = "auto", quotes_ = "yes";
};

}  // namespace arges::cli

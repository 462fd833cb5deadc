/// --constraint of `arges cpd`.
#pragma once

#include "arges/cpd.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace arges::cli {

/// What is given for modes from 1, or for all.
class ConstraintOptions {
public:
    static constexpr int most_modes = 64;

    /// Adds the option; the object must live as long as the parsed values are needed.
    void declare(CLI::App& app);
    /// By mode; none where nothing is given. Later ones replace earlier ones.
    /// @throws InvalidArgument for a mode that is not there
    std::vector<CpConstraint> of(int order) const;
    /// A mode has a constraint of this name.
    bool has(const std::string& name) const;

private:
    std::vector<std::string> texts_;
};

/// Their names, by mode.
std::vector<std::string> constraint_texts(const std::vector<CpConstraint>& constraints);

}  // namespace arges::cli

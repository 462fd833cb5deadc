/// What a run says on standard error while it goes on.
#pragma once

#include "arges/world.hpp"
#include "base/stopwatch.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <string>

namespace arges::cli {

/// Adds --progress.
void declare_progress(CLI::App& app, std::string& form);

/// Adds --seconds: an option of the library. @param then  what becomes of what there is
void declare_seconds(CLI::App& app, double& seconds, const std::string& then = "what there is, is the result");

/// What is under way, by rank 0 on standard error: on a terminal a line that each next one replaces, else a line after 2, 4, 8, ...
/// seconds, or objects of JSON.
class StepLine {
public:
    /// @param form  auto, lines (no terminal, whatever it is), json or none
    StepLine(const World& world, const std::string& form);
    ~StepLine() { show(""); }
    StepLine(const StepLine&) = delete;
    StepLine& operator=(const StepLine&) = delete;

    /// Shows a step; an empty text removes the line of a terminal. Local.
    void show(const std::string& text);
    /// Shows a step of which a part is done, 0 to 1, a few times in a second. Local.
    void show(const std::string& text, double done);
    /// Shows an iteration: its numbers as JSON, and as a text where the results do not have it already. Local.
    void show_iteration(const std::string& text, const nlohmann::ordered_json& numbers, bool is_in_results);

private:
    enum class Form { terminal, lines, json, none };
    static Form form_of(const std::string& text);

    void write_text(const std::string& text);
    void write_json(nlohmann::ordered_json object) const;

    Form form_;
    bool is_shown_ = false;
    double next_ = 2;  // seconds of the next line
    Stopwatch since_start_, since_part_;
};

}  // namespace arges::cli

#include "cli/progress.hpp"
#include "cli/subcommand.hpp"
#include "cli/world_options.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <iostream>

namespace arges::cli {

void declare_progress(CLI::App& app, std::string& form) {
    app.add_option(
           "--progress", form,
           "on standard error: auto (one line on a terminal, else lines after 2, 4, 8, ... seconds), lines, json (an object for each "
           "step and iteration) or none")
        ->check(one_of({"auto", "lines", "json", "none"}))
        ->capture_default_str();
}

void declare_seconds(CLI::App& app, double& seconds, const std::string& then) {
    app.add_option("--seconds", seconds, "begin no further iteration when the iterations have taken so long; " + then)
        ->check(accepted_by([](const std::string& text) { parse_positive(text); }, "SECONDS"));
}

StepLine::Form StepLine::form_of(const std::string& text) {
    if (text == "json") return Form::json;
    if (text == "none") return Form::none;
    return text == "auto" && isatty(STDERR_FILENO) != 0 ? Form::terminal : Form::lines;
}

StepLine::StepLine(const World& world, const std::string& form) : form_(world.rank() == 0 ? form_of(form) : Form::none) {}

void StepLine::write_json(nlohmann::ordered_json object) const {
    nlohmann::ordered_json line;
    line["seconds"] = since_start_.seconds();
    line.update(object);
    std::cerr << line.dump() + "\n" << std::flush;
}

void StepLine::write_text(const std::string& text) {
    if (form_ == Form::terminal && (is_shown_ || !text.empty())) {
        std::cerr << "\r\033[K" << text << std::flush;
        is_shown_ = !text.empty();
    }
    const auto seconds = since_start_.seconds();
    if (form_ != Form::lines || text.empty() || seconds < next_) return;
    std::cerr << fmt::format("arges: {:.0f} s: {}\n", seconds, text) << std::flush;
    while (next_ <= seconds) next_ *= 2;
}

void StepLine::show(const std::string& text) {
    if (form_ == Form::json && !text.empty()) write_json({{"step", text}});
    write_text(text);
}

void StepLine::show(const std::string& text, double done) {
    constexpr double pause = 0.2;
    if (form_ == Form::none || since_part_.seconds() < pause) return;
    since_part_.lap();
    if (form_ == Form::json) return write_json({{"step", text}, {"done", done}});
    write_text(fmt::format("{}: {:.0f} %", text, 100 * done));
}

void StepLine::show_iteration(const std::string& text, const nlohmann::ordered_json& numbers, bool is_in_results) {
    if (form_ == Form::json) return write_json(numbers);
    write_text(is_in_results ? "" : text);
}

}  // namespace arges::cli

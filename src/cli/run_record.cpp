#include "cli/run_record.hpp"

#include "arges/output_claim.hpp"

#include <filesystem>
#include <system_error>

namespace arges::cli {

using Json = nlohmann::ordered_json;

std::string run_path(const std::string& model) {
    std::error_code ignored;
    return std::filesystem::is_directory(model, ignored) ? (std::filesystem::path(model) / "run.json").string() : model + ".run.json";
}

void write_run(const World& world, const std::string& model, const std::string& program, const std::string& input, const Json& found) {
    Json object{{"program", program}, {"input", input}};
    object.update(found);
    write_text(world, object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", run_path(model));
}

Json read_run(const World& world, const std::string& model, std::string& warning) {
    const auto path = run_path(model);
    const auto text = read_text(world, path);
    if (text.empty()) return {};
    auto object = Json::parse(text, nullptr, false);
    if (object.is_object() && object.contains("program") && object["program"].is_string()) return object;
    warning = path + ": this is no record of a run that arges wrote, and is left out; remove it, or make the model again";
    return {};
}

}  // namespace arges::cli

#include "cli/model_output.hpp"

#include "arges/complete.hpp"
#include "arges/table_io.hpp"
#include "base/memory_tally.hpp"
#include "base/text.hpp"
#include "cli/interruption.hpp"
#include "cli/run_record.hpp"
#include "cli/subcommand.hpp"
#include "cli/world_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <regex>
#include <string>
#include <system_error>
#include <vector>

namespace arges::cli {

namespace {

/// What the folder has of a model, of any number of modes: saving another one replaces or removes it.
std::vector<std::string> files_of_a_model(const std::string& folder) {
    static const std::regex names("(lambda|(mode|bias)_[0-9]+(_rows)?)\\.(npy|txt)|model\\.ids|run\\.json");
    std::vector<std::string> files;
    std::error_code ignored;
    for (std::filesystem::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored))
        if (std::regex_match(entry->path().filename().string(), names)) files.push_back(entry->path().string());
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

void ModelOutput::declare(CLI::App& app) {
    auto* const output = app.add_option("--output", folder_, "directory for the factors");
    app.add_option("--output-form", form_, "of the factors: npy or text")
        ->check(one_of({"npy", "text"}))
        ->needs(output)
        ->capture_default_str();
    app.add_option("--save-every", save_every_, "save the factors after so many iterations, too")
        ->check(CLI::Range(1, 1000000))
        ->needs(output);
    outputs_.declare(app);
    app.add_option("--start", start_, "directory with factors to start from");
}

void ModelOutput::claim(const World& world, const std::vector<std::string>& inputs, const std::string& beside) {
    input_ = inputs.front();
    outputs_.keep_inputs(inputs);
    if (is_wanted()) {
        Outputs::make_folder(world, folder_, "--output");
        outputs_.refuse_present(world, files_of_a_model(folder_));
        outputs_.claim(world, (std::filesystem::path(folder_) / "description.json").string());
    }
    outputs_.claim(world, beside);
}

std::int64_t ModelOutput::with_saving(std::int64_t bytes, std::int64_t model_bytes, int rank) const {
    // To be saved, a factor is packed and received with the numbers of its rows (io/matrix_files_writer).
    const auto saving = folder_.empty() ? 0 : model_bytes + 2 * (model_bytes + model_bytes / rank);
    return std::max(bytes + (save_every_ > 0 ? saving : 0), saving);
}

template <class T>
void ModelOutput::after_iteration(int number, const std::function<CpModel<T>()>& model) const {
    if (is_wanted()) note_first_signal();
    if (save_every_ > 0 && number % save_every_ == 0) save(model(), number);
}

template <class T>
void ModelOutput::save(const CpModel<T>& model, int iteration) const {
    if (!folder_.empty()) {
        save_model(model, folder_, form_ == "text" ? ModelForm::text : ModelForm::npy);
        copy_ids(model.world(), ids_path(input_), ids_path(folder_));
    }
    set_interruption_note(note(iteration));
}

template <class T>
void ModelOutput::finish(const FileWork& work, const std::string& program, const CpModel<T>& model, nlohmann::ordered_json found,
                         int iteration, const std::function<void(std::int64_t peak)>& print) const {
    const auto& world = work.world;
    auto& out = work.console.out;
    const auto peak = world.maximum(peak_process_memory());
    found["peak_memory_bytes"] = peak;
    found["forecast_memory_bytes"] = work.forecast.bytes();
    found["lambda"] = model.lambda();
    found["modes_without_empty_rows"] = nlohmann::json::array();
    const auto listed = is_wanted() ? listed_modes(model) : std::map<int, std::int64_t>();
    for (const auto& [mode, rows] : listed) {
        found["modes_without_empty_rows"].push_back(mode);
        if (!work.command.json)
            out << fmt::format("{:<28} mode_{} has {} rows, those of {} that are not empty; mode_{}_rows has their numbers, from 0\n",
                               folder_, mode, with_commas(rows), with_commas(model.lengths()[mode - 1]), mode);
    }
    if (is_wanted()) write_run(world, folder_, program, input_, found);
    if (work.command.json)
        out << found.dump(2) << std::endl;
    else
        print(peak);
    end_if_interrupted(world, note(iteration));
}

std::string ModelOutput::note(int iteration) const {
    if (folder_.empty()) return "no file was changed";
    return fmt::format("{} has the factors of iteration {}, go on with --start {}", folder_, iteration, folder_);
}

template <class T>
std::unique_ptr<const CpModel<T>> ModelOutput::start(const World& world) const {
    if (start_.empty()) return nullptr;
    return std::make_unique<const CpModel<T>>(load_model<T>(world, start_));
}

template <class Options>
void declare_distribution(CLI::App& app, Options& options) {
    app.add_option("--grid", options.grid, "medium: ranks along the modes, as 4x2x1; or greedy, predicted, best");
    app.add_option("--policy", options.policy, "medium: layers by nnz, set, ordered-1, ordered-2 or max-min; chosen if not given")
        ->check(accepted_by(check_layer_policy, "POLICY"));
    app.add_option("--rows", options.rows, "owners of rows: holders, even or claim")
        ->check(accepted_by(check_row_rule, "RULE"))
        ->capture_default_str();
    app.add_option("--partition", options.partition_file,
                   "file of --save-partition; or with the rank, from 0, of each nonzero (fine) or nonempty slice (coarse), one a line");
    app.add_option("--save-partition", options.save_partition, "file to which the distribution is saved, for --partition");
}

template void declare_distribution(CLI::App&, CpOptions&);
template void declare_distribution(CLI::App&, CompletionOptions&);

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void ModelOutput::save(const CpModel<T>&, int) const;                                                                         \
    template std::unique_ptr<const CpModel<T>> ModelOutput::start(const World&) const;                                                     \
    template void ModelOutput::after_iteration(int, const std::function<CpModel<T>()>&) const;                                             \
    template void ModelOutput::finish(const FileWork&, const std::string&, const CpModel<T>&, nlohmann::ordered_json, int,                 \
                                      const std::function<void(std::int64_t)>&) const;
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::cli

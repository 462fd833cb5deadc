/// Where `arges cpd` and `arges complete` write the factors of a CP model, and get those to start from.
#pragma once

#include "arges/cpd.hpp"
#include "cli/outputs.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace arges::cli {

/// --output, --output-form, --overwrite, --save-every and --start.
class ModelOutput {
public:
    /// Adds the options; the object must live as long as the parsed values are needed.
    void declare(CLI::App& app);

    /// There is an output.
    bool is_wanted() const { return !folder_.empty(); }
    /// Makes the folder before the work, so that results have a place, and claims it and a file beside the model. Collective.
    /// @param inputs  that are never replaced, the tensor first; the model of --start may be, by one that goes on from it
    /// @throws InvalidArgument as Outputs::claim(), where the folder has another model already, or another run writes there
    void claim(const World& world, const std::vector<std::string>& inputs, const std::string& beside);
    /// Bytes of work with the saving of its model, which has so many bytes.
    std::int64_t with_saving(std::int64_t bytes, std::int64_t model_bytes, int rank) const;
    /// Saves what `model` gives if this iteration is one to be saved. From the first one on a signal is only noted. Collective.
    template <class T>
    void after_iteration(int number, const std::function<CpModel<T>()>& model) const;
    /// Saves a model with the ids of the input, and notes for interruptions that it is there. Collective.
    template <class T>
    void save(const CpModel<T>& model, int iteration) const;
    /// Keeps what the run has found beside the model, for `arges report`. Collective. @param program  "cpd" @param found  on rank 0
    void record(const World& world, const std::string& program, const nlohmann::ordered_json& found) const;
    /// What the folder has: "factors has the factors of iteration 3, go on with --start factors".
    std::string note(int iteration) const;
    /// The model to start from; null where there is none. Collective.
    template <class T>
    std::unique_ptr<const CpModel<T>> start(const World& world) const;
    /// Modes, from 1, of which the output has nonempty rows and their numbers only, and how many rows these are. Collective.
    template <class T>
    std::map<int, std::int64_t> listed(const CpModel<T>& model) const;
    /// A line for each of these modes.
    void print_listed(std::ostream& out, const std::vector<std::int64_t>& lengths, const std::map<int, std::int64_t>& listed) const;

private:
    std::string folder_, form_ = "npy", start_, input_;
    int save_every_ = 0;
    Outputs outputs_{};
};

/// --grid, --policy, --rows, --partition and --save-partition of CpOptions or CompletionOptions; they must live as long as the parsed
/// values are needed.
template <class Options>
void declare_distribution(CLI::App& app, Options& options);

}  // namespace arges::cli

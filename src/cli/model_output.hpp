/// Where `arges cpd` and `arges complete` write the factors of a CP model, and get those to start from.
#pragma once

#include "arges/cpd.hpp"
#include "cli/forecast.hpp"
#include "cli/outputs.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <memory>
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
    /// Ends a run: keeps what it has found beside the model, for `arges report`, with the memory and the weights; and prints it, as JSON if
    /// the command says so. Collective.
    /// @param program   "cpd"
    /// @param found     on rank 0
    /// @param iteration of the model
    /// @param print     writes the tables, which have the largest memory of a process
    template <class T>
    void finish(const FileWork& work, const std::string& program, const CpModel<T>& model, nlohmann::ordered_json found, int iteration,
                const std::function<void(std::int64_t peak)>& print) const;
    /// What the folder has: "factors has the factors of iteration 3, go on with --start factors".
    std::string note(int iteration) const;
    /// The model to start from; null where there is none. Collective.
    template <class T>
    std::unique_ptr<const CpModel<T>> start(const World& world) const;

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

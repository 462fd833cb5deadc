/// The components of a saved model, with what weighs most in each: what `arges show` prints and `arges report` draws.
#pragma once

#include "arges/model_items.hpp"
#include "cli/ids.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace arges::cli {

/// A model of a folder (CP), or of a file (Tucker): one of them.
struct SavedModel {
    std::unique_ptr<const CpModel<double>> cp{};
    std::unique_ptr<const TuckerModel<double>> tucker{};
    std::unique_ptr<const TuckerModel<float>> tucker_single{};

    /// f(model).
    template <class F>
    auto visit(F&& f) const {
        return cp ? f(*cp) : tucker ? f(*tucker) : f(*tucker_single);
    }
};

/// Collective. @throws InvalidArgument on every rank if there is no model of this name
SavedModel load_saved_model(const World& world, const std::string& path);

/// The items of a mode in a component.
struct ShownMode {
    std::size_t mode = 0;  ///< from 0
    std::vector<ModelItem> items{};
    std::vector<std::string> names{};
};

/// A component: of CP with all modes, of Tucker of one mode.
struct ShownComponent {
    int number = 0;  ///< from 1
    double weight = 0, share = 0;
    std::vector<ShownMode> modes{};
};

struct ShownModel {
    std::string path{};  ///< as it was given
    std::string kind{};  ///< CP or Tucker
    std::vector<std::int64_t> lengths{}, ranks{};
    std::vector<ShownComponent> components{};
    ModelIds ids{};
};

/// Which items to show.
struct ShownChoice {
    std::string mode{};     ///< by number from 1 or by name; empty: all
    int component = 0;      ///< from 1; 0: all
    std::int64_t top = 10;  ///< items of a mode in a component
};

/// The components of a model, of CP with all modes, of Tucker by mode, with the names of their items: ids where there are some, else
/// indices. Collective. @throws InvalidArgument on every rank if there is no such mode or component
ShownModel shown_model(const World& world, const std::string& path, const SavedModel& model, const ShownChoice& choice);

}  // namespace arges::cli

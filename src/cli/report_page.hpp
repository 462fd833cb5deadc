/// The page of `arges report`: what is on it, and its HTML.
#pragma once

#include "arges/residuals.hpp"
#include "cli/model_components.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace arges::cli {

/// How the rows of a mode are drawn.
enum class ModePicture {
    bars,     ///< those that weigh most
    columns,  ///< all, in their order: few that have one
    line,     ///< likewise of many, in parts
};

/// A mode of a model.
struct ReportMode {
    ModePicture picture = ModePicture::bars;
    std::vector<RowProfile> profiles{};  ///< by column of the factor, unless bars are drawn
    std::vector<std::string> labels{};   ///< of all rows for columns, of the first and the last one for a line
    std::vector<std::string> biased{};   ///< rows with the largest and the least biases
    std::vector<double> biases{};        ///< theirs
};

/// What is left of a tensor.
struct ReportResiduals {
    std::string tensor{};  ///< file
    NotStored others = NotStored::zeros;
    bool is_dense = false;
    Residuals found{};
    std::vector<std::vector<std::string>> names{};  ///< of the worst slices, by mode
};

/// All that a page shows. The same on every rank.
struct Report {
    ShownModel model{};
    std::size_t components = 0;  ///< shown ones of CP, or of each mode of Tucker
    bool has_biases = false;
    double mean = 0;  ///< where there are biases
    std::vector<ReportMode> modes{};
    nlohmann::ordered_json run{};              ///< of read_run(), or null
    nlohmann::ordered_json ranks{};            ///< of `arges cpd --ranks --json`, or null
    std::vector<ReportResiduals> residuals{};  ///< one, or none
    std::vector<std::string> warnings{};
};

/// The page. Pure.
std::string report_page(const Report& report);

}  // namespace arges::cli

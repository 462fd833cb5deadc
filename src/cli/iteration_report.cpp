#include "cli/iteration_report.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace arges::cli {

namespace {

std::vector<std::string> warnings_for(std::int64_t negative, std::int64_t values) {
    if (negative == 0) return {};
    return {fmt::format("{} of {} values are negative, and factors without negative elements fit none of them; use --algorithm als or opt, "
                        "or other values, such as absolute ones",
                        with_commas(negative), with_commas(values))};
}

}  // namespace

std::string stop_name(StopReason reason) {
    switch (reason) {
    case StopReason::tolerance: return "tolerance";
    case StopReason::iterations: return "iterations";
    case StopReason::no_step: return "no step";
    case StopReason::zero_model: return "zero model";
    case StopReason::held_out: return "held out";
    case StopReason::seconds: return "seconds";
    case StopReason::diverged: return "diverged";
    default: return "interrupted";
    }
}

std::string stop_text(StopReason reason, const std::string& settled) {
    switch (reason) {
    case StopReason::tolerance: return settled;
    case StopReason::iterations: return "all iterations are made (--iterations), but the tolerance is not reached";
    case StopReason::no_step: return "no step makes the residual smaller";
    case StopReason::zero_model: return "all components are zero";
    case StopReason::held_out: return "the error of held-out elements does not improve any more";
    case StopReason::seconds: return "the time of the iterations is over (--seconds), but the tolerance is not reached";
    default: return "interrupted";
    }
}

void print_warnings(std::ostream& err, const std::vector<std::string>& warnings) {
    for (const auto& warning : warnings) err << "arges: warning: " << warning << std::endl;
}

template <class T>
std::vector<std::string> negative_values_warnings(const SparseTensor<T>& tensor) {
    const auto values = tensor.local_values();
    return warnings_for(tensor.world().sum(std::count_if(values.begin(), values.end(), [](T value) { return value < 0; })),
                        tensor.nonzeros());
}

template <class T>
std::vector<std::string> negative_values_warnings(const Tensor<T>& tensor) {
    std::int64_t negative = 0;
    tensor.for_each_local([&](Index, const T& value) { negative += value < 0 ? 1 : 0; });
    return warnings_for(tensor.world().sum(negative), tensor.size());
}

template std::vector<std::string> negative_values_warnings(const SparseTensor<float>&);
template std::vector<std::string> negative_values_warnings(const SparseTensor<double>&);
template std::vector<std::string> negative_values_warnings(const Tensor<float>&);
template std::vector<std::string> negative_values_warnings(const Tensor<double>&);

}  // namespace arges::cli

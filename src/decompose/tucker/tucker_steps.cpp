#include "decompose/tucker/tucker_steps.hpp"

#include <algorithm>
#include <utility>

namespace arges::decompose {

double TuckerSteps::note(TuckerStep& step, std::int64_t planned) {
    const auto sent = comm_.traffic().bytes_sent;
    step.planned_bytes += planned;
    step.sent_bytes += sent - std::exchange(sent_, sent);
    return watch_.lap();
}

void TuckerSteps::raise_bound(TuckerStep& step, double words) const {
    step.bound_bytes = std::max(step.bound_bytes, static_cast<std::int64_t>(words * static_cast<double>(element_bytes_)));
}

TuckerStep& TuckerSteps::begin(int mode, int iteration) {
    steps_.push_back(std::exchange(pending_, {}));
    steps_.back().mode = mode;
    steps_.back().iteration = iteration;
    return steps_.back();
}

TuckerStep& TuckerSteps::go_on(int mode) {
    auto& step = *std::find_if(steps_.rbegin(), steps_.rend(), [&](const TuckerStep& s) { return s.mode == mode; });
    const auto more = std::exchange(pending_, {});
    step.move_seconds += more.move_seconds;
    step.product_seconds += more.product_seconds;
    step.planned_bytes += more.planned_bytes;
    step.sent_bytes += more.sent_bytes;
    step.bound_bytes = std::max(step.bound_bytes, more.bound_bytes);
    return step;
}

std::vector<TuckerStep> TuckerSteps::finish() && {
    for (auto& step : steps_) {
        step.planned_bytes_max = comm_.maximum(step.planned_bytes);
        step.sent_bytes_max = comm_.maximum(step.sent_bytes);
    }
    return std::move(steps_);
}

}  // namespace arges::decompose

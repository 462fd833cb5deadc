#include "interface/step_trace.hpp"

#include "base/overloaded.hpp"
#include "interface/check_labels.hpp"
#include "plan/report/plan_report.hpp"

namespace arges {

namespace {

std::string operand_text(const std::string& name, bool conjugated, const std::vector<int>& labels,
                         const std::vector<std::string>& names) {
    std::vector<std::string> own;
    for (int l : labels) own.push_back(names[static_cast<std::size_t>(l)]);
    return (conjugated ? "conj " : "") + name + "[" + Labels(own).to_string() + "]";
}

/// Statement of a pairwise or fused product.
std::string statement_text(const Product& spec) {
    auto text = operand_text(spec.output.name, false, spec.output.labels, spec.label_names) + " <-";
    for (const auto& input : spec.factors)
        text += " " + operand_text(input.name, input.conjugated, input.labels, spec.label_names);
    return text;
}

/// Statement of a movement; its plan knows neither names nor letters.
std::string movement_text(const PlannedStep& step, const PlannedMovement& movement, const TermRequest& request) {
    const auto names = check_labels(request).names;
    auto name = [&](int operand) {
        const auto n = static_cast<std::size_t>(operand);
        return operand == output_operand ? request.output.name
               : n < request.factors.size() ? request.factors[n].name
                                            : "an intermediate for " + request.output.name;
    };
    return operand_text(name(step.output), false, movement.spec.to_labels, names) + " <- " +
           operand_text(name(step.inputs[0]), movement.conjugated, movement.spec.from_labels, names);
}

void add_to_grid(std::string& grid, const std::string& label, std::int64_t ranks) {
    if (ranks > 1) grid += (grid.empty() ? "" : " ") + label + "=" + std::to_string(ranks);
}

std::string grid_text(const ProductPlan& plan) {
    std::string grid;
    for (std::size_t a = 0; a < plan.axes.size(); ++a) {
        std::vector<std::string> labels;
        for (int l : plan.axes[a].labels) labels.push_back(plan.spec.label_names[static_cast<std::size_t>(l)]);
        const auto text = Labels(labels).to_string();
        add_to_grid(grid, labels.size() == 1 ? text : "(" + text + ")", plan.places[a]);
    }
    return grid;
}

/// What a step is, and the bytes that this rank sends in it. `named` is its plan with names.
StepRecord describe(const PreparedTerm::Step& step, const PlannedStep& named, const TermRequest& request) {
    StepRecord record;
    std::visit(Overloaded{[&](const PlannedMovement& movement) {
                              record.statement = movement_text(named, movement, request);
                              record.kind = to_string(StepKind::movement);
                          },
                          [&](const ProductPlan& plan) {
                              record.statement = statement_text(plan.spec);
                              record.kind = to_string(kind_of(plan));
                              if (!plan.rows) record.grid = grid_text(plan);
                          }},
               named.work);
    record.planned_bytes = std::visit([](const auto& run) { return run->volume().sent; }, step.run) * request.element_bytes;
    return record;
}

}  // namespace

StepTrace::StepTrace(const WorldState& world, const PreparedTerm& term, const TermRequest& request, std::size_t step)
    : world_(world), term_(term), request_(request), step_(step) {
    if (world.trace() == nullptr) return;
    sent_before_ = world.communicator().traffic().bytes_sent;
    date_ = std::chrono::system_clock::now();
    start_ = std::chrono::steady_clock::now();
}

void StepTrace::add() const {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
    const auto named = term_.named_steps(request_)[step_];
    auto record = describe(term_.steps()[step_], named, request_);
    record.planned_seconds = named.seconds(request_.element_bytes, world_.plan_options().machine);
    record.seconds = taken.count();
    record.bytes = world_.communicator().traffic().bytes_sent - sent_before_;
    record.start_microseconds = std::chrono::duration<double, std::micro>(date_.time_since_epoch()).count();
    world_.trace()->add(record);
}

}  // namespace arges

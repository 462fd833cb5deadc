#include "interface/statement/step_trace.hpp"

#include "base/overloaded.hpp"
#include "base/trace.hpp"
#include "interface/statement/check_labels.hpp"
#include "plan/report/plan_report.hpp"

namespace arges {

namespace {

std::string operand_text(const Operand& operand, const std::vector<std::string>& names) {
    return (operand.conjugated ? "conj " : "") + operand.name + "[" + labels_text(operand, names) + "]";
}

/// Statement of a product.
std::string statement_text(const Product& product) {
    auto text = operand_text(product.output, product.label_names) + " <-";
    for (const auto& input : product.factors) text += " " + operand_text(input, product.label_names);
    return text;
}

/// Statement of a movement; its plan knows neither names nor letters.
std::string movement_text(const PlannedStep& step, const PlannedMovement& movement, const Product& product) {
    auto name = [&](int operand) {
        const std::size_t n = operand;
        return operand == output_operand    ? product.output.name
               : n < product.factors.size() ? product.factors[n].name
                                            : "an intermediate for " + product.output.name;
    };
    return operand_text({{}, movement.spec.to_labels, false, name(step.output)}, product.label_names) + " <- " +
           operand_text({{}, movement.spec.from_labels, movement.conjugated, name(step.inputs[0])}, product.label_names);
}

void add_to_grid(std::string& grid, const std::string& label, std::int64_t ranks) {
    if (ranks > 1) grid += (grid.empty() ? "" : " ") + label + "=" + std::to_string(ranks);
}

std::string grid_text(const ProductPlan& plan) {
    std::string grid;
    for (std::size_t a = 0; a < plan.axes.size(); ++a) {
        const auto& labels = plan.axes[a].labels;
        const auto text = labels_text({{}, labels, false, {}}, plan.spec.label_names);
        add_to_grid(grid, labels.size() == 1 ? text : "(" + text + ")", plan.grid_lengths[a]);
    }
    return grid;
}

/// What a step is. @param named  its plan with names
StepRecord describe(const PlannedStep& named, const Product& product) {
    StepRecord record;
    std::visit(Overloaded{[&](const PlannedMovement& movement) {
                              record.statement = movement_text(named, movement, product);
                              record.kind = to_string(StepKind::movement);
                          },
                          [&](const ProductPlan& plan) {
                              record.statement = statement_text(plan.spec);
                              record.kind = to_string(kind_of(plan));
                              if (!plan.rows) record.grid = grid_text(plan);
                          }},
               named.work);
    return record;
}

}  // namespace

StepTrace::StepTrace(const WorldState& world, const PreparedTerm& term, const Product& product, std::size_t step)
    : world_(world), term_(term), product_(product), step_(step) {
    if (world.trace() == nullptr) return;
    before_ = world.communicator().traffic();
    date_ = std::chrono::system_clock::now();
    start_ = std::chrono::steady_clock::now();
}

void StepTrace::add() const {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
    const auto named = term_.named_steps(product_)[step_];
    auto record = describe(named, product_);
    record.planned_bytes = std::visit([](const auto& run) { return run->volume().sent; }, term_.runs()[step_]) * product_.element_bytes;
    record.planned_seconds = named.seconds(product_.element_bytes, world_.plan_options());
    record.seconds = taken.count();
    record.bytes = world_.communicator().traffic().bytes_sent - before_.bytes_sent;
    record.exposed_seconds = world_.communicator().traffic().seconds - before_.seconds;
    record.start_microseconds = std::chrono::duration<double, std::micro>(date_.time_since_epoch()).count();
    world_.trace()->add(record);
}

}  // namespace arges

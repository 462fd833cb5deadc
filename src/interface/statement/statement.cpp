#include "interface/statement/statement.hpp"

#include "arges/error.hpp"
#include "base/options.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"
#include "base/trace.hpp"
#include "comm/collective_call.hpp"
#include "interface/statement/check_labels.hpp"
#include "interface/statement/dense_plan.hpp"
#include "interface/statement/right_hand_side.hpp"
#include "interface/statement/sparse_statement.hpp"
#include "local/transfer.hpp"

#include <algorithm>
#include <set>

namespace arges {

bool StatementArguments::is_converted(const Factor& factor) const {
    return !factor.is_mask && !factor.is_actor && *element_kernels(factor).type != *kernels.type;
}

void StatementArguments::check(const Term& term, bool is_named) const {
    const auto refuse = [&](const std::string& why) {
        throw InvalidArgument(title_of(left) + " under " + readable_type(kernels.name) + ": " + why);
    };
    const std::set<std::string> on_left(left.labels.names().begin(), left.labels.names().end());
    bool acts = false;
    for (const auto& factor : term.factors) {
        acts = acts || factor.is_actor;
        if (is_converted(factor) && !local::can_convert(*element_kernels(factor).type, *kernels.type))
            refuse(title_of(factor) + " has elements of another type, " + readable_type(element_kernels(factor).name) +
                   "; convert it first");
        for (const auto& label : factor.labels.names())
            if (!kernels.has_sum && !on_left.contains(label)) refuse("it has no sum over '" + label + "'; name an algebra in over<...>()");
        if (!kernels.has_negative && contains_kind(symmetry_of(factor), NodeKind::antisymmetric))
            refuse(title_of(factor) + " is antisymmetric, which needs negatives");
        if (world_of(factor).state() != world_of(left).state())
            throw InvalidArgument(title_of(left) + " and " + title_of(factor) + " live on different worlds; use transfer() first");
    }
    if (!kernels.has_negative && contains_kind(symmetry_of(left), NodeKind::antisymmetric))
        refuse("an antisymmetric tensor needs negatives");
    if (is_named && (term.coefficient.size() > 0 || term.factors.empty()))
        refuse("a number on the right-hand side has no meaning under an algebra that the statement names; put it into a tensor");
    if (!kernels.has_product && !acts && term.factors.size() > 1) refuse("it has no product; name an algebra that has one in over<...>()");
    if (!kernels.has_sum && (right.size() > 1 || beta == nullptr)) refuse("it has no sum; name an algebra in over<...>()");
}

void StatementArguments::check_beta() const {
    if (number(beta).imag() != 0 && contains_kind(symmetry_of(left), NodeKind::hermitian))
        throw InvalidArgument(title_of(left) + " is hermitian, but the number that it is multiplied by is not real; use a real "
                                               "one, or a tensor without that symmetry");
}

void StatementArguments::add_element(Digest& digest, const void* element) const {
    digest.add(element == nullptr ? std::string() : std::string(static_cast<const char*>(element), static_cast<std::size_t>(kernels.size)));
}

void run_statement(const StatementArguments& arguments) {
    auto& world = *world_of(arguments.left).state();
    const CollectiveCall call(world.movement_communicator(), "a statement");
    const Stopwatch watch;
    const auto planned = world.planned_bytes();
    const auto traffic = [&] { return world.dry() ? Traffic() : world.communicator().traffic(); };
    const auto before = traffic();
    std::int64_t working = 0;
    if (is_sparse_statement(arguments.left, arguments.right)) {
        run_sparse_statement({arguments.left, arguments.right, arguments.beta, arguments.kernels.on_host()});
    } else {
        working = run_dense_statement({arguments.left, arguments.right, arguments.beta, world.kernels(arguments.kernels)});
    }
    if (world.device().kind() != DeviceKind::none) world.agree([] {});  // has something failed there?
    const auto after = traffic();
    world.report() = {.bytes_sent = after.bytes_sent - before.bytes_sent,
                      .bytes_planned = world.planned_bytes() - planned,
                      .peak_memory_bytes = working,
                      .messages_sent = after.messages_sent - before.messages_sent,
                      .exposed_seconds = after.seconds - before.seconds,
                      .seconds = world.dry() ? 0 : watch.seconds()};
    if (Trace* const trace = world.trace()) trace->write();
}

void compare_plans(const WorldState& world, const Digest& plans, const std::string& statement) {
    if (world.size() > 1 && !world.communicator().all_equal(plans.value())) throw Error("the ranks have different plans for " + statement);
}

}  // namespace arges

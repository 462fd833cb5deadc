// Checking, planning and explaining statements with sparse tensors.
#include "interface/sparse_statement.hpp"

#include "base/digest.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "comm/values.hpp"
#include "interface/check_labels.hpp"
#include "interface/right_hand_side.hpp"
#include "interface/statement.hpp"
#include "local/transfer.hpp"
#include "plan/product/structure.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace arges {

namespace {

/// Steps whose lists take more bytes are inspected again each time.
constexpr std::int64_t max_kept_step_lists = std::int64_t{1} << 30;

/// How often a tensor's nonzeros are put elsewhere.
constexpr int most_moves = 3;

/// Where a rank would have so many times the mean of nonzeros, another way to spread them is looked at.
constexpr double most_uneven = 1.1;

}  // namespace

SparseStatement::SparseStatement(const Factor& left, const std::vector<Term>& right, const void* beta, const ElementKernels& algebra)
    : left_(left), right_(right), beta_(beta), kernels_(algebra), world_(left.sparse ? *left.sparse->world : *left.tensor->world) {}

bool SparseStatement::is_meant(const Factor& left, const std::vector<Term>& right) {
    return left.sparse || std::any_of(right.begin(), right.end(), [](const Term& term) {
               return std::any_of(term.factors.begin(), term.factors.end(),
                                  [](const Factor& factor) { return factor.sparse || factor.is_mask || factor.is_actor; });
           });
}

RequireBytes SparseStatement::require(const std::string& what) const {
    return [this, what](std::int64_t bytes) { world_.require_everywhere(bytes, what); };
}

/// Refuses what the element types or the algebra do not have.
void SparseStatement::check_types(const Term& term) const {
    const auto refuse = [&](const std::string& why) {
        throw InvalidArgument(title_of(left_) + " under " + readable_type(kernels_.name) + ": " + why);
    };
    const auto kernels_of = [](const Factor& factor) { return factor.sparse ? factor.sparse->kernels : factor.tensor->kernels; };
    std::set<std::string> left(left_.labels.names().begin(), left_.labels.names().end());
    for (const auto& factor : term.factors) {
        if (factor.is_mask && !factor.sparse)
            throw InvalidArgument(std::string(factor.is_complement ? "where_not(" : "where(") + text_of(factor) +
                                  ", ...): the mask is dense; it must be a sparse tensor");
        if (factor.is_complement)
            for (const auto& label : factor.labels.names())
                if (left.count(label) == 0)
                    throw InvalidArgument("where_not(" + text_of(factor) + ", ...): the output has no label '" + label +
                                          "'; sum over it in a statement before");
        if (!factor.is_mask && !factor.is_actor && *kernels_of(factor)->type != *kernels_.type &&
            !local::can_convert(*kernels_of(factor)->type, *kernels_.type))
            refuse(title_of(factor) + " has elements of another type, " + readable_type(kernels_of(factor)->name) + "; convert it first");
        if (!kernels_.has_sum)
            for (const auto& label : factor.labels.names())
                if (left.count(label) == 0) refuse("it has no sum over '" + label + "'; name an algebra in over<...>()");
        if (!kernels_.has_negative && contains_kind(symmetry_of(factor), NodeKind::antisymmetric))
            refuse(title_of(factor) + " is antisymmetric, which needs negatives");
    }
    if (!kernels_.has_negative && contains_kind(left_symmetry(), NodeKind::antisymmetric))
        refuse("an antisymmetric tensor needs negatives");
    const bool named = kernels_.name != kernels_of(left_)->name;  // tables may be copies for the host
    if (named && (term.coefficient.size() > 0 || term.factors.empty()))
        refuse("a number on the right-hand side has no meaning under an algebra that the statement names; put it into a tensor");
    const bool acts = std::any_of(term.factors.begin(), term.factors.end(), [](const Factor& factor) { return factor.is_actor; });
    if (acts) check_action(term);
    if (!kernels_.has_product && !acts && term.factors.size() > 1) refuse("it has no product; name an algebra that has one in over<...>()");
    if (!kernels_.has_sum && (right_.size() > 1 || beta_ == nullptr)) refuse("it has no sum; name an algebra in over<...>()");
}

/// One factor acts on one other, beside masks.
void SparseStatement::check_action(const Term& term) const {
    const auto refuse = [&](const std::string& why) { throw InvalidArgument(title_of(left_) + " = act(...): " + why); };
    if (kernels_.actor == nullptr)
        refuse("no elements of another type act on those of " + readable_type(kernels_.name) +
               "; name an algebra with actor_type and act() in over<...>()");
    std::int64_t actors = 0, others = 0;
    bool any_sparse = false;
    for (const auto& factor : term.factors) {
        if (factor.is_mask) continue;
        ++(factor.is_actor ? actors : others);
        any_sparse = any_sparse || factor.sparse;
        if (!factor.is_actor) continue;
        const auto& own = *(factor.sparse ? factor.sparse->kernels : factor.tensor->kernels);
        if (*own.type != *kernels_.actor)
            refuse("elements of " + title_of(factor) + " are of type " + readable_type(own.name) + ", and those that act are of type " +
                   readable_type(kernels_.actor->name()) + "; convert it first");
        if (factor.conjugated) refuse("conj() of " + title_of(factor) + ", which acts; let the algebra's act() do that");
    }
    if (actors != 1 || others != 1)
        refuse("a term has " + std::to_string(actors) + " factors that act and " + std::to_string(others) +
               " on which they do; it must have one of each, so make several statements");
    if (!any_sparse) refuse("both factors are dense; SparseTensor::from_dense() makes a sparse tensor of one of them");
    if (!left_symmetry().trivial()) refuse("the left-hand side has a symmetry; use a tensor without");
}

SparseStatement::LabelledTerm SparseStatement::labelled(const Term& term) const {
    const auto product = labelled_product(left_, term);
    LabelledTerm result;
    result.names = product.label_names;
    result.extents = product.label_extents;
    result.left = product.output.labels;
    result.output = SparseStep::distinct(result.left);
    result.is_dense = true;
    for (std::size_t f = 0; f < term.factors.size(); ++f) {
        const auto& factor = term.factors[f];
        Operand operand;
        operand.labels = product.factors[f].labels;
        operand.is_sparse = factor.sparse != nullptr;
        operand.is_mask = factor.is_mask;
        operand.is_actor = factor.is_actor;
        operand.sparse = factor.sparse;
        operand.dense = factor.tensor;
        operand.name = text_of(factor);
        operand.conjugated = factor.conjugated && !factor.is_mask;
        result.acts = result.acts || factor.is_actor;
        (factor.is_complement ? result.excluded : result.operands).push_back(std::move(operand));
        result.is_dense = result.is_dense && (!factor.sparse || factor.is_complement);
    }
    result.makes_sparse = left_.sparse || !result.excluded.empty();
    return result;
}

/// The number zero, which stores nothing.
bool SparseStatement::is_nothing(const Term& term) const { return term.factors.empty() && kernels_.is_zero(term.coefficient.data()); }

/// Ones where a mask stores elements; it has the same pattern. Local.
std::shared_ptr<SparseState> SparseStatement::ones_of(const SparseState& mask) const {
    auto ones = std::make_shared<SparseState>(kernels_, mask.world_handle, mask.lengths(), Symmetry(), mask.name);
    const auto count = mask.pattern()->count();
    require_here(count * kernels_.size);
    Buffer<std::byte> values(count * kernels_.size);
    kernels_.fill(values.data(), count, kernels_.one != nullptr ? kernels_.one : kernels_.zero);  // beside an action they are not read
    ones->adopt(mask.pattern(), {std::move(values), kernels_.size});
    return ones;
}

void SparseStatement::check() {
    const auto output = text_of(left_);
    for (const auto& term : right_) {
        check_types(term);
        for (const auto& factor : term.factors)
            if ((factor.sparse ? factor.sparse->world : factor.tensor->world).get() != &world_)
                throw InvalidArgument(title_of(left_) + " and " + title_of(factor) + " live on different worlds; use transfer() first");
        terms_.push_back(labelled(term));
        if (terms_.back().is_dense && !terms_.back().excluded.empty())
            throw InvalidArgument(
                output + ": a term under where_not(...) has no sparse factor: nearly all of its elements would be stored; multiply "
                         "by a sparse tensor that says which are meant");
        if (left_.sparse && terms_.back().is_dense && !is_nothing(term))
            throw InvalidArgument(output +
                                  " is sparse, but no factor of a term is: all of its elements would be stored; use a dense tensor, "
                                  "SparseTensor::from_dense(), or multiply by a sparse tensor that says which elements are meant");
    }
    check_symmetry();
    if (right_.empty()) left_alone_ = labelled_output(left_);
}

/// Terms without projection must have the symmetry of the left-hand side together; the others are projected.
void SparseStatement::check_symmetry() {
    if (left_symmetry().trivial()) {
        for (const auto& term : right_)
            if (term.projection == Projection::antisymmetrized || term.projection == Projection::symmetrized)
                throw InvalidArgument(text_of(left_) + " has no symmetry; leave antisymmetrized() and symmetrized() out");
        return;
    }
    if (beta_ != nullptr && kernels_.as_number(beta_).imag() != 0 && contains_kind(left_symmetry(), NodeKind::hermitian))
        throw InvalidArgument(title_of(left_) + " is hermitian, but the number that it is multiplied by is not real; use a real one, or a "
                                                "tensor without that symmetry");
    const auto sum = structural_sum(left_, right_, Projection::none, kernels_);
    if (!sum.products.empty()) require_symmetry(sum);
    for (std::size_t t = 0; t < right_.size(); ++t)
        if (!is_nothing(right_[t])) project(right_[t], terms_[t]);
}

/// Finds the permutations by which a term without symmetry, computed as it is, gives the left-hand side.
void SparseStatement::project(const Term& term, LabelledTerm& labels) const {
    auto sum = structural_sum(left_, {term}, term.projection, kernels_);
    const auto terms = projection_terms(sum, term.projection);
    const auto& names = left_.labels.names();
    const auto number = [&](const std::string& name) {
        return static_cast<int>(std::find(sum.label_names.begin(), sum.label_names.end(), name) - sum.label_names.begin());
    };
    const auto place_of = [&](int label) {
        for (std::size_t d = 0; d < names.size(); ++d)
            if (number(names[d]) == label) return static_cast<int>(d);
        return -1;
    };
    for (const auto& one : terms) {
        auto& permutation = labels.counted.emplace_back();
        permutation.negative = one.negative;
        permutation.conjugate = one.conjugate;
        for (std::size_t d = 0; d < names.size(); ++d) {
            const auto own = number(names[d]), other = one.image[own];
            permutation.image.push_back(own == other ? static_cast<int>(d) : place_of(other));
        }
    }
}

std::string SparseStatement::text() const {
    auto text = described(left_) + " =";
    for (std::size_t i = 0; i < right_.size(); ++i) {
        text += i > 0 ? " +" : "";
        for (std::size_t f = 0; f < right_[i].factors.size(); ++f) text += (f > 0 ? " * " : " ") + described(right_[i].factors[f]);
    }
    return text;
}

/// Checks the statement on all ranks, and that it is the same there, with one message.
void SparseStatement::agree_on_terms() {
    std::int64_t values[2] = {};
    world_.agree(
        [&] {
            check();
            Digest digest;
            const auto add_element = [&](const void* element) {
                digest.add(std::string(static_cast<const char*>(element == nullptr ? "" : element),
                                       element == nullptr ? 0 : static_cast<std::size_t>(kernels_.size)));
            };
            const auto add = [&](const Factor& factor) {
                digest.add(std::string(factor.sparse ? factor.sparse->kernels->type->name() : factor.tensor->kernels->type->name()));
                if (factor.sparse)
                    digest.add(*factor.sparse);
                else
                    digest.add(*factor.tensor).add(world_.digest(factor.tensor->shape()));
                digest.add(factor.conjugated);
            };
            digest.add(std::string(kernels_.name));
            add_element(beta_);
            add(left_);
            for (std::size_t t = 0; t < right_.size(); ++t) {
                add_element(right_[t].coefficient.data());
                digest.add(static_cast<int>(right_[t].projection)).add(terms_[t].left);
                for (const auto& factor : right_[t].factors) {
                    add(factor);
                    digest.add(factor.is_mask).add(factor.is_complement).add(factor.is_actor);
                }
                for (const auto& operand : terms_[t].operands) digest.add(operand.labels);
                for (const auto& mask : terms_[t].excluded) digest.add(mask.labels);
            }
            const std::int64_t own = digest.value();
            values[0] = own;
            values[1] = ~own;
        },
        values);
    if (values[0] == ~values[1]) return;
    const auto first = from_first_rank(world_.communicator(), [&] { return text(); });
    throw InvalidArgument("a statement with sparse tensors differs between ranks: on rank 0 it is " + first +
                          "; make the same statements with the same tensors and numbers on every rank");
}

SparseStep SparseStatement::step_for(const LabelledTerm& term, const std::vector<Operand>& operands, const Choice& choice) {
    SparseStep step;
    step.label_extents = term.extents;
    step.label_names = term.names;
    step.output = choice.output;
    step.element_bytes = kernels_.size;
    step.counts = counts_for(term, operands, choice);
    for (auto o : choice.operands) {
        const auto& operand = operands[o];
        if (operand.is_sparse)
            step.sparse.push_back({operand.labels, static_cast<std::int64_t>(std::llround(operand.nonzeros)),
                                   operand.sparse && operand.sparse->symmetry.trivial() ? operand.sparse->pattern()->layout : std::nullopt,
                                   operand.name});
        else
            step.dense.push_back({operand.labels,
                                  operand.dense ? operand.dense->layout
                                                : new_layout(
                                                      world_,
                                                      [&] {
                                                          std::vector<std::int64_t> extents;
                                                          for (int label : operand.labels) extents.push_back(term.extents[label]);
                                                          return extents;
                                                      }(),
                                                      Symmetry::none(operand.labels.size())),
                                  operand.name});
    }
    if (!term.acts || choice.operands.size() < 2) return step;
    for (int o = 0; o < 2; ++o) {
        const auto& operand = operands[choice.operands[o]];
        if (!operand.is_actor && !operand.is_mask) continue;
        step.actor = o;
        step.actor_is_mask = operand.is_mask;
        step.actor_bytes = operand.is_mask ? kernels_.size : (operand.sparse ? operand.sparse->kernels : operand.dense->kernels)->size;
    }
    return step;
}

std::string SparseStatement::key_of(const SparseStep& step, const std::vector<Operand>& operands, const Choice& choice) const {
    std::string key("step");
    append(key, kernels_.size);
    append(key, std::ssize(step.sparse));
    append(key, step.actor);
    append(key, step.actor < 0 ? 0 : step.actor_bytes);
    for (auto o : choice.operands) {
        append(key, operands[o].labels);
        if (operands[o].is_sparse) append(key, static_cast<std::int64_t>(operands[o].sparse->pattern()->identity));
    }
    for (const auto& operand : step.dense)
        append(key, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(operand.layout.identity())));
    append(key, step.output);
    append(key, step.result ? static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(step.result->layout.identity())) : 0);
    if (step.result) append(key, step.result->labels);
    for (int label : step.output) append(key, step.extent(label));
    return key;
}

/// Does a step serve again? A sparse result needs a tensor that has its pattern, on every rank.
bool SparseStatement::is_usable(const PreparedSparseStep& kept, bool makes_pattern, std::shared_ptr<const SparsePattern>& pattern) const {
    if (!makes_pattern) return true;
    pattern = kept.result.lock();
    std::int64_t is_there[] = {pattern ? 1 : 0};
    world_.agree([] {}, is_there);
    return is_there[0] == 1;
}

void SparseStatement::keep(const std::string& key, const std::shared_ptr<PreparedSparseStep>& made) {
    if (made->bytes() <= std::min(max_kept_step_lists, world_.least_free_bytes() / 4)) world_.sparse_steps().use(key) = made;
}

/// Puts the nonzeros of a user's tensor where a grid needs them, and leaves them there. @param is_shared  it is there with other labels,
/// too
void SparseStatement::settle(Operand& operand, const SparseOperand& labels, const std::vector<int>& rows, const LabelGrid& grid,
                             bool is_shared) {
    if (!operand.own) return;
    auto& tensor = *operand.own;
    const auto pattern_before = tensor.pattern();
    const auto& pattern = *pattern_before;
    const auto wanted = grid.layout_of(labels.labels);
    if (SparseStep::distinct(labels.labels).size() < labels.labels.size() || grid.copies_of(labels.labels).size() > 1) return;
    // Statements that want it elsewhere in turn do not move it to and fro: then they move its values, along lists that they keep.
    if (pattern.layout && (*pattern.layout == wanted || is_shared || tensor.moves >= most_moves)) return;
    const auto* const comm = world_.movement_communicator();
    const auto columns = spans_of(pattern.indices);
    const SparseMove move(comm, columns, nullptr, wanted, {0});
    const auto working = move.most() * 2 * (static_cast<std::int64_t>(columns.size() * sizeof(std::int64_t)) + tensor.kernels->size);
    if (working > world_.least_free_bytes()) return;
    world_.note_working(working);
    ++tensor.moves;
    auto indices = move.indices(columns);
    auto values = move.values(tensor.values().data(), tensor.kernels->size);
    planned_ += move.sent() * (static_cast<std::int64_t>(columns.size() * sizeof(std::int64_t)) + tensor.kernels->size);
    Buffer<std::byte> sorted(0);
    world_.agree([&] {
        std::vector<std::size_t> modes;
        for (auto label = rows.rbegin(); label != rows.rend(); ++label)
            for (std::size_t m = 0; m < labels.labels.size(); ++m)
                if (labels.labels[m] == *label) modes.push_back(m);
        for (std::size_t m = labels.labels.size(); m-- > 0;)
            if (std::find(modes.begin(), modes.end(), m) == modes.end()) modes.push_back(m);
        sparse::Columns by;
        std::vector<std::int64_t> lengths;
        for (auto m : modes) {
            by.push_back(indices[m]);
            lengths.push_back(pattern.lengths[m]);
        }
        const auto runs = sparse::sorted_runs(move.count(), {}, by, lengths);
        for (auto& column : indices) {
            std::vector<std::int64_t> ordered(column.size());
            for (std::size_t i = 0; i < ordered.size(); ++i) ordered[i] = column[runs.order[i]];
            column = std::move(ordered);
        }
        sorted = Buffer<std::byte>(values.size());
        const local::ListedTransfer list{.count = move.count(), .from = runs.order.data()};
        tensor.kernels->transfer_listed(list, values.data(), sorted.data(), nullptr, {});
    });
    const auto moved = SparseState::pattern_of(tensor.world, {pattern.lengths, std::move(indices)}, wanted);
    moved->imbalances = pattern.imbalances;
    tensor.adopt(moved, {std::move(sorted), tensor.kernels->size});
    if (operand.is_mask) world_.agree([&] { operand.sparse = ones_of(tensor); });
}

/// Operands with all their elements, and masks as ones. Collective.
std::vector<SparseStatement::Operand> SparseStatement::whole(std::vector<Operand> operands) const {
    for (auto& operand : operands) {
        if (!operand.is_sparse) continue;
        if (operand.sparse->symmetry.trivial()) operand.own = operand.sparse;
        operand.sparse = whole_of(operand.sparse);
        if (operand.is_mask) world_.agree([&] { operand.sparse = ones_of(*operand.sparse); });
    }
    return operands;
}

/// What the inspection of an earlier statement has found; null: it is not known.
std::shared_ptr<PreparedSparseStep> SparseStatement::kept_step(const SparseStep& step, const std::vector<Operand>& operands,
                                                               const Choice& choice, std::shared_ptr<const SparsePattern>& pattern) {
    const auto key = key_of(step, operands, choice);
    const auto* const kept = world_.sparse_steps().find(key);
    if (kept == nullptr) return nullptr;
    auto found = *kept;
    if (!is_usable(*found, !step.result, pattern)) return nullptr;
    world_.sparse_steps().use(key);
    return found;
}

/// Gives back what is kept for other statements. False: there is nothing.
bool SparseStatement::forgets_steps() {
    const bool has_some = world_.sparse_steps().size() > 0;
    world_.sparse_steps().clear();
    return has_some;
}

/// How many times the mean the rank of a grid has that has most nonzeros. Collective if it is counted; else it may be unknown.
std::optional<double> SparseStatement::imbalance(const Operand& operand, const SparseOperand& labels, const LabelGrid& grid,
                                                 bool counts) const {
    const auto& pattern = *operand.sparse->pattern();
    const auto layout = grid.layout_of(labels.labels);
    for (const auto& [known, factor] : pattern.imbalances)
        if (known == layout) return factor;
    if (!counts) return {};
    std::vector<std::int64_t> there;
    world_.agree([&] {
        there.assign(world_.size(), 0);
        for (std::int64_t k = 0; k < pattern.count(); ++k) ++there[layout.rank_of([&](int mode) { return pattern.indices[mode][k]; })];
    });
    world_.communicator().sum(there.data(), world_.size());
    const auto most = *std::max_element(there.begin(), there.end());
    const auto mean = static_cast<double>(pattern.total) / layout.ranks();
    const auto factor = pattern.total > 0 ? static_cast<double>(most) / mean : 1.0;
    pattern.imbalances.emplace_back(layout, factor);
    return factor;
}

/// The fastest plan. With one sparse factor labels are spread cyclically, or by a hash where that leaves ranks with too uneven parts.
SparseStepPlan SparseStatement::plan_of(SparseStep& step, const std::vector<Operand>& operands, const Choice& choice, std::int64_t ranks,
                                        std::int64_t memory_limit, std::int64_t least_phases, bool counts) const {
    auto options = world_.plan_options();
    options.memory_limit = memory_limit;
    const auto plan = [&] {
        SparseStepPlan result;
        const auto make = [&] { result = plan_sparse_step(step, ranks, options, least_phases); };
        if (counts)
            world_.agree(make);
        else
            make();
        return result;
    };
    auto best = plan();
    const auto& operand = operands[choice.operands[0]];
    if (ranks == 1 || best.phases.parts > 1 || !operand.sparse || !operand.sparse->symmetry.trivial() || !step.may_be_hashed()) return best;
    const auto uneven = imbalance(operand, step.sparse[0], best.grid, counts);
    const auto& digits = step.sparse[0].layout ? step.sparse[0].layout->digits : std::vector<SparseDigit>();
    const bool lies_by_hash = std::any_of(digits.begin(), digits.end(), [](const auto& digit) { return digit.by_hash; });
    if (!uneven || (*uneven <= most_uneven && !lies_by_hash)) return best;
    step.by_hash = true;
    const auto other = plan();
    const auto uneven_there = imbalance(operand, step.sparse[0], other.grid, counts).value_or(1);
    if (other.phases.parts == 1 &&
        seconds_if_uneven(other, uneven_there, options.machine) < seconds_if_uneven(best, *uneven, options.machine))
        return other;
    step.by_hash = false;
    return best;
}

/// Plans a step, and puts nonzeros where it needs them.
SparseStepPlan SparseStatement::planned(SparseStep& step, std::vector<Operand>& operands, const Choice& choice, std::int64_t least_phases) {
    SparseStepPlan plan;
    const auto make = [&] { plan = plan_of(step, operands, choice, world_.size(), world_.least_free_bytes(), least_phases, true); };
    try {
        make();
        if (plan.phases.parts > least_phases && forgets_steps()) make();
    } catch (const OutOfMemory&) {
        if (!forgets_steps()) throw;
        make();
    }
    if constexpr (is_checked_build) compare(plan);
    if (plan.phases.parts > 1) return plan;
    for (std::size_t o = 0; o < step.sparse.size(); ++o) {
        auto& operand = operands[choice.operands[o]];
        const auto uses =
            std::count_if(choice.operands.begin(), choice.operands.end(), [&](auto other) { return operands[other].own == operand.own; });
        settle(operand, step.sparse[o], step.output, plan.grid, uses > 1);
        step.sparse[o].layout = operand.sparse->pattern()->layout;
    }
    if (step.counts)  // patterns may be other ones now, of the same nonzeros
        world_.sparse_counts().use(counts_key(operands[choice.operands[0]], operands[choice.operands[1]], choice.output)) = *step.counts;
    return plan;
}

/// @throws Error if the ranks have different plans: they would wait for messages that nobody sends
void SparseStatement::compare(const SparseStepPlan& plan) const {
    Digest digest;
    digest.add(plan.grid.parts).add(plan.grid.by_hash).add(plan.phases.label).add(plan.phases.parts);
    if (!world_.communicator().all_equal(digest.value())) throw Error("the ranks have different plans for " + text());
}

/// Finds out which nonzeros meet; null: memory does not suffice. @param beside  bytes that are in use
std::unique_ptr<SparseStepRun> SparseStatement::inspect(const SparseStep& step, const SparseStepPlan& plan,
                                                        const std::vector<Operand>& operands, const Choice& choice, std::int64_t beside) {
    std::vector<IndexSpans> indices;
    for (std::size_t o = 0; o < step.sparse.size(); ++o)
        indices.push_back(spans_of(operands[choice.operands[o]].sparse->pattern()->indices));
    const auto sent_before = world_.communicator().traffic().bytes_sent;
    const auto asked = require(text());
    try {
        auto run = std::make_unique<SparseStepRun>(world_.movement_communicator(), step, plan, indices,
                                                   [&](std::int64_t bytes) { asked(beside + bytes); });
        asked(beside + world_.most(run->list_bytes() + run->working_bytes(conjugated(operands, choice))));
        planned_ += run->inspected_bytes();
        return run;
    } catch (const OutOfMemory&) {
        shortage_ = std::current_exception();
        planned_ += world_.communicator().traffic().bytes_sent - sent_before;
        return nullptr;
    }
}

/// An inspected step, kept for statements that repeat it; null: memory does not suffice.
std::shared_ptr<PreparedSparseStep> SparseStatement::prepared(const SparseStep& step, const SparseStepPlan& plan,
                                                              std::vector<Operand>& operands, const Choice& choice,
                                                              std::shared_ptr<const SparsePattern>& pattern) {
    auto run = inspect(step, plan, operands, choice, 0);
    if (!run) return nullptr;
    const auto bytes = world_.most(run->list_bytes());
    if (!step.result) {
        if (run->has_pattern_of_operand()) {
            pattern = operands[choice.operands[step.sparse.size() - 1]].sparse->pattern();
        } else {
            auto lengths = step.extents(step.output);
            pattern = SparseState::pattern_of(operands[choice.operands[0]].sparse->world, {std::move(lengths), run->take_indices()},
                                              run->result_layout());
        }
    }
    auto made = std::make_shared<PreparedSparseStep>(world_, std::move(run), bytes);
    made->result = pattern;
    // Only where the left-hand side is just this result does it keep the pattern itself.
    const bool is_all = choice.is_last && right_.size() == 1 && beta_ != nullptr && kernels_.is_zero(beta_) && left_symmetry().trivial() &&
                        terms_[0].excluded.empty() && terms_[0].left == terms_[0].output;
    if (!is_all) made->intermediate = pattern;
    keep(key_of(step, operands, choice), made);
    return made;
}

/// What an inspection has found, if the step is kept.
std::string SparseStatement::found_by_inspection(const SparseStep& step, const std::vector<Operand>& operands, const Choice& choice) const {
    for (auto o : choice.operands)
        if (operands[o].is_sparse && (!operands[o].sparse || !operands[o].sparse->symmetry.trivial())) return "";
    const auto* const kept = world_.sparse_steps().find(key_of(step, operands, choice));
    if (kept == nullptr) return "";
    const auto& run = (*kept)->product();
    std::string text = "  inspected: a run sends " + with_commas(run.sent_bytes()) + " bytes from this rank, the inspection has sent " +
                       with_commas(run.inspected_bytes()) + "; multiplications on this rank " + with_commas(run.products());
    if (const auto pattern = (*kept)->result.lock()) text += "; nonzeros of the result " + with_commas(pattern->total);
    return text + "\n";
}

std::string SparseStatement::explain(std::optional<std::int64_t> other_ranks) {
    check();
    const auto ranks = other_ranks.value_or(world_.size());
    std::string text;
    for (std::size_t t = 0; t < right_.size(); ++t) {
        const auto& term = terms_[t];
        if (term.is_dense) {
            if (other_ranks)
                throw InvalidArgument(text_of(left_) +
                                      ": a term without sparse factors is planned for other ranks in a dry run (World::dry_run)");
            const std::vector<Term> alone{right_[t]};
            text += Statement(left_, alone, t == 0 ? beta_ : nullptr, kernels_).explain();
            continue;
        }
        auto operands = counted(term.operands);
        for (int number = 1;; ++number) {
            const auto choice = chosen_step(term, operands);
            auto step = step_for(term, operands, choice);
            if (!choice.is_sparse) {
                auto lengths = step.extents(choice.output);
                if (choice.is_last && !left_.sparse && left_symmetry().trivial())
                    step.result = DenseOperand{term.left, left_.tensor->layout, ""};
                else
                    step.result = DenseOperand{choice.output, new_layout(world_, lengths, Symmetry::none(lengths.size())), ""};
            }
            if (other_ranks)
                for (auto& operand : step.sparse) operand.layout = {};
            const auto plan = plan_of(step, operands, choice, ranks, world_.free_bytes(), 1, false);
            text += "step " + std::to_string(number) + ": " + to_string(plan, step);
            if (!other_ranks) text += found_by_inspection(step, operands, choice);
            if (choice.is_last) break;
            Operand result{{choice.output, plan.result_nonzeros, choice.is_sparse}};
            result.name = "result " + std::to_string(number);
            operands = replaced(operands, choice, std::move(result));
        }
    }
    return text;
}

}  // namespace arges

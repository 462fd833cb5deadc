// Running terms that are planned.
#include "arges/error.hpp"
#include "base/first_error.hpp"
#include "base/math.hpp"
#include "base/overloaded.hpp"
#include "base/text.hpp"
#include "interface/statement/check_labels.hpp"
#include "interface/statement/dense_terms.hpp"
#include "interface/statement/step_trace.hpp"
#include "local/transfer.hpp"

#include <algorithm>
#include <utility>

namespace arges {

namespace {

/// A statement that touches so few bytes does not run out of memory on one rank only; hearing of all ranks would cost as much as it does.
constexpr std::int64_t small_statement = std::int64_t{64} << 10;

}  // namespace

void DenseTerms::scale_only() {
    if (beta == nullptr || kernels.is_one(beta)) return;
    const auto product = labelled_output(left);
    Movement spec;
    spec.to = output_.layout;
    spec.to_labels = product.output.labels;
    spec.label_extents = product.label_extents;
    spec.terms = {spec.identity()};
    scale_named(kernels, spec, world_.rank(), output_.bytes.data(), beta);
}

/// Gives the workspace back where an operation takes less of it than there is, and the limit does not leave room for both.
/// @param bytes  in all, @param from_workspace  of the workspace
void DenseTerms::make_room(std::int64_t bytes, std::int64_t from_workspace) {
    if (most_workspace_ <= from_workspace || bytes - from_workspace + most_workspace_ <= least_free_) return;
    world_.make_room(world_.memory_limit());
    least_workspace_ = 0;
}

std::int64_t DenseTerms::run() {
    agree_on_terms();
    const auto working = working_bytes();
    const int agreed = agreements(working);
    std::int64_t from_workspace = 0, planned = 0, passing = 0;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        const auto& term = terms_[i];
        const auto converted = converted_bytes(right[i]);
        ++world_.runs().use(term.history);
        if (world_.prepared().find(term.key) != nullptr) world_.prepared().use(term.key);
        from_workspace = std::max(from_workspace, term.prepared->workspace_bytes() + converted);
        planned += term.prepared->planned_bytes();
        passing = std::max(passing, term.prepared->passing_bytes());
        world_.note_seconds(term.prepared->seconds());
    }
    const auto snapshot_bytes = aliased_ ? saturated_product(output_.shape().max_local_size(), kernels.size) : 0;
    const auto places = find_new_places(from_workspace + snapshot_bytes);
    const auto taken = snapshot_bytes + std::max(working, from_workspace + places);
    make_room(taken, from_workspace);
    world_.note_seconds(agreed * world_.agreement_seconds());
    world_.note_working(taken, from_workspace, passing);
    world_.note_planned_bytes(planned);
    if (world_.dry()) {
        move_to_new_places();
        return taken;
    }
    Buffer<std::byte> snapshot;
    if (aliased_) world_.agree([&] { snapshot = output_.bytes.copy(); });
    if (kernels.space == nullptr && from_workspace > least_workspace_) world_.agree([&] { world_.workspace().reserve(from_workspace); });
    if (!new_places_.empty())
        world_.agree([&] {
            for (auto& place : new_places_)
                place.elements =
                    Buffer<std::byte>(place.layout.local_size(world_.rank()) * place.tensor->kernels->size, place.tensor->kernels->space);
        });
    FirstError error;  // a rank that fails still takes part in the movements
    if (terms_.empty()) error.run([&] { scale_only(); });
    for (std::size_t i = 0; i < terms_.size(); ++i) run_term(i, i == 0 ? beta : nullptr, snapshot, error);
    if (agreed > 1)
        world_.agree([&] { error.rethrow(); });
    else
        error.rethrow();
    move_to_new_places();
    output_.keep_real();
    return taken;
}

/// Bytes of the operands of a term that have another type than the output, in its type, on the busiest rank.
std::int64_t DenseTerms::converted_bytes(const Term& term) const {
    std::int64_t sum = 0;
    for (const auto& factor : term.factors)
        if (is_converted(factor)) sum += Workspace::padded(saturated_product(factor.tensor->shape().max_local_size(), kernels.size));
    return sum;
}

/// Bytes of copies that are made beside what a term's plan takes, on the busiest rank: of an output that is on both sides, and of operands
/// of other types.
std::int64_t DenseTerms::copied_bytes(const Term& term) const {
    return (aliased_ ? saturated_product(output_.shape().max_local_size(), kernels.size) : 0) + converted_bytes(term);
}

/// What the limit leaves for the plan of a term. @throws OutOfMemory if it leaves too little for the copies
std::int64_t DenseTerms::left_beside_copies(std::size_t i, std::int64_t free_bytes) const {
    const auto& term = right[i];
    const auto copies = copied_bytes(term);
    if (copies <= free_bytes) return free_bytes - copies;
    std::string of = aliased_ ? output_.title() + ", which is on both sides," : "";
    for (const auto& factor : term.factors)
        if (is_converted(factor)) of += (of.empty() ? "" : " and of ") + factor.tensor->title() + ", whose elements have another type,";
    throw OutOfMemory(text_of(left) + ": a copy of " + of + " takes " + with_commas(copies) + " bytes on a rank, and the limit leaves " +
                      with_commas(free_bytes) +
                      "; use another tensor in its place, more ranks, or raise the limit "
                      "(World::set_memory_limit, ARGES_MEMORY_LIMIT)");
}

/// Bytes that the planned terms work with, one after the other.
std::int64_t DenseTerms::working_bytes() const {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < terms_.size(); ++i) most = std::max(most, terms_[i].prepared->working_bytes() + converted_bytes(right[i]));
    return most;
}

/// How often ranks agree: on the statement, and where one of them may fail alone on what has become of it. The same on all ranks.
int DenseTerms::agreements(std::int64_t working) const {
    std::int64_t elements = output_.shape().max_local_size();
    for (const auto& term : right)
        for (const auto& factor : term.factors) elements += factor.tensor->shape().max_local_size();
    return working + elements * kernels.size > small_statement ? 2 : 1;
}

/// The output and factors that the plans put elsewhere. Plans are the same on all ranks, so are the decisions. All of them are there until
/// the last term is done: a factor of which there is no room for a second array stays where it is.
/// @param taken  bytes that the terms take beside. @return bytes of the new arrays on the busiest rank
std::int64_t DenseTerms::find_new_places(std::int64_t taken) {
    new_places_.clear();
    std::int64_t sum = 0;
    auto add = [&](TensorState& tensor, const Layout& layout, std::size_t term, std::size_t factor) {
        const bool known = std::any_of(new_places_.begin(), new_places_.end(), [&](const auto& p) { return p.tensor == &tensor; });
        if (layout.identity() == tensor.layout.identity() || known) return;
        const auto bytes = bytes_on_a_rank(layout, kernels.size);
        if (&tensor != &output_ && taken + sum + bytes > least_free_) return;
        sum += bytes;
        new_places_.push_back({&tensor, layout, {}, term, factor});
        if (&tensor != &output_ && terms_[term].prepared->expects_more_runs()) ++tensor.moves;
    };
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        const auto& after = terms_[i].prepared->settled();
        add(output_, after.output.layout, i, 0);
        const auto& factors = right[i].factors;
        for (std::size_t f = 0; f < factors.size(); ++f)
            if (factors[f].tensor.get() != left.tensor.get() && !is_converted(factors[f]))
                add(*factors[f].tensor, after.factors[f].layout, i, f);
    }
    return sum;
}

void DenseTerms::move_to_new_places() {
    for (auto& place : new_places_) place.tensor->relocate(std::move(place.layout), std::move(place.elements));
    new_places_.clear();
}

void DenseTerms::run_term(std::size_t i, const void* own_beta, const Buffer<std::byte>& snapshot, FirstError& error) {
    const auto& term = right[i];
    const auto& prepared = *terms_[i].prepared;
    auto& workspace = world_.workspace();
    const Workspace::Scope scope(workspace);
    std::vector<void*> arrays, stay;
    for (std::size_t f = 0; f < term.factors.size(); ++f) {
        const auto& tensor = term.factors[f].tensor;
        const auto place = std::find_if(new_places_.begin(), new_places_.end(), [&](const auto& p) {
            return p.tensor == tensor.get() && p.term == i && p.factor == f && p.tensor != &output_;
        });
        stay.push_back(place != new_places_.end() ? place->elements.data() : nullptr);
        void* elements = const_cast<std::byte*>(tensor.get() == left.tensor.get() ? snapshot.data() : tensor->bytes.data());
        if (is_converted(term.factors[f])) {
            auto* const converted = workspace.take(tensor->count(), kernels.size, kernels.space);
            local::convert_elements(*tensor->kernels->type, kernels, elements, converted, tensor->count());
            elements = converted;
        }
        arrays.push_back(elements);
    }
    if (term.factors.empty()) arrays.push_back(const_cast<void*>(kernels.one));
    for (const auto& layout : prepared.plan().intermediates)
        arrays.push_back(workspace.take(layout.local_size(world_.rank()), kernels.size, kernels.space));
    const auto relocated = std::find_if(new_places_.begin(), new_places_.end(), [&](const auto& p) { return p.tensor == &output_; });
    const bool moves = relocated != new_places_.end();
    for (std::size_t s = 0; s < prepared.runs().size(); ++s) {
        const auto& plan = prepared.plan().steps[s];
        const bool final = plan.output == output_operand;
        const void* alpha = final ? term.coefficient.data() : nullptr;
        ElementValue product;
        if (plan.factor != 1) {
            product = ElementValue(kernels.size);
            kernels.multiple(plan.factor, alpha != nullptr ? alpha : kernels.one, product.data());
            alpha = product.data();
        }
        const void* const step_beta = final ? std::exchange(own_beta, nullptr) : kernels.zero;
        void* const out = final ? (moves ? relocated->elements.data() : output_.bytes.data()) : arrays[plan.output];
        std::vector<const void*> inputs;
        std::vector<void*> input_stays;
        for (int n : plan.inputs) {
            const std::size_t number = n;
            inputs.push_back(arrays[number]);
            input_stays.push_back(number < stay.size() ? stay[number] : nullptr);
        }
        StepTrace trace(world_, prepared, terms_[i].product, s);
        error.run([&] {
            std::visit(Overloaded{[&](const std::shared_ptr<MovementRun>& run) {
                                      run->run(kernels, inputs[0], out, alpha, step_beta, std::get<PlannedMovement>(plan.work).conjugated,
                                               workspace);
                                  },
                                  [&](const std::shared_ptr<ProductRun>& run) {
                                      run->run(kernels, inputs, out, alpha, step_beta, input_stays, workspace);
                                  }},
                       prepared.runs()[s]);
        });
        trace.finish();
    }
}

}  // namespace arges

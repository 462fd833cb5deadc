#include "interface/statement/dense_plan.hpp"

#include "base/first_error.hpp"
#include "base/math.hpp"
#include "base/overloaded.hpp"
#include "interface/dense/device_places.hpp"
#include "interface/statement/check_labels.hpp"
#include "interface/statement/step_trace.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace arges {

namespace {

/// Runs terms that are planned.
class DenseRun {
public:
    explicit DenseRun(const DensePlan& plan)
        : plan_(plan), kernels_(plan.kernels), own_(table(plan.output.on_device)), output_(plan.output), world_(plan.world),
          least_workspace_(plan.least_workspace) {}

    /// Takes what it needs, and changes nothing where that is not there. @return bytes on the busiest rank
    std::int64_t run() {
        const auto from_workspace = note_terms();
        const auto snapshot_bytes = plan_.aliased ? saturated_product(output_.shape().max_local_size(), kernels_.size) : 0;
        const auto places = find_new_places(from_workspace + snapshot_bytes + plan_.kept_lists());
        const auto taken = snapshot_bytes + std::max(plan_.working_bytes(), from_workspace + places);
        make_room(taken, from_workspace);
        world_.note_seconds(plan_.agreements() * world_.agreement_seconds());
        world_.note_working(taken, from_workspace, passing_);
        if (!world_.dry()) {
            allocate(from_workspace);
            run_terms();
        }
        for (auto& place : new_places_) place.tensor->relocate(std::move(place.layout), std::move(place.elements));
        if (!world_.dry()) output_.keep_real();
        return taken;
    }

private:
    /// A tensor that lies elsewhere after the statement.
    struct NewPlace {
        TensorState* tensor;
        Layout layout;
        Buffer<std::byte> elements;
        std::size_t term, factor;  ///< the one that writes them
    };
    /// The arrays of a term: its factors and intermediates, and those where factors are to stay.
    struct Arrays {
        std::vector<SourceArray> read;
        std::vector<void*> stay;
    };

    /// Tells the world what will run. @return bytes that it takes from the workspace
    std::int64_t note_terms() {
        std::int64_t from_workspace = 0, planned = 0;
        for (std::size_t i = 0; i < plan_.terms.size(); ++i) {
            const auto& term = plan_.terms[i];
            ++world_.runs().use(term.history);
            if (world_.prepared().find(term.key) != nullptr) world_.prepared().use(term.key);
            from_workspace = std::max(from_workspace, term.prepared->workspace_bytes());
            planned += term.prepared->planned_bytes();
            passing_ = std::max(passing_, term.prepared->passing_bytes());
            world_.note_seconds(term.prepared->seconds());
        }
        world_.note_planned_bytes(planned);
        return from_workspace;
    }

    /// Gives the workspace back where an operation takes less of it than there is, and the limit does not leave room for both; then lists
    /// of other terms likewise. @param bytes  in all beside lists, @param from_workspace  of the workspace
    void make_room(std::int64_t bytes, std::int64_t from_workspace) {
        const auto beside = bytes - from_workspace;
        if (plan_.most_workspace > from_workspace && beside + plan_.most_workspace + plan_.kept_lists() > plan_.least_free) {
            world_.give_workspace_back();
            least_workspace_ = 0;
        }
        if (beside + std::max(world_.kept_workspace(), from_workspace) + world_.kept_lists() > world_.free_bytes())
            world_.give_lists_back(plan_.running());
    }

    /// The output and factors that the plans put elsewhere. Plans are the same on all ranks, so are the decisions. All of them are there
    /// until the last term is done: a factor of which there is no room for a second array stays where it is.
    /// @param taken  bytes that the terms take beside. @return bytes of the new arrays on the busiest rank
    std::int64_t find_new_places(std::int64_t taken) {
        std::int64_t sum = 0;
        auto add = [&](TensorState& tensor, const Layout& layout, std::size_t term, std::size_t factor) {
            const bool known = std::any_of(new_places_.begin(), new_places_.end(), [&](const auto& p) { return p.tensor == &tensor; });
            if (layout.identity() == tensor.layout.identity() || known) return;
            const auto bytes = bytes_on_a_rank(layout, kernels_.size);
            const auto free = tensor.on_device ? std::min(plan_.least_free, world_.device().free_bytes()) : plan_.least_free;
            if (&tensor != &output_ && taken + sum + bytes > free) return;
            sum += bytes;
            new_places_.push_back({&tensor, layout, {}, term, factor});
            if (&tensor != &output_ && plan_.terms[term].prepared->expects_more_runs()) ++tensor.moves;
        };
        for (std::size_t i = 0; i < plan_.terms.size(); ++i) {
            const auto& after = plan_.terms[i].prepared->settled();
            add(output_, after.output.layout, i, 0);
            const auto& factors = plan_.right[i].factors;
            for (std::size_t f = 0; f < factors.size(); ++f)
                if (factors[f].tensor.get() != &output_ && !plan_.is_converted(factors[f]))
                    add(*factors[f].tensor, after.factors[f].layout, i, f);
        }
        return sum;
    }

    void allocate(std::int64_t from_workspace) {
        if (plan_.aliased) world_.agree([&] { snapshot_ = output_.bytes.copy(); });
        if (kernels_.space == nullptr && from_workspace > least_workspace_)
            world_.agree([&] { world_.workspace().reserve(from_workspace); });
        if (new_places_.empty()) return;
        world_.agree([&] {
            for (auto& place : new_places_)
                place.elements =
                    Buffer<std::byte>(place.layout.local_size(world_.rank()) * place.tensor->kernels->size, place.tensor->kernels->space);
        });
    }

    /// A rank that fails still takes part in the movements.
    void run_terms() {
        FirstError error;
        if (plan_.terms.empty()) error.run([&] { scale_only(); });
        for (std::size_t i = 0; i < plan_.terms.size(); ++i) run_term(i, error);
        if (plan_.agreements() > 1)
            world_.agree([&] { error.rethrow(); });
        else
            error.rethrow();
    }

    void scale_only() const {
        if (plan_.beta == nullptr || kernels_.is_one(plan_.beta)) return;
        const auto product = labelled_output(plan_.left);
        Movement spec;
        spec.to = output_.layout;
        spec.to_labels = product.output.labels;
        spec.label_extents = product.label_extents;
        spec.terms = {spec.identity()};
        scale_named(own_, spec, world_.rank(), output_.bytes.data(), plan_.beta);
    }

    Arrays arrays_of(std::size_t i) {
        auto& workspace = world_.workspace();
        const auto& term = plan_.right[i];
        Arrays arrays;
        for (std::size_t f = 0; f < term.factors.size(); ++f) {
            const auto& tensor = term.factors[f].tensor;
            const auto place = std::find_if(new_places_.begin(), new_places_.end(), [&](const auto& p) {
                return p.tensor == tensor.get() && p.term == i && p.factor == f && p.tensor != &output_;
            });
            arrays.stay.push_back(place != new_places_.end() ? place->elements.data() : nullptr);
            arrays.read.emplace_back(tensor.get() == &output_ ? snapshot_.data() : tensor->bytes.data(),
                                     plan_.is_converted(term.factors[f]) ? tensor->kernels : &table(tensor->on_device));
        }
        if (term.factors.empty()) arrays.read.emplace_back(kernels_.one, &table(false));
        const auto& planned = plan_.terms[i].prepared->plan();
        for (const auto& layout : planned.intermediates) {
            const auto& kernels = table(planned.is_on_device(static_cast<int>(arrays.read.size())));
            arrays.read.emplace_back(workspace.take(layout.local_size(world_.rank()), kernels.size, kernels.space), &kernels);
        }
        return arrays;
    }

    void run_term(std::size_t i, FirstError& error) {
        const auto& prepared = *plan_.terms[i].prepared;
        auto& workspace = world_.workspace();
        const Workspace::Scope scope(workspace);
        const auto arrays = arrays_of(i);
        const auto relocated = std::find_if(new_places_.begin(), new_places_.end(), [&](const auto& p) { return p.tensor == &output_; });
        auto* const result = relocated != new_places_.end() ? relocated->elements.data() : output_.bytes.data();
        const void* beta = i == 0 ? plan_.beta : nullptr;
        for (std::size_t s = 0; s < prepared.runs().size(); ++s) {
            const auto& step = prepared.plan().steps[s];
            const bool final = step.output == output_operand;
            const void* alpha = final ? plan_.right[i].coefficient.data() : nullptr;
            ElementValue product;
            if (step.factor != 1) {
                product = ElementValue(kernels_.size);
                kernels_.multiple(step.factor, alpha != nullptr ? alpha : kernels_.one, product.data());
                alpha = product.data();
            }
            const void* const own_beta = final ? std::exchange(beta, nullptr) : kernels_.zero;
            void* const out = final ? result : const_cast<void*>(arrays.read[step.output].elements);
            const auto& written = final ? own_ : *arrays.read[step.output].kernels;
            std::vector<SourceArray> inputs;
            std::vector<void*> stay;
            for (const std::size_t n : step.inputs) {
                inputs.push_back(arrays.read[n]);
                stay.push_back(n < arrays.stay.size() ? arrays.stay[n] : nullptr);
            }
            StepTrace trace(world_, prepared, plan_.terms[i].product, s);
            error.run([&] {
                std::visit(Overloaded{[&](const std::shared_ptr<MovementRun>& run) {
                                          const bool conjugated = std::get<PlannedMovement>(step.work).conjugated;
                                          run->run(written, inputs[0], out, alpha, own_beta, conjugated, workspace);
                                      },
                                      [&](const std::shared_ptr<ProductRun>& run) {
                                          const bool on_device = step.product()->spec.on_device;
                                          run->run(table(on_device), inputs, {out, &written}, alpha, own_beta, stay, workspace);
                                      }},
                           prepared.runs()[s]);
            });
            trace.finish();
        }
    }

    /// The table of the statement for a memory.
    const ElementKernels& table(bool on_device) const {
        return on_device || !plan_.world.device().computes(kernels_) ? kernels_ : kernels_.on_host();
    }

    const DensePlan& plan_;
    const ElementKernels& kernels_;
    const ElementKernels& own_;  // of the memory of the output
    TensorState& output_;
    WorldState& world_;
    std::int64_t least_workspace_;  // that a rank has
    std::int64_t passing_ = 0;      // bytes that terms take for a while beside the workspace, at most
    Buffer<std::byte> snapshot_;    // of an output that is a factor, too
    std::vector<NewPlace> new_places_;
};

}  // namespace

std::int64_t run_dense_terms(const StatementArguments& statement) {
    DensePlan plan(statement);
    plan.make();
    return DenseRun(plan).run();
}

std::int64_t run_dense_statement(const StatementArguments& statement) {
    auto plan = std::make_unique<DensePlan>(statement);
    plan->make();
    auto& world = plan->world;
    const auto used = plan->tensors();
    if (bring_to_device(world, used)) {
        plan = std::make_unique<DensePlan>(statement);
        plan->make();
    }
    note_use(world, used, plan->crossing());
    return DenseRun(*plan).run();
}

}  // namespace arges

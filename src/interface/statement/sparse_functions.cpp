// Functions of elements are called where sparse operands have nonzeros: dense operands are read there, values are brought side by side.
#include "interface/statement/sparse_statement.hpp"
#include "interface/world/call_arguments.hpp"

#include "arges/error.hpp"
#include "base/element_at.hpp"
#include "comm/collective_call.hpp"
#include "interface/sparse/sparse_tensor_keys.hpp"
#include "interface/statement/check_labels.hpp"
#include "interface/statement/on_host.hpp"
#include "interface/statement/sparse_steps.hpp"
#include "interface/statement/sparse_sums.hpp"

#include <algorithm>
#include <set>

namespace arges {

namespace {

/// A sparse operand, or what was read of a dense one, with modes in the order of the left-hand side's labels.
struct Source {
    std::shared_ptr<SparseState> state;
    std::vector<std::size_t> modes;  // of the left-hand side's labels

    const SparsePattern& pattern() const { return *state->pattern(); }
    IndexSpans columns() const {
        IndexSpans result;
        for (auto m : modes) result.push_back(pattern().indices[m]);
        return result;
    }
    bool is_in_order() const { return std::is_sorted(modes.begin(), modes.end()); }
};

/// Nonzeros at which a function is called: runs of equal indices, and by source where each has its value; -1: it stores none.
struct CalledRuns {
    std::vector<std::int64_t> runs;
    std::vector<std::vector<std::int64_t>> places;
};

class SparseElementFunction {
public:
    SparseElementFunction(const Factor& left, const std::vector<Factor>& operands, const ElementKernels& result,
                          const statements::BulkFunction& f, const statements::SparseRule& rule)
        : left_(left), operands_(operands), kernels_(result), f_(f), rule_(rule), handle_(world_of(left)), world_(*handle_.state()) {}

    void run(bool accumulate) {
        world_.agree([&] { check(); });
        for (const auto& operand : operands_)
            if (operand.sparse) add_source(whole_of(operand.sparse), operand.labels.names());
        read_dense_operands();
        compute();
        commit(accumulate);
    }

private:
    const std::vector<std::int64_t>& lengths() const { return left_.sparse ? left_.sparse->lengths() : left_.tensor->shape().extents(); }
    std::string text() const { return text_of(left_) + " = map(...)"; }

    void check() {
        const auto& names = left_.labels.names();
        const std::set<std::string> known(names.begin(), names.end());
        if (known.size() < names.size())
            throw InvalidArgument(text_of(left_) + " = map(...): a label is repeated; give each dimension a label of its own");
        bool any_sparse = false;
        for (const auto& operand : operands_) {
            if (world_of(operand).state().get() != &world_)
                throw InvalidArgument(title_of(left_) + " and " + title_of(operand) + " live on different worlds; use transfer() first");
            if (operand.conjugated) throw InvalidArgument(text_of(operand) + " in map(...) is conjugated; let the function conjugate it");
            Term alone;
            alone.factors = {operand};
            alone.repeated = missing(names, operand.labels.names());
            labelled_product(left_, alone);
            for (const auto& label : operand.labels.names())
                if (known.count(label) == 0)
                    throw InvalidArgument(text_of(operand) + " in map(...): the output has no label '" + label +
                                          "'; sum over it in a statement before");
            any_sparse = any_sparse || operand.sparse;
            const std::set<std::string> own(operand.labels.names().begin(), operand.labels.names().end());
            if (operand.sparse && (own != known || own.size() < operand.labels.names().size()))
                throw InvalidArgument(text_of(operand) + " in map(...) is sparse and has other labels than the output " + text_of(left_) +
                                      "; give it each of them once, by a statement before");
        }
        if (!any_sparse)
            throw InvalidArgument(text_of(left_) +
                                  " = map(...) is sparse, but no operand is: all of its elements would be stored; use a dense "
                                  "tensor, or SparseTensor::from_dense()");
        if (!left_.sparse && !left_.tensor->shape().symmetry().trivial())
            throw InvalidArgument(text_of(left_) + " = map(...) has a symmetry, which sparse operands do not have; use a tensor without");
    }

    static std::vector<std::string> missing(const std::vector<std::string>& all, const std::vector<std::string>& some) {
        std::vector<std::string> result;
        for (const auto& label : all)
            if (std::find(some.begin(), some.end(), label) == some.end()) result.push_back(label);
        return result;
    }

    /// @param labels  of its modes
    void add_source(std::shared_ptr<SparseState> state, const std::vector<std::string>& labels) {
        auto& source = sources_.emplace_back(std::move(state));
        for (const auto& label : left_.labels.names())
            source.modes.push_back(std::find(labels.begin(), labels.end(), label) - labels.begin());
    }

    /// The elements of dense operands where one sparse operand, or any, has nonzeros, as further sparse tensors.
    void read_dense_operands() {
        needed_ = sources_.size();
        std::size_t next = 0;
        for (std::size_t o = 0; o < operands_.size(); ++o) {
            by_operand_.push_back(operands_[o].sparse ? next++ : sources_.size());
            if (operands_[o].sparse) continue;
            SparseContext context(*rule_.readers[o], handle_, [this] { return text(); });
            // Where functions are called at the nonzeros of any operand, elements are read at those of each, one behind the other.
            std::shared_ptr<SparseState> all;
            for (std::size_t s = 0; s < (rule_.over == MapOver::any ? needed_ : 1); ++s) {
                const auto read = read_at(context, sources_[s], operands_[o]);
                all = all ? united(context, *all, *read) : read;
            }
            context.note_sent();
            add_source(std::move(all), left_.labels.names());
        }
    }

    /// The elements of a dense operand where a source has nonzeros.
    std::shared_ptr<SparseState> read_at(SparseContext& context, const Source& source, const Factor& operand) const {
        std::vector<std::string> names(source.modes.size());
        for (std::size_t d = 0; d < names.size(); ++d) names[source.modes[d]] = left_.labels.names()[d];
        std::vector<SparseTerm> terms;
        world_.agree([&] {
            const auto places = std::make_shared<SparseState>(context.kernels, handle_, source.pattern().lengths, Symmetry(), "");
            SparseValues zeros(context.kernels, source.pattern().count());
            context.kernels.fill(zeros.data(), zeros.count(), context.kernels.zero);
            places->adopt(source.state->pattern(), std::move(zeros));
            const std::vector<Term> read{Term{.factors = {Factor{nullptr, Labels(std::move(names)), false, places}, operand}}};
            terms = checked_terms({left_, read, context.kernels.zero, context.kernels});
            terms[0].product.output.stored.emplace();
        });
        return computed_term(context, terms[0], {}).sparse;
    }

    void compute() {
        const auto& first = sources_.front();
        const bool is_shared = std::all_of(sources_.begin(), sources_.end(), [&](const Source& source) {
            return source.state->pattern() == first.state->pattern() && source.modes == first.modes;
        });
        if (!is_shared || !first.is_in_order()) return compute_side_by_side();
        pattern_ = first.state->pattern();
        world_.agree([&] {
            std::vector<const void*> inputs;
            for (auto s : by_operand_) inputs.push_back(sources_[s].state->values().data());
            call(inputs, pattern_->count());
        });
    }

    void compute_side_by_side() {
        std::vector<IndexSpans> columns;
        for (const auto& source : sources_) columns.push_back(source.columns());
        const auto placed = std::find_if(sources_.begin(), sources_.end(),
                                         [](const Source& source) { return source.pattern().layout && source.is_in_order(); });
        const auto layout = placed != sources_.end() ? *placed->pattern().layout : SparseLayout::along_longest(lengths(), world_.size());
        const SparseMatch match(world_.movement_communicator(), columns, layout, lengths(),
                                [this](std::int64_t bytes) { world_.require_everywhere(bytes, text()); });
        take_room(match);
        std::vector<Buffer<std::byte>> rooms(sources_.size());
        std::vector<const std::byte*> values;
        for (std::size_t s = 0; s < sources_.size(); ++s)
            values.push_back(match.values(s, sources_[s].state->values().data(), sources_[s].state->kernels->size, rooms[s]));
        sparse::NonzeroIndices indices{lengths(), {}};
        world_.agree([&] {
            const auto called = called_runs(match);
            indices.indices = match.indices_of(&called.runs);
            call_at(called, values);
        });
        pattern_ = SparseState::pattern_of(handle_.state(), std::move(indices), layout);
    }

    /// A run is wanted where all sparse operands are in it, or any of them.
    CalledRuns called_runs(const SparseMatch& match) const {
        const auto& runs = match.runs();
        const auto owner = [&](std::int64_t position) {
            std::size_t s = 0;
            while (s + 1 < sources_.size() && position >= match.begin(s + 1)) ++s;
            return s;
        };
        CalledRuns called;
        std::vector<std::int64_t> place(sources_.size());
        called.places.resize(sources_.size());
        called.runs.reserve(runs.count());
        for (auto& own : called.places) own.reserve(runs.count());
        for (std::int64_t run = 0; run < runs.count(); ++run) {
            std::fill(place.begin(), place.end(), -1);
            for (auto k = runs.start[run]; k < runs.start[run + 1]; ++k) {
                const auto position = runs.order[k];
                const auto s = owner(position);
                place[s] = position - match.begin(s);
            }
            const auto stored = std::count_if(place.begin(), place.begin() + needed_, [](auto p) { return p >= 0; });
            if (rule_.over == MapOver::any ? stored == 0 : stored < static_cast<std::ptrdiff_t>(needed_)) continue;
            called.runs.push_back(run);
            for (std::size_t s = 0; s < place.size(); ++s) called.places[s].push_back(place[s]);
        }
        return called;
    }

    /// @param values  by source
    void call_at(const CalledRuns& called, const std::vector<const std::byte*>& values) {
        std::vector<Buffer<std::byte>> arrays;
        std::vector<const void*> inputs;
        const auto count = std::ssize(called.runs);
        for (auto s : by_operand_) {
            const auto& kernels = *sources_[s].state->kernels;
            auto& array = arrays.emplace_back(count * kernels.size);
#pragma omp parallel for schedule(static)
            for (std::int64_t k = 0; k < count; ++k) {
                const auto at = called.places[s][k];
                copy_element(element_at(array.data(), k, kernels.size), at < 0 ? kernels.zero : element_at(values[s], at, kernels.size),
                             kernels.size);
            }
            inputs.push_back(array.data());
        }
        call(inputs, count);
    }

    /// What values take that have moved, those side by side, the results with their indices, and lists. Collective.
    void take_room(const SparseMatch& match) const {
        const auto runs = match.runs().count();
        std::int64_t moved = 0, listed = (lengths().size() + 1 + sources_.size()) * sizeof(std::int64_t);
        for (std::size_t s = 0; s < sources_.size(); ++s) {
            const auto size = sources_[s].state->kernels->size;
            const auto end = s + 1 < sources_.size() ? match.begin(s + 1) : match.count();
            moved += (end - match.begin(s)) * size;
            listed += size;
        }
        std::int64_t largest = 0;
        for (const auto& source : sources_) largest = std::max(largest, source.state->kernels->size);
        world_.agree([&] {
            const auto bytes = match.list_bytes() + moved + match.packed() * largest + runs * (listed + kernels_.size);
            world_.require_free(bytes, text());
            world_.make_room(bytes);
            world_.note_working(bytes);
        });
    }

    void call(const std::vector<const void*>& inputs, std::int64_t count) {
        results_ = Buffer<std::byte>(count * kernels_.size);
        f_(inputs, results_.data(), count);
    }

    /// Results of an update() of a dense tensor take the place of its elements: nothing is added up, and the others are not touched.
    void write_over_dense() {
        std::vector<std::int64_t> keys;
        world_.agree([&] {
            world_.require_free(pattern_->count() * static_cast<std::int64_t>(sizeof(keys[0])), text() + ": keys of the results");
            keys = keys_of(*pattern_);
        });
        AnyTensor(left_.tensor).write_pairs(keys, results_.data(), std::ssize(keys), Duplicates::refuse);
    }

    void commit(bool accumulate) {
        const bool overwrites = rule_.over == MapOver::target;  // others stay as they are
        if (overwrites && !left_.sparse) return write_over_dense();
        // Of two sparse tensors only elements that both store meet in a sum: the second one stays, and the algebra's zero does not count.
        SparseContext context(overwrites ? *rule_.result_reader : kernels_, handle_, [this] { return text(); });
        SparseValues values(std::move(results_), kernels_.size);
        if (left_.sparse && !accumulate && !overwrites) return left_.sparse->adopt(pattern_, std::move(values));
        const auto result = context.state(lengths(), pattern_, std::move(values));
        if (left_.sparse) {
            const auto sum = united(context, *left_.sparse, *result);
            values = SparseValues(kernels_, 0);
            std::swap(values, sum->values());
            left_.sparse->adopt(sum->pattern(), std::move(values));
        } else {
            const std::vector<Term> alone{Term{.factors = {Factor{nullptr, left_.labels, false, result}}}};
            const void* const beta = accumulate ? nullptr : kernels_.zero;
            std::vector<SparseTerm> terms;
            world_.agree([&] { terms = checked_terms({left_, alone, beta, kernels_}); });
            computed_term(context, terms[0], {left_.tensor, beta});
        }
        context.note_sent();
    }

    const Factor& left_;
    const std::vector<Factor>& operands_;
    const ElementKernels& kernels_;
    const statements::BulkFunction& f_;
    const statements::SparseRule& rule_;
    const World& handle_;
    WorldState& world_;
    std::vector<Source> sources_;  // sparse operands, then what was read of dense ones
    std::vector<std::size_t> by_operand_;
    std::size_t needed_ = 0;  // sparse operands
    std::shared_ptr<const SparsePattern> pattern_;
    Buffer<std::byte> results_;
};

}  // namespace

void apply_to_sparse(const Factor& left, const std::vector<Factor>& operands, const ElementKernels& result,
                     const statements::BulkFunction& f, bool accumulate, const statements::SparseRule& rule) {
    const CollectiveCall call(ranks_of(world_of(left)), "map", FactorArguments{left, operands}, rule.over,
                              std::string_view(result.type->name()), accumulate);
    OnHost here(left, {Term{.factors = operands}});
    const auto apply = [&](const Factor& target) {
        SparseElementFunction(target, here.right()[0].factors, result.on_host(), f, rule).run(accumulate);
    };
    if (!left.sparse || left.sparse->symmetry.trivial()) {
        apply(here.left());
        return here.finish();
    }
    // All elements are computed, and must have the symmetry.
    const Factor whole{nullptr, left.labels, false, whole_of(left.sparse)};
    apply(whole);
    const auto made = representatives_of(whole.sparse, left.sparse->symmetry);
    SparseValues values(*left.sparse->kernels, 0);
    std::swap(values, made->values());
    left.sparse->adopt(made->pattern(), std::move(values));
}

}  // namespace arges

// Functions of elements are called where sparse operands have nonzeros: dense operands are read there, values are brought side by side.
#include "interface/sparse_functions.hpp"
#include "interface/call_arguments.hpp"

#include "arges/error.hpp"
#include "base/element_at.hpp"
#include "comm/collective_call.hpp"
#include "execute/sparse_match.hpp"
#include "interface/check_labels.hpp"
#include "interface/sparse_symmetry.hpp"
#include "interface/tensor_state.hpp"

#include <algorithm>
#include <set>

namespace arges {

namespace {

class SparseElementFunction {
public:
    SparseElementFunction(const Factor& left, const std::vector<Factor>& operands, const ElementKernels& result,
                          const statements::BulkFunction& f, const statements::SparseRule& rule)
        : left_(left), operands_(operands), kernels_(result), f_(f), rule_(rule),
          world_(left.sparse ? *left.sparse->world : *left.tensor->world) {}

    void run(bool accumulate) {
        world_.agree([&] { check(); });
        for (std::size_t o = 0; o < operands_.size(); ++o)
            if (operands_[o].sparse) sources_.push_back(in_left_order(operands_[o], whole_of(operands_[o].sparse)));
        read_dense_operands();
        compute();
        commit(accumulate);
    }

private:
    /// An operand with modes in the order of the left-hand side's labels.
    struct Source {
        std::shared_ptr<SparseState> state;
        std::shared_ptr<const SparsePattern> pattern;  // of the tensor itself
        std::vector<std::size_t> modes;                // of the left-hand side's labels
        IndexSpans columns() const {
            IndexSpans result;
            for (auto m : modes) result.push_back(pattern->indices[m]);
            return result;
        }
    };

    const World& handle() const { return left_.sparse ? left_.sparse->world_handle : left_.tensor->world_handle; }
    const std::vector<std::int64_t>& lengths() const { return left_.sparse ? left_.sparse->lengths() : left_.tensor->shape().extents(); }

    void check() {
        const auto& names = left_.labels.names();
        const std::set<std::string> known(names.begin(), names.end());
        if (known.size() < names.size())
            throw InvalidArgument(text_of(left_) + " = map(...): a label is repeated; give each dimension a label of its own");
        bool any_sparse = false;
        for (const auto& operand : operands_) {
            if ((operand.sparse ? operand.sparse->world : operand.tensor->world).get() != &world_)
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

    Source in_left_order(const Factor& operand, const std::shared_ptr<SparseState>& whole) const {
        Source source{whole, whole->pattern(), {}};
        const auto& own = operand.labels.names();
        for (const auto& label : left_.labels.names()) source.modes.push_back(std::find(own.begin(), own.end(), label) - own.begin());
        return source;
    }

    /// A tensor with the modes and the pattern of the left-hand side's labels, whose values do not matter.
    std::shared_ptr<SparseState> like(const Source& source, const ElementKernels& kernels) const {
        std::shared_ptr<SparseState> result;
        world_.agree([&] {
            result = std::make_shared<SparseState>(kernels, handle(), source.pattern->lengths, Symmetry(), "");
            Buffer<std::byte> values(source.pattern->count() * kernels.size);
            kernels.fill(values.data(), source.pattern->count(), kernels.zero);
            result->adopt(source.pattern, {std::move(values), kernels.size});
        });
        return result;
    }

    /// The elements of dense operands where one sparse operand, or any, has nonzeros, as further sparse tensors.
    void read_dense_operands() {
        const auto sparse_count = sources_.size();
        std::size_t next = 0;
        by_operand_.assign(operands_.size(), 0);
        for (std::size_t o = 0; o < operands_.size(); ++o)
            if (operands_[o].sparse) by_operand_[o] = next++;
        for (std::size_t o = 0; o < operands_.size(); ++o) {
            if (operands_[o].sparse) continue;
            by_operand_[o] = sources_.size();
            // Where functions are called at the nonzeros of any operand, elements are read at those of each, one behind the other.
            std::shared_ptr<SparseState> all;
            const auto reads = rule_.over == MapOver::any ? sparse_count : std::size_t{1};
            for (std::size_t s = 0; s < reads; ++s) {
                const Factor places{nullptr, labels_of(sources_[s]), false, like(sources_[s], *rule_.readers[o])};
                std::shared_ptr<SparseState> read;
                world_.agree([&] { read = std::make_shared<SparseState>(*rule_.readers[o], handle(), lengths(), Symmetry(), ""); });
                Factor target{nullptr, left_.labels, false, all ? all : read};
                Term term;
                term.factors = {places, operands_[o]};
                const std::vector<Term> terms{term};
                statements::assign(target, terms, all ? nullptr : rule_.readers[o]->zero, *rule_.readers[o]);
                all = target.sparse;
            }
            Source source{all, all->pattern(), {}};
            for (std::size_t m = 0; m < lengths().size(); ++m) source.modes.push_back(m);
            sources_.push_back(std::move(source));
        }
        needed_ = sparse_count;
    }

    Labels labels_of(const Source& source) const {
        std::vector<std::string> names(source.modes.size());
        for (std::size_t d = 0; d < source.modes.size(); ++d) names[source.modes[d]] = left_.labels.names()[d];
        return Labels(std::move(names));
    }

    static bool is_in_order(const Source& source) {
        for (std::size_t m = 0; m < source.modes.size(); ++m)
            if (source.modes[m] != m) return false;
        return true;
    }

    void compute() {
        const auto& first = sources_.front();
        const bool is_shared = std::all_of(sources_.begin(), sources_.end(), [&](const Source& source) {
            return source.pattern == first.pattern && source.modes == first.modes;
        });
        if (is_shared && is_in_order(first)) {
            pattern_ = first.pattern;
            world_.agree([&] {
                std::vector<const void*> inputs;
                for (auto s : by_operand_) inputs.push_back(sources_[s].state->values().data());
                call(inputs, pattern_->count());
            });
            return;
        }
        std::vector<IndexSpans> columns;
        for (const auto& source : sources_) columns.push_back(source.columns());
        auto layout = SparseLayout::along_longest(lengths(), world_.size());
        for (const auto& source : sources_)
            if (source.pattern->layout && is_in_order(source)) {
                layout = *source.pattern->layout;
                break;
            }
        const auto require = [this](std::int64_t bytes) { world_.require_everywhere(bytes, text_of(left_) + " = map(...)"); };
        const SparseMatch match(world_.movement_communicator(), columns, layout, lengths(), require);
        take_room(match);
        std::vector<Buffer<std::byte>> rooms(sources_.size());
        std::vector<const std::byte*> values;
        for (std::size_t s = 0; s < sources_.size(); ++s)
            values.push_back(match.values(s, sources_[s].state->values().data(), sources_[s].state->kernels->size, rooms[s]));
        sparse::NonzeroIndices indices{lengths(), {}};
        world_.agree([&] {
            const auto& runs = match.runs();
            const auto owner = [&](std::int64_t position) {
                std::size_t s = 0;
                while (s + 1 < sources_.size() && position >= match.begin(s + 1)) ++s;
                return s;
            };
            // A run is wanted where all sparse operands are in it, any of them, or the first.
            std::vector<std::int64_t> wanted, place(sources_.size());
            std::vector<std::vector<std::int64_t>> places(sources_.size());
            wanted.reserve(runs.count());
            for (auto& own : places) own.reserve(runs.count());
            for (std::int64_t run = 0; run < runs.count(); ++run) {
                std::fill(place.begin(), place.end(), -1);
                for (auto k = runs.start[run]; k < runs.start[run + 1]; ++k) {
                    const auto position = runs.order[k];
                    const auto s = owner(position);
                    place[s] = position - match.begin(s);
                }
                const auto stored = std::count_if(place.begin(), place.begin() + needed_, [](auto p) { return p >= 0; });
                if (rule_.over == MapOver::any ? stored == 0 : stored < static_cast<std::ptrdiff_t>(needed_)) continue;
                wanted.push_back(run);
                for (std::size_t s = 0; s < places.size(); ++s) places[s].push_back(place[s]);
            }
            indices.indices = match.indices_of(&wanted);
            std::vector<Buffer<std::byte>> arrays;
            std::vector<const void*> inputs;
            const auto count = std::ssize(wanted);
            for (auto s : by_operand_) {
                const auto& kernels = *sources_[s].state->kernels;
                auto& array = arrays.emplace_back(count * kernels.size);
#pragma omp parallel for schedule(static)
                for (std::int64_t k = 0; k < count; ++k) {
                    const auto at = places[s][k];
                    copy_element(element_at(array.data(), k, kernels.size), at < 0 ? kernels.zero : element_at(values[s], at, kernels.size),
                                 kernels.size);
                }
                inputs.push_back(array.data());
            }
            call(inputs, count);
        });
        pattern_ = SparseState::pattern_of(left_.sparse ? left_.sparse->world : left_.tensor->world, std::move(indices), layout);
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
            world_.require_free(bytes, text_of(left_) + " = map(...)");
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
            const auto count = pattern_->count();
            world_.require_free(count * static_cast<std::int64_t>(sizeof(keys[0])), text_of(left_) + " = map(...): keys of the results");
            keys.assign(count, 0);
            for (auto m = lengths().size(); m-- > 0;)
                for (std::size_t k = 0; k < keys.size(); ++k) keys[k] = keys[k] * lengths()[m] + pattern_->indices[m][k];
        });
        AnyTensor(left_.tensor).write_pairs(keys, results_.data(), std::ssize(keys), Duplicates::refuse);
    }

    void commit(bool accumulate) {
        const bool overwrites = rule_.over == MapOver::target;  // others stay as they are
        if (overwrites && !left_.sparse) return write_over_dense();
        std::shared_ptr<SparseState> result;
        world_.agree([&] { result = std::make_shared<SparseState>(kernels_, handle(), lengths(), Symmetry(), ""); });
        result->adopt(pattern_, {std::move(results_), kernels_.size});
        // Of two sparse tensors only elements that both store meet in a sum: the second one stays, and the algebra's zero does not count.
        const auto& algebra = overwrites ? *rule_.result_reader : kernels_;
        if (left_.sparse && !accumulate && !overwrites) {
            SparseValues values(kernels_, 0);
            std::swap(values, result->values());
            left_.sparse->adopt(pattern_, std::move(values));
            return;
        }
        Term term;
        term.factors = {Factor{nullptr, left_.labels, false, result}};
        const std::vector<Term> terms{term};
        statements::assign(left_, terms, accumulate || overwrites ? nullptr : kernels_.zero, algebra);
    }

    const Factor& left_;
    const std::vector<Factor>& operands_;
    const ElementKernels& kernels_;
    const statements::BulkFunction& f_;
    const statements::SparseRule& rule_;
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
    const auto& world = left.sparse ? left.sparse->world : left.tensor->world;
    const CollectiveCall call(world->movement_communicator(), "map", FactorArguments{left, operands}, rule.over,
                              std::string_view(result.type->name()), accumulate);
    if (!left.sparse || left.sparse->symmetry.trivial()) return SparseElementFunction(left, operands, result, f, rule).run(accumulate);
    // All elements are computed, and must have the symmetry.
    const Factor whole{nullptr, left.labels, false, whole_of(left.sparse)};
    SparseElementFunction(whole, operands, result, f, rule).run(accumulate);
    const auto made = representatives_of(whole.sparse, left.sparse->symmetry);
    SparseValues values(*left.sparse->kernels, 0);
    std::swap(values, made->values());
    left.sparse->adopt(made->pattern(), std::move(values));
}

}  // namespace arges

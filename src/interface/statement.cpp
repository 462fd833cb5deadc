#include "interface/statement.hpp"

#include "base/instantiate.hpp"
#include "interface/check_labels.hpp"
#include "interface/trace.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

namespace arges {

namespace {

/// Text that identifies a product: layouts by address, names and labels (explanations and messages show them), and everything
/// else that plans depend on.
std::string fingerprint(const TermRequest& request) {
    std::string text;
    auto add = [&](const PlannedOperand& operand) {
        text += std::to_string(reinterpret_cast<std::uintptr_t>(operand.layout.get())) + (operand.conjugated ? "*" : ":") + (operand.is_lasting ? "l" : "") +
                std::to_string(operand.name.size()) + operand.name;
        for (const auto& label : operand.labels) text += "," + label;
        text += ";";
    };
    for (const auto& factor : request.factors) add(factor);
    add(request.output);
    text += std::to_string(static_cast<int>(request.projection)) + (request.zero ? "z" : "") + (request.real_coefficient ? "" : "i") + (request.number ? "n" : "") +
             (request.complex ? "c" : "r") +
            std::to_string(request.element_bytes) + (request.output_is_busy ? "b" : "") + (request.output_is_free ? "f" : "");
    return text;
}

/// Plans are kept up to this number; then the store starts afresh.
constexpr std::size_t max_prepared = 1000;
/// Products whose runs are counted; beyond, the counts start afresh.
constexpr std::size_t max_histories = 10000;
/// Plans whose lists take more bytes are made again each time.
constexpr std::int64_t max_kept_lists = std::int64_t{512} << 20;

}  // namespace

template <class T>
Statement<T>::Statement(const Factor<T>& left, const Expression<T>& right, T beta)
    : left_(left), right_(right), beta_(beta), output_(*left.tensor), world_(*left.tensor->world) {
    for (const auto& term : right.terms())
        for (const auto& factor : term.factors) {
            if (factor.tensor->world != left.tensor->world)
                throw InvalidArgument(output_.title() + " and " + factor.tensor->title() +
                                      " live on different worlds; use transfer() first");
            aliased_ = aliased_ || factor.tensor.get() == left.tensor.get();
        }
    if (std::imag(beta) != 0 && contains_kind(output_.shape().symmetry(), NodeKind::hermitian))
        throw InvalidArgument(output_.title() + " is hermitian, but the number that it is multiplied by is not real; use a real "
                                                "one, or a tensor without that symmetry");
    for (const auto& term : right.terms()) prepare(term);
    if (right.terms().empty()) check_labels_only();
}

template <class T>
TermRequest Statement<T>::request_for(const Term<T>& term) const {
    TermRequest request;
    for (const auto& f : term.factors) {
        const auto places = std::count_if(term.factors.begin(), term.factors.end(), [&](const auto& other) { return other.tensor == f.tensor; });
        const bool is_lasting = places == 1 && f.tensor != left_.tensor;
        request.factors.push_back({f.tensor->layout, f.labels.names(), f.conjugated, f.tensor->title(), is_lasting});
    }
    if (term.factors.empty())
        request.factors.push_back(
            {world_.intern(Layout(world_.grid(), {}, Symmetry::none(0), {})), {}, false, "a number"});
    request.output = {left_.tensor->layout, left_.labels.names(), false, output_.title()};
    request.projection = term.projection;
    request.zero = term.coefficient == T(0);
    request.real_coefficient = std::imag(term.coefficient) == 0;
    request.number = term.factors.empty();
    request.complex = !std::is_same_v<T, real_of<T>>;
    request.element_bytes = sizeof(T);
    const auto& names = request.output.labels;
    const bool whole = std::set<std::string>(names.begin(), names.end()).size() == names.size();
    request.output_is_free = whole && !aliased_ && beta_ == T(0) && right_.terms().size() == 1 && !term.factors.empty();
    return request;
}

/// Plans a term for as many runs to come as there have been with the tensors where they are; each time that a tensor was moved for the
/// sake of later runs halves that, so that statements that want it elsewhere do not move it to and fro.
template <class T>
void Statement<T>::prepare(const Term<T>& term) {
    auto request = request_for(term);
    const auto product = fingerprint(request);
    histories_.push_back(product);
    int moves = 0;
    for (const auto& factor : term.factors) {
        histories_.back() += "m" + std::to_string(factor.tensor->moves);
        moves = std::max(moves, factor.tensor->moves);
    }
    const auto runs = world_.runs().find(histories_.back());
    if (runs != world_.runs().end() && world_.size() > 1)
        request.expected_runs = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(runs->second) + 1)) >> moves);
    const auto expected = request.expected_runs;
    keys_.push_back(product + "r" + std::to_string(expected));
    prepared_.push_back(planned(std::move(request), keys_.back()));
    if (expected == 1 || prepared_.back()->is_ready()) return;
    const auto before = world_.prepared().find(product + "r" + std::to_string(expected / 2));
    if (before == world_.prepared().end() || !before->second->plans_like(*prepared_.back())) return;
    prepared_.back() = world_.prepared()[keys_.back()] = before->second;
}

/// The plan that is kept, if it fits, or a new one.
template <class T>
std::shared_ptr<PreparedTerm> Statement<T>::planned(TermRequest request, const std::string& key) {
    const auto it = world_.prepared().find(key);
    const auto available = world_.memory_limit() - world_.memory_in_use();
    if (it != world_.prepared().end() && it->second->working_bytes() <= available) return it->second;
    return std::make_shared<PreparedTerm>(world_, std::move(request));
}

/// Makes the terms ready to run and keeps them for the next time. What is kept must be the same on all ranks.
template <class T>
void Statement<T>::keep() {
    auto& kept = world_.prepared();
    for (std::size_t i = 0; i < prepared_.size(); ++i) {
        if (prepared_[i]->is_ready()) continue;
        prepared_[i]->make_ready(world_);
        if (prepared_[i]->list_bytes() > max_kept_lists) continue;
        if (kept.size() >= max_prepared) kept.clear();
        kept[keys_[i]] = prepared_[i];
    }
}

template <class T>
void Statement<T>::check_labels_only() const {
    TermRequest request;
    request.output = {left_.tensor->layout, left_.labels.names(), false, output_.title()};
    check_labels(request);
}

template <class T>
void Statement<T>::scale_only() {
    if (beta_ == T(1)) return;
    TermRequest request;
    request.output = {left_.tensor->layout, left_.labels.names(), false, output_.title()};
    const auto labels = check_labels(request);
    ExchangeSpec spec;
    spec.to = *output_.layout;
    spec.to_labels = labels.output;
    spec.label_extents = labels.extents;
    spec.terms = {spec.identity()};
    scale_named(spec, world_.rank(), output_.data.data(), beta_);
}

template <class T>
void Statement<T>::run() {
    keep();
    if (world_.runs().size() > max_histories) world_.runs().clear();
    for (const auto& history : histories_) ++world_.runs()[history];
    std::int64_t working = 0, from_workspace = 0, planned = 0;
    for (const auto& term : prepared_) {
        working = std::max(working, term->working_bytes());
        from_workspace = std::max(from_workspace, term->workspace_bytes());
        planned += term->planned_bytes();
    }
    const auto snapshot_bytes = aliased_ ? static_cast<std::int64_t>(output_.data.bytes()) : 0;
    world_.note_working(working + snapshot_bytes, from_workspace);
    world_.report() = {0, planned, working + snapshot_bytes};
    find_new_places();
    if (world_.dry()) {
        move_to_new_places();
        return;
    }
    const auto before = world_.communicator().traffic().bytes_sent;
    Buffer<T> snapshot;
    if (aliased_) world_.agree([&] { snapshot = output_.data.copy(); });
    if (from_workspace > world_.workspace().capacity()) world_.agree([&] { world_.workspace().reserve(from_workspace); });
    if (!new_places_.empty())
        world_.agree([&] {
            for (auto& place : new_places_) place.elements = Buffer<T>(place.layout->local_size(world_.rank()));
        });
    if (prepared_.empty()) scale_only();
    for (std::size_t i = 0; i < prepared_.size(); ++i) run_term(i, i == 0 ? beta_ : T(1), snapshot);
    move_to_new_places();
    output_.keep_real();
    world_.report().bytes_sent = world_.communicator().traffic().bytes_sent - before;
    if (world_.trace()) world_.trace()->write();
}

/// The output and factors that the plans put elsewhere. Plans are the same on all ranks, so are the decisions.
template <class T>
void Statement<T>::find_new_places() {
    new_places_.clear();
    auto add = [&](TensorState<T>& tensor, const std::shared_ptr<const Layout>& layout, std::size_t term, std::size_t factor) {
        const bool known = std::any_of(new_places_.begin(), new_places_.end(), [&](const auto& p) { return p.tensor == &tensor; });
        if (!layout || layout == tensor.layout || known) return;
        new_places_.push_back({&tensor, layout, {}, term, factor});
        if (&tensor != &output_ && prepared_[term]->request().expected_runs > 1) ++tensor.moves;
    };
    for (std::size_t i = 0; i < prepared_.size(); ++i) {
        add(output_, prepared_[i]->new_output_layout(), i, 0);
        const auto& factors = right_.terms()[i].factors;
        for (std::size_t f = 0; f < factors.size(); ++f)
            if (factors[f].tensor.get() != left_.tensor.get()) add(*factors[f].tensor, prepared_[i]->stay()[f], i, f);
    }
}

template <class T>
void Statement<T>::move_to_new_places() {
    for (auto& place : new_places_) place.tensor->relocate(std::move(place.layout), std::move(place.elements));
    new_places_.clear();
}

template <class T>
void Statement<T>::run_term(std::size_t i, T beta, const Buffer<T>& snapshot) {
    const auto& term = right_.terms()[i];
    const auto& prepared = *prepared_[i];
    auto& workspace = world_.workspace();
    const auto mark = workspace.mark();
    const T one = T(1);
    std::vector<T*> arrays, stay;
    for (std::size_t f = 0; f < term.factors.size(); ++f) {
        const auto& tensor = term.factors[f].tensor;
        const auto place = std::find_if(new_places_.begin(), new_places_.end(), [&](const auto& p) {
            return p.tensor == tensor.get() && p.term == i && p.factor == f && p.tensor != &output_;
        });
        stay.push_back(place != new_places_.end() ? place->elements.data() : nullptr);
        arrays.push_back(const_cast<T*>(tensor.get() == left_.tensor.get() ? snapshot.data() : tensor->data.data()));
    }
    if (term.factors.empty()) arrays.push_back(const_cast<T*>(&one));
    for (const auto& layout : prepared.intermediates()) arrays.push_back(workspace.take<T>(layout->local_size(world_.rank())));
    const auto relocated = std::find_if(new_places_.begin(), new_places_.end(), [&](const auto& p) { return p.tensor == &output_; });
    const bool moves = relocated != new_places_.end();
    for (const auto& step : prepared.steps()) {
        const auto& plan = step.plan;
        const bool final = plan.output == output_operand;
        const T alpha = static_cast<real_of<T>>(plan.factor) * (final ? term.coefficient : T(1));
        const T step_beta = final ? std::exchange(beta, T(1)) : T(0);
        T* const out = final ? (moves ? relocated->elements.data() : output_.data.data()) : arrays[static_cast<std::size_t>(plan.output)];
        std::vector<const T*> inputs;
        std::vector<T*> input_stays;
        for (int n : plan.inputs) {
            const auto number = static_cast<std::size_t>(n);
            inputs.push_back(arrays[number]);
            input_stays.push_back(number < stay.size() ? stay[number] : nullptr);
        }
        StepTrace trace(world_, prepared, step);
        if (step.exchange)
            step.exchange->run(inputs[0], out, alpha, step_beta, plan.conjugated, workspace);
        else if (step.fused)
            step.fused->run(inputs, out, alpha, step_beta, input_stays, workspace);
        else
            step.contraction->run(OperandData<T>{inputs[0], inputs.size() > 1 ? inputs[1] : nullptr, out}, alpha, step_beta, workspace);
        trace.finish();
    }
    workspace.release(mark);
}

template <class T>
std::string Statement<T>::explain() const {
    std::string text;
    for (const auto& term : prepared_) text += term->explain();
    return text;
}

#define ARGES_INSTANTIATE(T) template class Statement<T>;
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)

}  // namespace arges

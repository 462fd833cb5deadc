// Checking and planning a statement, on all ranks alike.
#include "interface/statement/dense_plan.hpp"

#include "base/options.hpp"
#include "base/text.hpp"
#include "comm/values.hpp"
#include "interface/statement/check_labels.hpp"
#include "interface/statement/right_hand_side.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <sstream>

namespace arges {

namespace {

/// A statement that touches so few bytes does not run out of memory on one rank only; hearing of all ranks would cost as much as it does.
constexpr std::int64_t small_statement = std::int64_t{64} << 10;

/// Plans whose lists take more bytes are made again each time.
constexpr std::int64_t max_kept_lists = std::int64_t{512} << 20;

/// Runs to come that stand for any larger number: what the first one costs does not count any more.
constexpr std::int64_t many_runs = std::int64_t{1} << 40;

/// The text that a plan of a product is found by.
std::string key_for(std::string product, std::int64_t runs) {
    append_bytes(product, runs);
    return product;
}

/// Everything that plans depend on but the layouts, as numbers; labels are numbers by first appearance, so that neither letters nor names
/// count.
std::vector<std::uint64_t> numbers_of(const Product& product) {
    std::vector<std::uint64_t> numbers;
    const auto add = [&](const Operand& operand) {
        numbers.push_back(operand.labels.size() << 3U | (operand.is_real ? 4U : 0U) | (operand.conjugated ? 2U : 0U) |
                          (operand.is_lasting ? 1U : 0U));
        numbers.back() = numbers.back() << 1U | (operand.on_device ? 1U : 0U);
        for (int label : operand.labels) numbers.push_back(label);
        numbers.push_back(operand.element_bytes);
    };
    numbers.push_back(product.factors.size());
    for (const auto& factor : product.factors) add(factor);
    add(product.output);
    auto flags = static_cast<std::uint64_t>(product.projection);
    for (const bool flag : {product.is_zero, product.is_real, product.is_number, product.complex, product.is_field, product.has_product,
                            product.may_pad, product.output_is_free})
        flags = flags << 1U | (flag ? 1U : 0U);
    numbers.push_back(flags);
    numbers.push_back(product.element_bytes);
    return numbers;
}

std::string number_text(std::complex<double> number) {
    std::ostringstream stream;
    if (number.imag() == 0)
        stream << number.real();
    else
        stream << number;
    return stream.str();
}

}  // namespace

/// Refuses memories and paddings with which a term cannot be computed.
void DensePlan::check_storage(const Term& term) const {
    const auto check_space = [&](const TensorState& state) {
        const auto* const space = state.kernels->space;
        if (space != nullptr && space != kernels.space)
            throw InvalidArgument(output.title() + " under " + readable_type(kernels.name) + ": " + state.title() +
                                  " lies in the memory of " + space->name + ", where " +
                                  (kernels.space == nullptr ? "the host" : kernels.space->name) +
                                  " does not compute; use a table of kernels for that memory, or tensors on the host");
    };
    check_space(output);
    for (const auto& factor : term.factors) {
        check_space(*factor.tensor);
        if (computes_own() || factor.tensor->shape().symmetry().trivial()) continue;
        if (factor.tensor->world->group_mapping() != GroupMapping::blocks && !factor.tensor->shape().has_padding()) continue;
        throw Unsupported(factor.tensor->title() +
                          ": symmetric groups in blocks have padding, which is zero in sums of numbers only; use the packed way");
    }
}

/// Checks the statement and finds out what identifies its terms.
void DensePlan::check() {
    for (const auto& term : right) {
        StatementArguments::check(term, !computes_own());
        check_storage(term);
        for (const auto& factor : term.factors) aliased = aliased || factor.tensor.get() == left.tensor.get();
    }
    check_beta();
    digest_.add(std::string(kernels.name)).add(world.digest(output.shape())).add(right.size());
    add_element(digest_, beta);
    if (right.empty()) digest_.add(labelled_output(left).output.labels);
    for (const auto& term : right) {
        auto& planned = terms.emplace_back();
        planned.product = product_of(term);
        identify(term, planned);
        expect_runs(term, planned);
    }
    check_symmetry();
}

Product DensePlan::product_of(const Term& term) const {
    auto product = labelled_product(left, term);
    for (std::size_t f = 0; f < term.factors.size(); ++f) {
        const auto& factor = term.factors[f];
        const auto uses =
            std::count_if(term.factors.begin(), term.factors.end(), [&](const auto& other) { return other.tensor == factor.tensor; });
        if (is_converted(factor)) product.factors[f].element_bytes = factor.tensor->kernels->size;
        product.factors[f].on_device = factor.tensor->on_device;
        product.factors[f].is_lasting = uses == 1 && factor.tensor != left.tensor && !is_converted(factor);
    }
    product.output.on_device = output.on_device;
    const auto* const coefficient = term.coefficient.data();
    product.is_zero = kernels.is_zero(coefficient);
    product.is_real = number(coefficient).imag() == 0;
    product.complex = kernels.is_complex;
    product.is_field = kernels.is_field;
    product.has_product = kernels.has_product;
    product.may_pad = computes_own();
    product.element_bytes = kernels.size;
    const auto& names = left.labels.names();
    const bool whole = std::set<std::string>(names.begin(), names.end()).size() == names.size();
    product.output_is_free = whole && !aliased && kernels.is_zero(beta) && right.size() == 1 && !term.factors.empty();
    return product;
}

/// The text that a plan is found by, which holds nothing that may differ between ranks but the addresses of layouts, and the digest by
/// which ranks are compared.
void DensePlan::identify(const Term& term, PlannedTerm& planned) {
    const auto numbers = numbers_of(planned.product);
    digest_.add(numbers);
    add_element(digest_, term.coefficient.data());
    for (auto number : numbers) append_bytes(planned.identity, number);
    const auto add = [&](const TensorState& tensor) {
        append_bytes(planned.identity, tensor.layout.identity());
        digest_.add(world.digest(tensor.layout));
    };
    for (const auto& factor : term.factors) add(*factor.tensor);
    add(output);
    for (const auto& factor : term.factors) digest_.add(*factor.tensor).add(std::string_view(factor.tensor->kernels->type->name()));
    digest_.add(output);
}

/// A term is planned for as many runs to come as there have been with the tensors where they are; each time that a tensor was moved for
/// the sake of later runs halves that, so that statements that want it elsewhere do not move it to and fro.
void DensePlan::expect_runs(const Term& term, PlannedTerm& planned) {
    int moves = 0;
    planned.history = planned.identity;
    for (const auto& factor : term.factors) {
        append_bytes(planned.history, factor.tensor->moves);
        moves = std::max(moves, factor.tensor->moves);
    }
    auto& expected = planned.expected_runs;
    const auto* runs = world.runs().find(planned.history);
    if (runs != nullptr && world.size() > 1)
        expected = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(*runs) + 1)) >> moves);
    if (const auto kept = kept_for(planned, 1); kept && kept->is_for_any_runs()) expected = 1;
    planned.key = key_for(planned.identity, expected);
    digest_.add(expected);
}

/// Bytes of the copy of an output that is on both sides, on the busiest rank.
std::int64_t DensePlan::copied_bytes() const { return aliased ? saturated_product(output.shape().max_local_size(), kernels.size) : 0; }

/// What the host's limit leaves for the plan of a term. @throws OutOfMemory if it leaves too little for the copy
std::int64_t DensePlan::left_beside_copy(std::int64_t free_bytes) const {
    const auto copy = copied_bytes();
    if (copy <= free_bytes) return free_bytes - copy;
    throw OutOfMemory(text_of(left) + ": a copy of " + output.title() + ", which is on both sides, takes " + with_commas(copy) +
                      " bytes on a rank, and the limit leaves " + with_commas(free_bytes) +
                      "; use another tensor in its place, more ranks, or raise the limit "
                      "(World::set_memory_limit, ARGES_MEMORY_LIMIT)");
}

/// Bytes that the planned terms work with, one after the other.
std::int64_t DensePlan::working_bytes() const {
    std::int64_t most = 0;
    for (const auto& term : terms) most = std::max(most, term.prepared->working_bytes());
    return most;
}

std::int64_t DensePlan::kept_lists() const {
    std::int64_t sum = 0;
    for (const auto& term : terms) sum += term.prepared->kept_lists();
    return sum;
}

std::vector<const PreparedTerm*> DensePlan::running() const {
    std::vector<const PreparedTerm*> result;
    for (const auto& term : terms) result.push_back(term.prepared.get());
    return result;
}

std::vector<TensorState*> DensePlan::tensors() const {
    std::vector<TensorState*> result{&output};
    for (const auto& term : right)
        for (const auto& factor : term.factors)
            if (std::ranges::find(result, factor.tensor.get()) == result.end()) result.push_back(factor.tensor.get());
    return result;
}

std::vector<TensorState*> DensePlan::crossing() const {
    std::vector<TensorState*> result;
    const auto add = [&](TensorState& tensor) {
        if (!tensor.on_device && world.device().computes(*tensor.kernels)) result.push_back(&tensor);
    };
    for (std::size_t i = 0; i < terms.size(); ++i)
        for (const auto& step : terms[i].prepared->plan().steps) {
            const auto* const product = step.product();
            if (product == nullptr || !product->spec.on_device) continue;
            for (const std::size_t n : step.inputs)
                if (n < right[i].factors.size()) add(*right[i].factors[n].tensor);
            if (step.output == output_operand) add(output);
        }
    return result;
}

/// How often ranks agree: on the statement, and where one of them may fail alone on what has become of it. The same on all ranks.
int DensePlan::agreements() const {
    std::int64_t elements = output.shape().max_local_size();
    for (const auto& term : right)
        for (const auto& factor : term.factors) elements += factor.tensor->shape().max_local_size();
    return working_bytes() + elements * kernels.size > small_statement ? 2 : 1;
}

/// Takes the plans that are kept, if they fit.
void DensePlan::look_up(std::int64_t free_bytes) {
    for (auto& term : terms) {
        const auto* kept = world.prepared().find(term.key);
        if (kept != nullptr && (*kept)->working_bytes() <= free_bytes - copied_bytes() && (*kept)->device_bytes() <= free_on_device())
            term.prepared = *kept;
    }
}

/// Checks the statement on all ranks, and that it is the same there, with one message; plans what is not planned yet.
void DensePlan::make() {
    enum : std::size_t { least_digest, inverted_digest, free_bytes, all_kept, workspace, negative_workspace, count };
    std::array<std::int64_t, count> values{};
    const auto own_digest = [&] { return static_cast<std::int64_t>(digest_.value()); };
    world.agree(
        [&] {
            check();
            const auto free = world.free_bytes();
            look_up(free);
            const bool kept = std::ranges::all_of(terms, [](const auto& term) { return term.prepared && term.prepared->is_ready(); });
            values = {own_digest(), ~own_digest(), free, kept ? 1 : 0, world.workspace().capacity(), -world.workspace().capacity()};
        },
        values);
    if (values[least_digest] != ~values[inverted_digest]) refuse_differing();
    least_workspace = values[workspace];
    most_workspace = -values[negative_workspace];
    least_free = values[free_bytes];
    if (values[all_kept] == 0) plan(values[free_bytes]);
}

/// Plans the terms that not every rank has a plan of, makes them ready to run and keeps them for the next time.
void DensePlan::plan(std::int64_t free_bytes) {
    std::vector<std::int64_t> kept(terms.size()), ready(terms.size());
    std::ranges::transform(terms, kept.begin(), [](const auto& term) { return term.prepared ? 1 : 0; });
    world.agree([] {}, kept);
    world.agree(
        [&] {
            for (std::size_t i = 0; i < terms.size(); ++i) {
                if (kept[i] != 0) continue;
                terms[i].prepared = planned(i, left_beside_copy(free_bytes));
            }
            std::ranges::transform(terms, ready.begin(), [](const auto& term) { return term.prepared->is_ready() ? 1 : 0; });
        },
        ready);
    for (std::size_t i = 0; i < terms.size(); ++i) {
        auto& term = terms[i];
        if (ready[i] == 0) term.prepared->make_ready(world);
        if (kept[i] == 0 && term.prepared->list_bytes() <= max_kept_lists) world.prepared().use(term.key) = term.prepared;
    }
    if (!is_checked_build || world.dry()) return;
    Digest plans;
    for (const auto& term : terms) plans.add(term.prepared->digest());
    compare_plans(world, plans, text());
}

/// The plan of a term. That for more runs is often the one for fewer, which is ready already. If the plan for fewer is also the one for
/// many, it is for any number: a run costs (first + (runs - 1) * later) / runs on average, so that what is best at both ends is best
/// between them. Runs that take less time together than planning does keep the plan that there is.
std::shared_ptr<PreparedTerm> DensePlan::planned(std::size_t i, std::int64_t free_bytes) const {
    const auto& term = terms[i];
    const auto expected = term.expected_runs;
    auto before = expected > 1 ? kept_for(term, expected / 2) : nullptr;
    if (before && (before->working_bytes() > free_bytes || before->device_bytes() > free_on_device())) before = nullptr;
    if (before && !world.machine().is_worth_planning(static_cast<double>(expected) * before->seconds())) return before;
    if (before && !before->is_for_any_runs()) {
        auto many = kept_for(term, many_runs);
        if (!many) many = prepared(term.product, many_runs, free_bytes);
        if (before->plans_like(*many))
            before->set_for_any_runs();
        else
            world.prepared().use(key_for(term.identity, many_runs)) = many;  // to compare with when runs have doubled
    }
    if (before && before->is_for_any_runs()) return before;
    auto found = prepared(term.product, expected, free_bytes);
    return before && before->plans_like(*found) ? before : found;
}

/// A new plan. @throws OutOfMemory
std::shared_ptr<PreparedTerm> DensePlan::prepared(const Product& product, std::int64_t runs, std::int64_t free_bytes) const {
    std::optional<std::int64_t> on_device;
    if (world.device().computes(kernels)) on_device = free_on_device();
    return std::make_shared<PreparedTerm>(world, product, runs, FreeMemory{free_bytes, on_device});
}

/// What the limit of the device leaves beside the copy of the output. The same on all ranks.
std::int64_t DensePlan::free_on_device() const {
    return std::max<std::int64_t>(0, world.device().free_bytes() - (output.on_device ? copied_bytes() : 0));
}

std::shared_ptr<PreparedTerm> DensePlan::kept_for(const PlannedTerm& term, std::int64_t runs) const {
    const auto* kept = world.prepared().find(key_for(term.identity, runs));
    return kept != nullptr ? *kept : nullptr;
}

void DensePlan::refuse_differing() const {
    const auto mine = text();
    std::vector<std::int64_t> lengths;
    const auto all = gathered(world.communicator(), std::vector<char>(mine.begin(), mine.end()), &lengths);
    std::string first, other;
    std::int64_t rank = 0, begin = 0;
    for (std::size_t r = 0; r < lengths.size(); begin += lengths[r++]) {
        const std::string theirs(all.data() + begin, lengths[r]);
        if (r == 0) first = theirs;
        if (theirs == first || !other.empty()) continue;
        other = theirs;
        rank = r;
    }
    throw InvalidArgument("a statement differs between ranks: on rank 0 it is " + first +
                          (other.empty() ? ", and another tensor or number in it is not the same on all ranks"
                                         : ", on rank " + std::to_string(rank) + " it is " + other) +
                          "; make the same statements with the same tensors and numbers on every rank");
}

/// The statement for a message.
std::string DensePlan::text() const {
    auto text = described(left) + " = ";
    if (!kernels.is_zero(beta)) text += number_text(number(beta)) + " * itself + ";
    for (std::size_t i = 0; i < right.size(); ++i) {
        const auto& term = right[i];
        text += (i > 0 ? " + " : "") + number_text(number(term.coefficient.data()));
        for (const auto& factor : term.factors) text += " * " + described(factor);
    }
    return text;
}

std::string DensePlan::explain() {
    check();
    const auto free_bytes = world.free_bytes();
    look_up(free_bytes);
    std::string text;
    if (aliased) text += "note: " + output.title() + " is on both sides, so it is copied first\n";
    if (terms.size() > 1) text += "note: " + std::to_string(terms.size()) + " terms are computed one after the other and added up\n";
    for (std::size_t i = 0; i < terms.size(); ++i) {
        auto& term = terms[i];
        if (!term.prepared) term.prepared = prepared(term.product, term.expected_runs, left_beside_copy(free_bytes));
        text += term.prepared->explain(term.product);
    }
    if (world.size() > 1) text += "agreement of all ranks, seconds " + scientific(agreements() * world.agreement_seconds()) + "\n";
    return text;
}

}  // namespace arges

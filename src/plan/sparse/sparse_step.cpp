// Which labels of a product with sparse factors are spread over ranks, by expected counts. Grids over labels contain those that keep one
// operand where it is, two-dimensional ones, and those with copies (Azad et al., *Exploiting multiple levels of parallelism in sparse
// matrix-matrix multiplication*, 2016).
#include "plan/sparse/sparse_step.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace arges {

namespace {

/// Grids that the search keeps after each prime factor of the number of ranks.
constexpr std::size_t kept_grids = 48;

/// Where a rank would have so many times the mean of nonzeros, another way to spread them is looked at.
constexpr double most_uneven = 1.1;

/// What lists take for a nonzero of a factor: its place and column, and its numbers while they are made.
constexpr double listed_bytes = 48;

/// What copies of a nonzero take: its indices and its value.
double nonzero_bytes(const std::vector<int>& labels, std::int64_t element_bytes) {
    return static_cast<double>(labels.size() * sizeof(std::int64_t)) + static_cast<double>(element_bytes);
}

std::vector<std::int64_t> prime_factors(std::int64_t n) {
    std::vector<std::int64_t> result;
    for (std::int64_t p = 2; p * p <= n; ++p)
        for (; n % p == 0; n /= p) result.push_back(p);
    if (n > 1) result.push_back(n);
    std::reverse(result.begin(), result.end());
    return result;
}

/// Of the labels' index tuples, those with nonzeros, if these lie at random.
double occupied(double tuples, double nonzeros) { return tuples <= 0 ? 0 : -tuples * std::expm1(-nonzeros / tuples); }

class Pricer {
public:
    Pricer(const SparseStep& step, const PlanOptions& options) : step_(step), options_(options), slots_(size(step.kept)) {
        if (step.counts && step.counts->nonzeros) slots_ = slots_for(step.counts->products, *step.counts->nonzeros);
    }

    SparseStepPlan price(const LabelGrid& grid, const SparsePhases& phases) const {
        Priced priced{{.grid = grid, .phases = phases}};
        auto& plan = priced.plan;
        for (const auto& operand : step_.sparse()) add_sparse(operand, priced);
        for (const auto& operand : step_.dense()) {
            const auto here = dense_size(grid, SparseStep::distinct(operand.labels), priced.here[0]);
            plan.memory_bytes += here * static_cast<double>(step_.multiplied_bytes_of(operand));
            plan.dense_bytes += here * static_cast<double>(step_.bytes_of(operand)) * elsewhere(grid) * static_cast<double>(phases.parts);
        }
        double loops = 1;
        for (int label : step_.dense_labels()) loops *= std::ceil(extent(label) / part(grid, label));
        const double all = phases.parts;
        const auto in_phase =
            step_.sparse().size() >= 2 ? expected_products() / static_cast<double>(grid.ranks()) / all : priced.here[0] * loops;
        plan.products = in_phase * all;
        if (step_.output.is_sparse())
            add_sparse_result(in_phase, priced);
        else
            add_dense_result(priced);
        for (const auto parts : grid.parts) priced.messages += static_cast<double>(parts) - 1;
        const auto& machine = options_.machine;
        plan.seconds = plan.products * machine.sparse_product_seconds + priced.sorted * machine.sorted_nonzero_seconds +
                       (plan.dense_bytes + plan.result_bytes) / machine.copied_bytes_per_second;
        if (grid.ranks() > 1)
            plan.seconds += (plan.sparse_bytes + plan.dense_bytes + plan.result_bytes) / machine.bytes_per_second +
                            priced.messages * machine.message_seconds;
        return plan;
    }

    /// Multiplications of two sparse factors.
    double expected_products() const {
        if (step_.counts) return step_.counts->products;
        double shared = 1;
        for (int label : SparseStep::distinct(step_.sparse()[0].labels))
            if (SparseStep::has(step_.sparse()[1].labels, label)) shared *= std::max(1.0, extent(label));
        return step_.sparse()[0].stored->count * step_.sparse()[1].stored->count / shared;
    }

    double size(const std::vector<int>& labels) const {
        double product = 1;
        for (int label : labels) product *= extent(label);
        return product;
    }

private:
    /// A plan while its costs are added up.
    struct Priced {
        SparseStepPlan plan;
        std::vector<double> here{};  // nonzeros of the sparse operands on a rank
        double sorted = 0, messages = 0;
    };

    void add_sparse(const Operand& operand, Priced& priced) const {
        auto& plan = priced.plan;
        const auto own = SparseStep::distinct(operand.labels);
        const auto bytes = nonzero_bytes(operand.labels, step_.bytes_of(operand));
        auto here = operand.stored->count / parts(plan.grid, own) * imbalance(plan.grid, own);
        const bool is_divided = SparseStep::has(own, plan.phases.label);
        const double all = plan.phases.parts, times = is_divided ? 1.0 : all;  // how often it is moved
        const bool stays = operand.stored->place && *operand.stored->place == plan.grid.layout_of(operand.labels) && !is_divided;
        if (!stays || plan.grid.copies_of(own).size() > 1) {
            plan.sparse_bytes += here * bytes * elsewhere(plan.grid) * times;
            priced.messages += std::min(static_cast<double>(plan.grid.ranks()), here) * all;
            priced.sorted += here * times;
        }
        if (all > 1) priced.sorted += here * times;
        if (is_divided) here /= all;
        const double converted = SparseStep::converted_bytes_of(operand) != 0 ? step_.element_bytes : 0;
        plan.memory_bytes += here * (bytes + converted + listed_bytes);
        priced.here.push_back(here);
    }

    void add_dense_result(Priced& priced) const {
        auto& plan = priced.plan;
        const double element = step_.element_bytes, bytes = local_size(plan.grid, step_.kept) * element;
        plan.memory_bytes += bytes;
        plan.result_bytes = bytes * (plan.grid.copies_of(step_.kept).size() > 1 ? 2 : 1);
        if (!plan.grid.by_hash || step_.sparse().size() > 1) return;
        const auto rows = dense_size(plan.grid, step_.kept, priced.here[0]) * element;  // with sums, go to where the result lies
        plan.memory_bytes += 2 * rows;
        plan.result_bytes = rows * elsewhere(plan.grid);
    }

    void add_sparse_result(double in_phase, Priced& priced) const {
        auto& plan = priced.plan;
        const double all = plan.phases.parts;
        const bool is_summed = plan.grid.copies_of(step_.kept).size() > 1;
        plan.result_nonzeros = expected_nonzeros(step_);
        // Parts of sums: each rank of those that share them may have most of the elements.
        const auto part =
            step_.has_mask() ? priced.here[2] : std::min(in_phase, occupied(slots_ / parts(plan.grid, step_.kept) / all, in_phase));
        const auto each = nonzero_bytes(step_.kept, step_.element_bytes), bytes = part * each;
        plan.memory_bytes += bytes * (is_summed ? 2 : 1);
        // What is finished waits until all parts are.
        if (all > 1) plan.finished_bytes = plan.result_nonzeros / static_cast<double>(plan.grid.ranks()) * each;
        plan.memory_bytes += plan.finished_bytes;
        priced.sorted += part * all;
        if (is_summed) plan.result_bytes = bytes * all;
    }

    double extent(int label) const { return step_.extent(label); }
    static double part(const LabelGrid& grid, int label) { return grid.parts[label]; }
    static double parts(const LabelGrid& grid, const std::vector<int>& labels) {
        double product = 1;
        for (int label : labels) product *= part(grid, label);
        return product;
    }
    double local_size(const LabelGrid& grid, const std::vector<int>& labels) const {
        double product = 1;
        for (int label : labels) product *= std::ceil(extent(label) / part(grid, label));
        return product;
    }
    /// Elements of a dense factor on a rank: whole blocks, or the rows that so many nonzeros need, where rows are not divided.
    double dense_size(const LabelGrid& grid, const std::vector<int>& labels, double nonzeros) const {
        std::vector<int> in_row, free;
        for (int label : labels) (SparseStep::has(step_.sparse()[0].labels, label) ? in_row : free).push_back(label);
        const auto rows = local_size(grid, in_row);
        return (parts(grid, free) > 1 || in_row.empty() ? rows : occupied(rows, nonzeros)) * local_size(grid, free);
    }
    /// The part of what a rank gets that it has not by chance.
    static double elsewhere(const LabelGrid& grid) { return 1 - 1 / static_cast<double>(grid.ranks()); }
    /// How much more the rank with most has than the mean, because labels do not divide evenly.
    double imbalance(const LabelGrid& grid, const std::vector<int>& labels) const {
        double product = 1;
        if (grid.by_hash) return product;
        for (int label : labels)
            if (extent(label) > 0) product *= std::ceil(extent(label) / part(grid, label)) * part(grid, label) / extent(label);
        return product;
    }

    /// So many tuples that products at random would occupy as many as the result has nonzeros.
    static double slots_for(double products, double nonzeros) {
        double low = std::max(1.0, nonzeros), high = low;
        while (high < 1e18 && occupied(high, products) < nonzeros) high *= 2;
        for (int i = 0; i < 60; ++i) {
            const auto middle = (low + high) / 2;
            (occupied(middle, products) < nonzeros ? low : high) = middle;
        }
        return high;
    }

    const SparseStep& step_;
    const PlanOptions& options_;
    double slots_;  // that the result's nonzeros share
};

}  // namespace

std::span<const Operand> SparseStep::sparse() const {
    const auto first_dense = std::find_if(factors.begin(), factors.end(), [](const Operand& operand) { return !operand.is_sparse(); });
    return {factors.begin(), first_dense};
}

bool SparseStep::has(const std::vector<int>& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

std::vector<int> SparseStep::distinct(const std::vector<int>& labels) {
    std::vector<int> result;
    for (int label : labels)
        if (!has(result, label)) result.push_back(label);
    return result;
}

std::vector<std::int64_t> SparseStep::extents(const std::vector<int>& labels) const {
    std::vector<std::int64_t> lengths;
    for (int label : labels) lengths.push_back(extent(label));
    return lengths;
}

bool SparseStep::in_factors(int label) const {
    return std::any_of(factors.begin(), factors.end(), [&](const Operand& operand) { return has(operand.labels, label); });
}

bool SparseStep::may_be_hashed() const {
    if (sparse().size() != 1) return false;
    const auto& own = factors[0].labels;
    const auto is_row_wise = [&](const Operand& operand) {
        const auto& layout = operand.layout;
        if (distinct(operand.labels).size() < operand.labels.size() || !layout.symmetry().trivial() || layout.has_padding()) return false;
        for (int s = 0; s < layout.slots(); ++s)
            if (!has(own, operand.labels[layout.slot_dimensions(s)[0]]) && layout.slot(s).grid_length() > 1) return false;
        return true;
    };
    const auto has_rows = [&](const std::vector<int>& labels) {
        return std::any_of(labels.begin(), labels.end(), [&](int label) { return has(own, label); });
    };
    for (const auto& operand : dense())
        if (has_rows(operand.labels) && !is_row_wise(operand)) return false;
    if (output.is_sparse() || !has_rows(output.labels)) return true;
    return is_row_wise(output) && output.layout.copies() == 1 &&
           std::all_of(kept.begin(), kept.end(), [&](int label) { return in_factors(label); });
}

local::Acting SparseStep::acting() const {
    const auto role = [&](std::size_t f) { return f < factors.size() ? factors[f].role : Role::factor; };
    if (role(1) != Role::factor) return role(1) == Role::mask ? local::Acting::second_mask : local::Acting::second;
    if (role(0) != Role::factor) return role(0) == Role::mask ? local::Acting::first_mask : local::Acting::first;
    return local::Acting::none;
}

bool SparseStep::has_output(int label) const { return has(kept, label); }

std::vector<int> SparseStep::dense_labels() const {
    std::set<int> labels(kept.begin(), kept.end());
    for (const auto& operand : dense()) labels.insert(operand.labels.begin(), operand.labels.end());
    for (const auto& operand : sparse())
        for (int label : operand.labels) labels.erase(label);
    if (!output.is_sparse()) std::erase_if(labels, [&](int label) { return !in_factors(label); });  // repeated along those while it moves
    return {labels.begin(), labels.end()};
}

std::int64_t LabelGrid::ranks() const {
    std::int64_t product = 1;
    for (auto n : parts) product *= n;
    return product;
}

std::vector<std::int64_t> LabelGrid::strides() const {
    std::vector<std::int64_t> result;
    std::int64_t product = 1;
    for (auto n : parts) {
        result.push_back(product);
        product *= n;
    }
    return result;
}

SparseLayout LabelGrid::layout_of(const std::vector<int>& labels) const {
    SparseLayout result;
    const auto steps = strides();
    for (std::size_t l = 0; l < parts.size(); ++l) {
        const auto place = std::find(labels.begin(), labels.end(), static_cast<int>(l));
        if (parts[l] > 1 && place != labels.end())
            result.digits.push_back({static_cast<int>(place - labels.begin()), 1, parts[l], steps[l], by_hash});
    }
    return result;
}

std::vector<std::int64_t> LabelGrid::copies_of(const std::vector<int>& labels) const {
    std::vector<std::int64_t> result{0};
    const auto steps = strides();
    for (std::size_t l = 0; l < parts.size(); ++l) {
        if (SparseStep::has(labels, l)) continue;
        const auto before = result.size();
        for (std::int64_t c = 1; c < parts[l]; ++c)
            for (std::size_t i = 0; i < before; ++i) result.push_back(result[i] + c * steps[l]);
    }
    std::sort(result.begin(), result.end());
    return result;
}

RankGrid LabelGrid::torus() const {
    RankGrid result;
    for (auto n : parts) {
        auto factors = prime_factors(n);
        result.lengths.insert(result.lengths.end(), factors.begin(), factors.end());
    }
    return result;
}

std::vector<std::vector<int>> LabelGrid::dimensions() const {
    std::vector<std::vector<int>> result;
    int next = 0;
    for (auto n : parts) {
        result.emplace_back();
        for (std::size_t i = prime_factors(n).size(); i > 0; --i) result.back().push_back(next++);
    }
    return result;
}

SparseLayout LabelGrid::result_layout(const std::vector<std::int64_t>& extents, const std::vector<int>& labels) const {
    auto result = layout_of(labels);
    if (labels.empty()) return result;
    const auto longest = std::max_element(labels.begin(), labels.end(), [&](int a, int b) { return extents[a] < extents[b]; });
    auto divisor = parts[*longest];
    const auto steps = strides();
    for (std::size_t l = 0; l < parts.size(); ++l) {
        if (parts[l] == 1 || SparseStep::has(labels, l)) continue;
        result.digits.push_back({static_cast<int>(longest - labels.begin()), divisor, parts[l], steps[l], by_hash});
        divisor *= parts[l];
    }
    return result;
}

Layout LabelGrid::array(const std::vector<std::int64_t>& extents, const std::vector<int>& labels, Spread others) const {
    const auto dimension = dimensions();
    std::vector<SlotMapping> mapping;
    std::vector<std::int64_t> lengths;
    for (int label : labels) {
        const std::size_t l = label;
        mapping.emplace_back();
        mapping.back().torus = dimension[l];
        lengths.push_back(extents[l]);
    }
    std::vector<int> partial;
    for (std::size_t l = 0; l < parts.size() && others == Spread::partial; ++l)
        if (!SparseStep::has(labels, l)) partial.insert(partial.end(), dimension[l].begin(), dimension[l].end());
    return {torus(), std::move(lengths), Symmetry::none(labels.size()), std::move(mapping), partial};
}

std::string LabelGrid::to_string(const std::vector<std::string>& names) const {
    std::string text;
    for (std::size_t l = 0; l < parts.size(); ++l)
        if (parts[l] > 1) text += (text.empty() ? "" : " ") + names[l] + "/" + std::to_string(parts[l]);
    return text.empty() ? "one rank" : text;
}

double expected_nonzeros(const SparseStep& step) {
    if (step.has_mask()) return step.sparse()[2].stored->count;
    const Pricer pricer(step, {});
    if (step.sparse().size() == 2) {
        const auto products = pricer.expected_products();
        if (step.counts && step.counts->nonzeros) return *step.counts->nonzeros;
        return std::min(products, occupied(pricer.size(step.kept), products));
    }
    std::vector<int> from_sparse;
    double repeated = 1;
    for (int label : step.kept)
        if (SparseStep::has(step.sparse()[0].labels, label))
            from_sparse.push_back(label);
        else
            repeated *= step.extent(label);
    const double nonzeros = step.sparse()[0].stored->count;
    return repeated * std::min(nonzeros, occupied(pricer.size(from_sparse), nonzeros));
}

namespace {

/// The best grid for a number of phases: the fastest that fits, or the one that takes least memory.
SparseStepPlan best_grid(const SparseStep& step, const Pricer& pricer, const SparsePhases& phases, std::int64_t ranks, double limit,
                         bool by_hash) {
    const LabelGrid one{std::vector<std::int64_t>(step.label_extents.size(), 1), step.sparse().size() > 1 || by_hash};
    std::vector<SparseStepPlan> plans{pricer.price(one, phases)};
    for (auto factor : prime_factors(ranks)) {
        std::vector<SparseStepPlan> next;
        std::set<std::vector<std::int64_t>> known;
        for (const auto& plan : plans)
            for (std::size_t l = 0; l < step.label_extents.size(); ++l) {
                const int label = l;
                if (!step.in_factors(label) && (!step.output.is_sparse() || !step.has_output(label)))
                    continue;  // each part would compute the same
                if (by_hash && !SparseStep::has(step.sparse()[0].labels, label)) continue;
                auto grid = plan.grid;
                grid.parts[l] *= factor;
                if (known.insert(grid.parts).second) next.push_back(pricer.price(grid, phases));
            }
        std::stable_sort(next.begin(), next.end(), [&](const auto& a, const auto& b) {
            const bool a_fits = a.memory_bytes <= limit, b_fits = b.memory_bytes <= limit;
            if (a_fits != b_fits) return a_fits;
            return a_fits ? a.seconds < b.seconds : a.memory_bytes < b.memory_bytes;
        });
        if (next.size() > kept_grids) next.resize(kept_grids);
        if (next.empty()) break;  // no labels: all ranks but one are idle
        plans = std::move(next);
    }
    return plans.front();
}

/// How large a result is, is not known so well that a product should be refused for it: the inspection of parts will tell.
bool may_fit(const SparseStepPlan& plan, double limit) {
    if (plan.memory_bytes <= limit) return true;
    const auto working = plan.memory_bytes - plan.finished_bytes;
    return plan.phases.parts > 1 && working <= limit / 8 && working + 0.7 * plan.finished_bytes <= limit;
}

/// Labels that may divide a product into so many parts: parts of a sparse result have no element in common.
std::vector<int> labels_for_phases(const SparseStep& step, std::int64_t parts) {
    if (parts == 1) return {-1};
    std::vector<int> result;
    for (int label = 0; label < static_cast<int>(step.label_extents.size()); ++label) {
        const bool divides = std::any_of(step.sparse().begin(), step.sparse().end(),
                                         [&](const auto& operand) { return SparseStep::has(operand.labels, label); });
        if (divides && step.extent(label) >= parts && (!step.output.is_sparse() || step.has_output(label))) result.push_back(label);
    }
    return result;
}

}  // namespace

SparseStepPlan plan_sparse_step(const SparseStep& step, std::int64_t ranks, const PlanOptions& options, std::int64_t least_phases,
                                bool by_hash) {
    const Pricer pricer(step, options);
    const double limit = options.memory_limit;
    auto smallest = std::numeric_limits<double>::infinity();
    for (auto parts = least_phases; parts <= most_phases; parts *= 2) {
        std::optional<SparseStepPlan> best;
        const auto labels = labels_for_phases(step, parts);
        for (int label : labels) {
            const auto plan = best_grid(step, pricer, {label, parts, 0}, ranks, limit, by_hash);
            smallest = std::min(smallest, plan.memory_bytes);
            if (may_fit(plan, limit) && (!best || plan.seconds < best->seconds)) best = plan;
        }
        if (best) return *best;
        if (labels.empty()) break;
    }
    std::string what = "a product with sparse factors";
    if (std::isfinite(smallest))
        what += " takes about " + with_commas(static_cast<std::int64_t>(smallest)) + " bytes on a rank";
    else
        what += " cannot be made in more than " + std::to_string(least_phases / 2) + " parts, which take more than is free";
    throw OutOfMemory(what + ", and the limit leaves " + with_commas(options.memory_limit) +
                      "; use more ranks or raise the limit (World::set_memory_limit, ARGES_MEMORY_LIMIT)");
}

std::variant<SparseStepPlan, SparseLayout> plan_by_imbalance(const SparseStep& step, std::int64_t ranks, const PlanOptions& options,
                                                             std::int64_t least_phases, const MeasuredImbalances& measured) {
    const auto best = plan_sparse_step(step, ranks, options, least_phases);
    const auto& operand = step.sparse()[0];
    if (ranks == 1 || best.phases.parts > 1 || operand.stored->pattern == 0 || !step.may_be_hashed()) return best;
    const auto known = [&](const SparseLayout& layout) {
        return std::find_if(measured.begin(), measured.end(), [&](const auto& one) { return one.first == layout; });
    };
    const auto seconds = [&](const SparseStepPlan& plan, double imbalance) {
        return plan.seconds + (imbalance - 1) * plan.products * options.machine.sparse_product_seconds;
    };
    const auto here = best.grid.layout_of(operand.labels);
    const auto uneven = known(here);
    if (uneven == measured.end()) return here;
    const auto& place = operand.stored->place;
    const bool lies_by_hash =
        place && std::any_of(place->digits.begin(), place->digits.end(), [](const auto& digit) { return digit.by_hash; });
    if (!uneven->second || (*uneven->second <= most_uneven && !lies_by_hash)) return best;
    const auto other = plan_sparse_step(step, ranks, options, least_phases, true);
    const auto there = other.grid.layout_of(operand.labels);
    const auto uneven_there = known(there);
    if (uneven_there == measured.end()) return there;
    const bool is_faster = seconds(other, uneven_there->second.value_or(1)) < seconds(best, *uneven->second);
    return other.phases.parts == 1 && is_faster ? other : best;
}

void add_to(Digest& digest, const SparseStepPlan& plan) {
    digest.add(plan.grid.parts).add(plan.grid.by_hash).add(plan.phases.label).add(plan.phases.parts);
}

void append_labels(std::string& key, const std::vector<int>& labels) {
    append_bytes(key, std::ssize(labels));
    for (int label : labels) append_bytes(key, label);
}

std::string key_of(const SparseStep& step) {
    std::string key("step");
    append_bytes(key, step.element_bytes);
    append_bytes(key, std::ssize(step.sparse()));
    append_bytes(key, std::ssize(step.dense()));
    append_bytes(key, step.acting());
    const auto append_dense = [&](const Operand& operand) {
        append_labels(key, operand.labels);
        append_bytes(key, operand.layout.identity());
        append_bytes(key, operand.element_bytes);
    };
    for (const auto& operand : step.sparse()) {
        append_labels(key, operand.labels);
        append_bytes(key, operand.stored->pattern);
        append_bytes(key, operand.element_bytes);
    }
    for (const auto& operand : step.dense()) append_dense(operand);
    append_labels(key, step.kept);
    append_bytes(key, step.output.is_sparse());
    if (!step.output.is_sparse()) append_dense(step.output);
    for (int label : step.kept) append_bytes(key, step.extent(label));
    return key;
}

std::string to_string(const SparseStepPlan& plan, const SparseStep& step) {
    const auto about = [](double number) { return "~" + with_commas(std::llround(number)); };
    std::string text;
    for (const auto& operand : step.sparse())
        text += (text.empty() ? "" : " * ") + operand.name + " (" + with_commas(std::llround(operand.stored->count)) + " nonzeros)";
    for (const auto& operand : step.dense()) text += " * " + operand.name;
    text += step.output.is_sparse() ? " to a sparse result of " + about(plan.result_nonzeros) + " nonzeros\n" : " to a dense result\n";
    text += "  grid " + plan.grid.to_string(step.label_names) + (plan.grid.by_hash && step.sparse().size() == 1 ? " by a hash" : "");
    if (plan.phases.parts > 1) text += "; in " + with_commas(plan.phases.parts) + " phases over " + step.label_names[plan.phases.label];
    text += "; multiplications on a rank " + about(plan.products) + "\n";
    text += "  bytes to a rank: nonzeros " + about(plan.sparse_bytes) + ", dense factors " + about(plan.dense_bytes) + ", result " +
            about(plan.result_bytes) + "; memory " + about(plan.memory_bytes) + "; seconds " + scientific(plan.seconds) + "\n";
    return text;
}

}  // namespace arges

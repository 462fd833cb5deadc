#include "arges/model_items.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "decompose/model_arguments.hpp"
#include "interface/world/world_state.hpp"

#include <algorithm>
#include <cmath>

namespace arges {

namespace {

struct Candidate {
    std::int64_t column = 0;
    ModelItem item{};
};

/// By column, then by falling absolute value.
bool is_before(const Candidate& a, const Candidate& b) {
    if (a.column != b.column) return a.column < b.column;
    const double x = std::abs(a.item.value), y = std::abs(b.item.value);
    return x != y ? x > y : a.item.index < b.item.index;
}

/// The first ones of each column of a sorted list.
std::vector<Candidate> firsts(const std::vector<Candidate>& sorted, std::int64_t count) {
    std::vector<Candidate> result;
    std::int64_t taken = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        taken = i > 0 && sorted[i].column == sorted[i - 1].column ? taken + 1 : 1;
        if (taken <= count) result.push_back(sorted[i]);
    }
    return result;
}

/// @param columns  of the factor
template <class T, class Model>
std::vector<std::vector<ModelItem>> items_of(const Model& model, int mode, std::int64_t count, std::int64_t columns) {
    const auto& comm = communicator_of(model.world(), "top_items");
    std::vector<double> squares(columns);
    std::vector<Candidate> mine;
    comm.agree([&] {
        const auto& rows = model.rows(mode);
        const auto& factor = model.factor(mode);
        std::vector<Candidate> column;
        for (std::int64_t c = 0; c < columns; ++c) {
            column.clear();
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const double value = factor[i * columns + c];
                squares[c] += value * value;
                if (value != 0) column.push_back({c, {rows[i], value, 0}});
            }
            const auto some = column.begin() + std::min(count, std::ssize(column));
            std::partial_sort(column.begin(), some, column.end(), is_before);
            mine.insert(mine.end(), column.begin(), some);
        }
    });
    comm.sum(squares.data(), columns);
    auto all = gathered(comm, mine);
    std::vector<std::vector<ModelItem>> result(columns);
    comm.agree([&] {
        std::sort(all.begin(), all.end(), is_before);
        for (auto& candidate : firsts(all, count)) {
            candidate.item.share = candidate.item.value * candidate.item.value / squares[candidate.column];
            result[candidate.column].push_back(candidate.item);
        }
    });
    return result;
}

}  // namespace

template <class T>
std::vector<std::vector<ModelItem>> top_items(const CpModel<T>& model, int mode, std::int64_t count) {
    const CollectiveCall call(ranks_of(model.world()), "top_items", ModelArgument{&model}, mode, count);
    return items_of<T>(model, mode, count, model.rank());
}

template <class T>
std::vector<std::vector<ModelItem>> top_items(const TuckerModel<T>& model, int mode, std::int64_t count) {
    const CollectiveCall call(ranks_of(model.world()), "top_items", ModelArgument{&model}, mode, count);
    const auto columns = mode >= 0 && mode < model.order() ? model.ranks()[mode] : 0;
    return items_of<T>(model, mode, count, columns);
}

template std::vector<std::vector<ModelItem>> top_items(const CpModel<float>&, int, std::int64_t);
template std::vector<std::vector<ModelItem>> top_items(const CpModel<double>&, int, std::int64_t);
template std::vector<std::vector<ModelItem>> top_items(const TuckerModel<float>&, int, std::int64_t);
template std::vector<std::vector<ModelItem>> top_items(const TuckerModel<double>&, int, std::int64_t);

}  // namespace arges

#include "arges/error.hpp"
#include "arges/model_items.hpp"
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "decompose/model_arguments.hpp"
#include "interface/world/world_state.hpp"

#include <algorithm>

namespace arges {

namespace {

/// The part of a row of so many, as part_begin() divides them.
std::int64_t part_of(std::int64_t row, std::int64_t rows, std::int64_t parts) {
    auto part = static_cast<std::int64_t>(static_cast<double>(row) * static_cast<double>(parts) / static_cast<double>(rows));
    part = std::clamp<std::int64_t>(part, 0, parts - 1);
    while (part > 0 && row < part_begin(rows, part, parts)) --part;
    while (part + 1 < parts && row >= part_begin(rows, part + 1, parts)) ++part;
    return part;
}

/// Of all columns, one after the other, and how many rows there are in each part.
struct Ends {
    std::vector<double> least{}, largest{};
    std::vector<std::int64_t> rows{};
};

template <class T>
void take(Ends& ends, std::int64_t part, const T* row, std::int64_t columns) {
    const bool is_first = ends.rows[part]++ == 0;
    for (std::int64_t c = 0; c < columns; ++c) {
        const auto value = static_cast<double>(row[c]);
        auto &least = ends.least[part * columns + c], &largest = ends.largest[part * columns + c];
        least = is_first ? value : std::min(least, value);
        largest = is_first ? value : std::max(largest, value);
    }
}

/// Joins what the ranks have, and the zeros of rows that nobody has.
Ends joined_ends(const Communicator& comm, const Ends& mine, std::int64_t length, std::int64_t columns) {
    const auto least = gathered(comm, mine.least), largest = gathered(comm, mine.largest);
    const auto rows = gathered(comm, mine.rows);
    Ends all;
    comm.agree([&] {
        const auto parts = std::ssize(mine.rows);
        const std::vector<double> zeros(columns, 0);
        all = {std::vector<double>(parts * columns), std::vector<double>(parts * columns), std::vector<std::int64_t>(parts)};
        for (std::int64_t r = 0; r < comm.size(); ++r)
            for (std::int64_t p = 0; p < parts; ++p) {
                const auto there = r * parts + p, before = all.rows[p];
                if (rows[there] == 0) continue;
                take(all, p, least.data() + there * columns, columns);
                take(all, p, largest.data() + there * columns, columns);
                all.rows[p] = before + rows[there];
            }
        for (std::int64_t p = 0; p < parts; ++p)
            if (all.rows[p] < part_begin(length, p + 1, parts) - part_begin(length, p, parts)) take(all, p, zeros.data(), columns);
    });
    return all;
}

/// @param columns  of the factor
template <class T, class Model>
std::vector<RowProfile> profiles_of(const Model& model, int mode, std::int64_t parts, std::int64_t columns) {
    const auto& comm = communicator_of(model.world(), "row_profiles");
    std::int64_t length = 0;
    Ends mine;
    comm.agree([&] {
        const auto& rows = model.rows(mode);
        const auto& factor = model.factor(mode);
        if (parts < 1) throw InvalidArgument("row_profiles: " + std::to_string(parts) + " parts; give 1 or more");
        length = model.lengths()[mode];
        parts = std::min(parts, length);
        mine = {std::vector<double>(parts * columns), std::vector<double>(parts * columns), std::vector<std::int64_t>(parts)};
        for (std::size_t i = 0; i < rows.size(); ++i) take(mine, part_of(rows[i], length, parts), factor.data() + i * columns, columns);
    });
    const auto all = joined_ends(comm, mine, length, columns);
    std::vector<RowProfile> result(columns);
    for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t p = 0; p < parts; ++p) {
            result[c].least.push_back(all.least[p * columns + c]);
            result[c].largest.push_back(all.largest[p * columns + c]);
        }
    return result;
}

}  // namespace

template <class T>
std::vector<RowProfile> row_profiles(const CpModel<T>& model, int mode, std::int64_t parts) {
    const CollectiveCall call(ranks_of(model.world()), "row_profiles", ModelArgument{&model}, mode, parts);
    return profiles_of<T>(model, mode, parts, model.rank());
}

template <class T>
std::vector<RowProfile> row_profiles(const TuckerModel<T>& model, int mode, std::int64_t parts) {
    const CollectiveCall call(ranks_of(model.world()), "row_profiles", ModelArgument{&model}, mode, parts);
    return profiles_of<T>(model, mode, parts, mode >= 0 && mode < model.order() ? model.ranks()[mode] : 0);
}

template std::vector<RowProfile> row_profiles(const CpModel<float>&, int, std::int64_t);
template std::vector<RowProfile> row_profiles(const CpModel<double>&, int, std::int64_t);
template std::vector<RowProfile> row_profiles(const TuckerModel<float>&, int, std::int64_t);
template std::vector<RowProfile> row_profiles(const TuckerModel<double>&, int, std::int64_t);

}  // namespace arges

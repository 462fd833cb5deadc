/// The ids of a tensor's or a model's indices, where there are some.
#pragma once

#include "arges/world.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges::cli {

/// What is known of them.
struct ModelIds {
    std::string file{};                ///< empty: there are none
    std::vector<std::string> names{};  ///< of modes
    std::string warning{};             ///< where a file is there that does not fit

    bool is_there() const { return !file.empty(); }
    /// Of a mode, from 0: "user", else "mode 1".
    std::string name(std::size_t mode) const { return is_there() ? names[mode] : "mode " + std::to_string(mode + 1); }
    /// Ids of indices by mode; none where there are none. Collective; indices must be the same on every rank.
    std::vector<std::vector<std::string>> of(const World& world, const std::vector<std::vector<std::int64_t>>& indices) const;
};

/// Those beside a file or in a folder, if they are of a tensor of these lengths. Collective.
ModelIds model_ids(const World& world, const std::string& path, const std::vector<std::int64_t>& lengths);

/// An id in a table: what is empty or long can be seen. Long ones keep their first letters, whole ones of UTF-8.
std::string shown_id(const std::string& id);

}  // namespace arges::cli

#include "base/spelling.hpp"

#include <algorithm>
#include <utility>

namespace arges {

int spelling_distance(const std::string& a, const std::string& b) {
    const auto rows = a.size() + 1, columns = b.size() + 1;
    std::vector<int> distance(rows * columns);
    const auto at = [&](std::size_t i, std::size_t j) -> int& { return distance[i * columns + j]; };
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) {
            if (i == 0 || j == 0) {
                at(i, j) = i + j;
                continue;
            }
            const int changed = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
            at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, changed});
            const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
        }
    return distance.back();
}

std::string nearest_word(const std::string& word, const std::vector<std::string>& words) {
    std::pair<int, std::string> nearest{static_cast<int>(word.size()), ""};
    for (const auto& other : words) nearest = std::min(nearest, {spelling_distance(word, other), other});
    const auto begun = std::find_if(words.begin(), words.end(), [&](const auto& other) {
        return word.size() >= 2 && other.size() < 2 * word.size() && other.starts_with(word);
    });
    if (begun != words.end()) return *begun;
    return 3 * nearest.first <= static_cast<int>(word.size()) ? nearest.second : "";
}

}  // namespace arges

/// What a mistyped word may have meant.
#pragma once

#include <string>
#include <vector>

namespace arges {

/// Letters to put in, to leave out, to change or to swap with the next one, at least, to make one word of another. Pure.
/// Example: "tollerance" and "tolerance": 1.
int spelling_distance(const std::string& a, const std::string& b);

/// Of the words the first that begins so and is not twice as long, else the one that is nearest to `word`, if it is so near that it may
/// have been meant; else "". Pure.
std::string nearest_word(const std::string& word, const std::vector<std::string>& words);

}  // namespace arges

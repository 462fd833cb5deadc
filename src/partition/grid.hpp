/// Cartesian grids of ranks for medium-grain distributions. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace arges::partition {

/// Ranks along each mode; rank = ((c_1 * g_2 + c_2) * g_3 + ...) + c_N: the last mode is fastest.
using Grid = std::vector<std::int64_t>;

/// The product of all numbers. @throws InvalidArgument beyond 2^63 - 1
std::int64_t ranks(const Grid& grid);
/// 2x2x1
std::string to_string(const Grid& grid);
/// @throws InvalidArgument if the text is no grid of `order` numbers
Grid parse_grid(const std::string& text, int order);

/// All grids of `ranks` ranks, in lexicographic order: 18 for 12 ranks and 3 modes, 36 for 128.
std::vector<Grid> all_grids(std::int64_t ranks, int order);

/// Sum over the modes of I_n P / P_n: the rows that all ranks together touch if no slice is empty. Less means less volume.
double touched_rows(const Grid& grid, const std::vector<std::int64_t>& lengths);

/// SPLATT's rule: primes of the number of ranks from the largest down, each to the mode with the largest excess of slices per
/// rank; 4x2x2 for 16 ranks and lengths 4.8M, 1.8M, 1.8M.
Grid greedy_grid(std::int64_t ranks, const std::vector<std::int64_t>& lengths);

/// How the greedy part of predicted_grid() shortens a mode that got a prime.
enum class Shortening : std::uint8_t { subtract_mean, divide };

/// The candidates of Algorithm 2 of irregularity-aware-cpd-2023, in lexicographic order. All primes but the last two go, from the
/// largest down, to the mode that is longest then and is shortened after; the last two are placed in every way: six grids for two
/// equal primes and 3 modes, nine for two unequal ones. Grids with more layers than slices are left out unless all have some.
/// Example: 16 ranks and lengths 4.8M, 1.8M, 1.8M give the grids that are multiples of 4x1x1.
std::vector<Grid> candidate_grids(std::int64_t ranks, const std::vector<std::int64_t>& lengths,
                                  Shortening shortening = Shortening::subtract_mean);

/// (largest - least) / largest; 0 if all are zero.
double imbalance(const std::vector<std::int64_t>& counts);

/// Nonzeros of the layers of a mode that is cut into so many layers of equal slices.
using LayerCounts = std::function<std::vector<std::int64_t>(int mode, std::int64_t layers)>;

/// Mean over the modes of the imbalance of nonzeros between layers of equal slices; a mode that is not cut counts 0.
double layer_imbalance(const Grid& grid, const LayerCounts& layer_counts);

/// Algorithm 2: the candidate with the least layer imbalance; ties go to the least touched_rows(), then to the first.
Grid predicted_grid(std::int64_t ranks, const std::vector<std::int64_t>& lengths, const LayerCounts& layer_counts,
                    Shortening shortening = Shortening::subtract_mean);

}  // namespace arges::partition

/// Lower bounds on the words that ranks move in the steps of dense decompositions. Pure.
///
/// All of them hold for the mean over the ranks, and so for the busiest one, of what a rank sends as well as of what it receives;
/// for algorithms that compute products from their definitions, on ranks that do equal shares of the work, with every word of
/// inputs and results kept once over all ranks before and after. Words are elements of the tensor. What a step needs beyond its
/// product, as eigenvectors, is not in them.
#pragma once

#include <cstdint>
#include <span>

namespace arges::decompose {

/// Least number of different elements of A and of the part of A A^T below the diagonal that so many products A(i, k) A(j, k), i
/// > j, touch. With x elements of A and y of the result there are at most x sqrt(2 y) / 2 products: mirrored at i = j they are
/// twice as many, and the Loomis-Whitney inequality bounds these by the root of the product of their three projections, x, x
/// and 2 y.
/// @param length, width of A
double gram_access(double length, double width, double products);

/// Words of X_(n) X_(n)^T for a matricization of length x width (Al Daas, Ballard, Grigori, Kumar, Rouse, Parallel
/// memory-independent communication bounds for SYRK, SPAA 2023): gram_access() of a rank's share, less what it keeps.
double gram_bound(double length, double width, double ranks);

/// Words of U^T X_(n) with a factor of length x columns: a matrix product (Al Daas, Ballard, Grigori, Kumar, Rouse, Tight
/// memory-independent parallel matrix multiplication communication lower bounds, SPAA 2022; memory_independent_bound()).
double product_bound(double length, double width, double columns, double ranks);

/// Words of one MTTKRP, the same for each mode (Ballard, Knight, Rouse, Communication lower bounds for matricized tensor times
/// Khatri-Rao product, IPDPS 2018; memory_independent_bound(), which is their bound with its constants).
double mttkrp_bound(std::span<const std::int64_t> lengths, double columns, double ranks);

/// Words of a sweep of CP-ALS, which takes an MTTKRP of each mode, if the tensor stays: a rank keeps its share of the elements,
/// and multiplies all columns with them. Then it touches b_n rows of mode n, where the product of the b_n is at least its
/// number of elements; in each sweep it gets b_n rows of the factor, which serve all other modes, and adds to b_n rows of the
/// result, less those that it owns. That is the bound of Ballard, Knight and Rouse where it leaves the tensor in place, twice
/// for each mode.
double sweep_bound(std::span<const std::int64_t> lengths, double columns, double ranks);

}  // namespace arges::decompose

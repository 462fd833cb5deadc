/// Lower bounds on the words that a term of an einsum moves, for any algorithm that computes its points one by one.
///
/// All of them rest on one question: how few words do v points of the iteration space touch? Over real tiles b that is
///     X(v) = min sum_t prod_{i in t} b_i   subject to   prod_i b_i = v,  1 <= b_i <= N_i,
/// a geometric program, convex in log b (t runs over the inputs and the output, N_i is the extent of label i). By
/// linear programming duality no set of v points touches fewer (Hoelder-Brascamp-Lieb; Ballard, Demmel, Knight et al.).
///
/// Every function is pure, needs no MPI, and throws InvalidArgument for a space that breaks the rules of
/// IterationSpace.
#pragma once

#include <vector>

namespace arges {

/// One term of an einsum: its tensors as lists of labels. Example: ij,jk->ik is {{n, n, n}, {{0, 1}, {1, 2}, {0, 2}}}.
struct IterationSpace {
    std::vector<double> extents;            ///< of each label: 0, or at least 1; the volume must stay below 1e300
    std::vector<std::vector<int>> tensors;  ///< label numbers of each input and of the output, unique in a tensor
};

/// Number of points: the product of the extents of the labels that occur in a tensor. 1 if none does.
double volume(const IterationSpace& space);

/// Sum of the sizes of all tensors, in words.
double total_words(const IterationSpace& space);

/// Tiles that touch few words.
struct Tiles {
    std::vector<double> lengths;  ///< of each label; 1 for a label that occurs in no tensor, all 0 in an empty space
    double words = 0;             ///< sum over the tensors of their tile's size
};

/// X(points) above and the tiles that attain it, to about 1e-11 relative. Points outside [1, volume] count as the
/// nearer end. Labels that occur in the same tensors act as one; log tile is spread over them in proportion to log N_i.
/// @throws InvalidArgument if points is not a number
Tiles smallest_access(const IterationSpace& space, double points);

/// Memory-independent bound, in words per rank: X(V/P) - sum_t |t|/P, at least 0 (V points, P ranks). It bounds the
/// mean over the ranks, hence also the maximum, of (input words received + partial results sent) if every rank computes
/// V/P points, each point is computed once, and inputs and output are kept once over the machine. Ranks beyond V count
/// as V: the others have nothing to do. For matrix products it is the bound of Al Daas et al., arXiv 2205.13407.
/// @throws InvalidArgument for less than one rank
double memory_independent_bound(const IterationSpace& space, double ranks);

/// Points that can be computed per word moved with a fast memory of S words.
struct Intensity {
    double rho = 0;             ///< points per word; infinite if memory holds all tensors or there are no points
    double accessed = 0;        ///< X0: words that a phase touches, of which X0 - S are moved
    std::vector<double> tiles;  ///< of each label in such a phase, as in Tiles
};

/// Intensity of SOAP (Kwasniewski et al. 2021): rho(S) = min phi(X) / (X - S) over S < X <= sum_t |t|, where phi, the
/// inverse of X(v), is the most points that X words allow. A sequential run that starts and ends with an empty memory
/// moves at least V/rho words. The caps N_i are respected: without them rho can be far off. rho is within 1e-6 of the
/// minimum where two phases of different shape are that close to each other, else within about 1e-11.
/// @throws InvalidArgument for a negative memory
Intensity soap_intensity(const IterationSpace& space, double memory_words);

/// Memory-dependent bound, in words per rank: V/(P rho(S)) - sum_t |t|/P, at least 0, where S is the memory of a rank
/// with its own share of the tensors. It bounds the same mean as memory_independent_bound() does, under the same
/// assumptions, except that the points may be spread unevenly. Print the larger of both.
///
/// Why: cut a rank's run, from its end, into phases of X0 - S events, an event being an input word received or a result
/// that the rank begins to accumulate. A phase touches at most X0 words, so it computes at most phi(X0) points. The
/// first one, of r < X0 - S events, touches own inputs + r words, so it computes at most rho (own inputs + r) points,
/// because phi(X)/X grows with X. Hence events >= points/rho - own inputs; and every begun result is sent or is one of
/// the own results.
/// That is at least the usual V/(P rho) - S, as S >= sum_t |t|/P in any run; a smaller S counts as that share.
/// @throws InvalidArgument for less than one rank or a negative memory
double memory_dependent_bound(const IterationSpace& space, double ranks, double memory_words);

}  // namespace arges

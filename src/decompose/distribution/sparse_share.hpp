/// What a rank has of a sparse tensor that is distributed: sizes from which memory is worked out before it is taken.
#pragma once

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// Sizes on one rank. Before the nonzeros are read they are what the file lets expect, and exact as soon as the nonzeros have been
/// distributed.
struct SparseShare {
    std::int64_t ranks = 1, value_bytes = 8;
    std::int64_t weight_bytes = 0;                        ///< of a nonzero; 0: there are no weights
    std::vector<std::int64_t> lengths{};                  ///< of the tensor, by mode
    std::int64_t before = 0;                              ///< nonzeros as they were read
    bool keeps_source = false;                            ///< the tensor keeps them; else it gives them up when they are distributed
    std::vector<std::int64_t> nonzeros{};                 ///< by set: one set, or for coarse grain one for each mode
    std::vector<std::int64_t> rows{}, owned{}, shared{};  ///< by mode: of a factor, those of them that the rank owns, rows sent to others
    int columns = 0;                                      ///< of a factor
    std::int64_t sampled = -1;                            ///< nonzeros that the choice of a grid looked at; -1: not known

    int order() const { return lengths.size(); }
    /// Modes that a set is for.
    std::vector<int> modes_of(std::size_t set) const {
        std::vector<int> modes;
        for (int m = nonzeros.size() == 1 ? 0 : static_cast<int>(set); m < (nonzeros.size() == 1 ? order() : static_cast<int>(set) + 1);
             ++m)
            modes.push_back(m);
        return modes;
    }
    /// Bytes of a nonzero's value and weight.
    std::int64_t element_bytes() const { return value_bytes + weight_bytes; }
    /// Bytes of a nonzero with its indices in the whole tensor, and with those of local rows.
    std::int64_t global_bytes() const { return order() * 8 + element_bytes(); }
    std::int64_t local_bytes() const { return order() * 4 + element_bytes(); }
    /// Bytes of the nonzeros as they were read.
    std::int64_t source_bytes() const { return before * global_bytes(); }
};

/// What to expect of a tensor with so many nonzeros, distributed evenly but for a tenth.
SparseShare expected_share(std::int64_t ranks, std::int64_t value_bytes, const std::vector<std::int64_t>& lengths, std::int64_t nonzeros,
                           bool is_coarse, int columns);

}  // namespace arges::decompose

/// Finds elements of a layout by their indices or keys.
#pragma once

#include "base/divider.hpp"
#include "layout/layout.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// Where an element is: the rank that holds its first copy, the offset there, and how its value follows.
struct ElementLocation {
    std::int64_t rank = 0;
    std::int64_t offset = 0;
    bool negative = false, conjugate = false;
    bool zero = false, real = false;  ///< by symmetry; where it is zero, it has no rank and no offset
};

/// What finding many elements of one layout has in common, made once. One thread at a time.
class ElementLocator {
public:
    /// @param layout  must outlive the locator and hold all packed indices
    explicit ElementLocator(const Layout& layout);

    /// The element at an index, one entry per dimension.
    ElementLocation locate(const std::int64_t* index) const;
    /// The element with a key: the number of its index, the first dimension fastest.
    ElementLocation locate_key(std::int64_t key);

private:
    /// What a coordinate of a slot means.
    struct Coordinate {
        std::int64_t rank = 0;  ///< contribution to the number of the rank
        std::int64_t size = 0;  ///< elements of the slot there
    };
    struct Slot {
        const SlotLayout* layout;
        const std::vector<int>* dimensions;
        int leaf = -1;  ///< the dimension, if the slot is a single one
        Divider by_grid_length;
        std::vector<Coordinate> coordinates;
    };
    std::vector<Slot> slots_;
    std::vector<Divider> extents_;
    std::vector<std::int64_t> index_;  // of the last key
    bool keys_are_offsets_ = true;     // on one rank without symmetry
};

/// The values of Layout::copy_offset(), ascending: ranks that hold copies of what a rank of first copies holds, less that rank's number.
std::vector<std::int64_t> copy_offsets(const Layout& layout);

}  // namespace arges

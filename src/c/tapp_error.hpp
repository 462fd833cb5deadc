/// The errors of TAPP's functions, and how exceptions become errors.
#pragma once

#include "tapp.h"

#include "arges/error.hpp"

#include <new>

namespace arges::tapp {

/// What may be wrong. Numbers below 100 are those of TAPP's reference implementation.
enum Code : TAPP_error {
    success = 0,
    extents_differ_a_b = 1,
    extents_differ_a_d = 2,
    extents_differ_b_d = 3,
    label_only_in_d = 4,
    modes_differ_c_d = 5,
    labels_differ_c_d = 6,
    extents_differ_c_d = 7,
    result_overlaps_itself = 8,
    two_extents_in_a = 9,
    two_extents_in_b = 10,
    two_extents_in_d = 11,
    missing_c = 12,
    negative_modes = 14,
    negative_extent = 15,
    missing_executor = 33,
    null_pointer = 100,
    wrong_type = 101,
    wrong_operation = 102,
    wrong_precision = 103,
    too_large = 104,
    out_of_memory = 105,
    no_such_attribute = 106,
    negative_batches = 107,
    internal = 108,
};

/// Thrown where a call cannot go on.
struct Refused {
    Code code;
};

inline void refuse_if(bool wrong, Code code) {
    if (wrong) throw Refused{code};
}

/// Calls f(); what it throws becomes a number.
template <class F>
TAPP_error guarded(F&& f) noexcept {
    try {
        f();
        return success;
    } catch (const Refused& refused) {
        return refused.code;
    } catch (const std::bad_alloc&) {
        return out_of_memory;
    } catch (const OutOfMemory&) {
        return out_of_memory;
    } catch (...) {
        return internal;
    }
}

}  // namespace arges::tapp

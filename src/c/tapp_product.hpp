/// Products of two tensors in memory, planned once and executed often.
#pragma once

#include "c/tapp_labels.hpp"
#include "tapp.h"

#include "arges/element_kernels.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace arges::tapp {

/// What a product is made of: tensors and operations in the order A, B, C, D.
struct ProductSpec {
    std::array<LabelledShape, 4> tensors;
    std::array<TAPP_element_op, 4> operations;
    TAPP_prectype precision;
};

/// The addresses that a product is executed with.
struct Arguments {
    const void* alpha;
    const void* a;
    const void* b;
    const void* beta;
    const void* c;  ///< null: D holds it
    void* d;
};

/// Products of at most so many multiplications are computed by plain loops over offsets that the plan lists. For products that are made
/// from now on; at most largest_listed.
void set_listed_multiplications(std::int64_t most);
/// The largest number of multiplications in such a product.
inline constexpr std::int64_t largest_listed = 1024;

/// D = alpha op(A) op(B) + beta op(C), without op on D: it goes to the other tensors and numbers.
///
/// Large products are contractions of the local kernels, which take positive strides only, and operands neither conjugated nor overlapping
/// with the result. The axes of a label are turned so that the strides of D are positive; an operand that does not fit then is copied. The
/// copy also sums over labels that only this operand has. Where types differ operands are converted, and D is combined from C and a result
/// of the type that is computed in.
class Product {
public:
    /// @throws Refused if it is none
    explicit Product(const ProductSpec& spec);

    /// Executes it. @throws Refused, std::bad_alloc, OutOfMemory
    void execute(const Arguments& arguments) const;

private:
    struct Run;

    /// How a tensor lies, relative to the element where all axes start.
    struct Place {
        TAPP_datatype type = TAPP_F32;
        bool conjugate = false;
        std::int64_t start = 0;                ///< of that element, relative to the one the caller gives
        std::int64_t lowest = 0, highest = 0;  ///< elements that are reached, relative to the one the caller gives
        std::vector<std::int64_t> strides{};   ///< of each label
    };

    /// How an operand gets into a contraction.
    struct Input {
        Place place{};                                  ///< as it lies, or converted
        bool copied = false;                            ///< it does not fit as it lies
        bool sums = false;                              ///< over labels of its own
        local::FoldedContraction sum{};                 ///< of the copy that sums, where it takes the faster kernel; else without axes
        std::vector<local::TransferAxis> copy{};        ///< to the copy
        std::int64_t copy_entries = 1;                  ///< of the copy
        std::vector<std::int64_t> copy_strides{};       ///< of each label
        std::int64_t converted_entries = 1;             ///< where the type differs
        std::vector<std::int64_t> converted_strides{};  ///< likewise, of each label
    };

    /// Offsets of elements that belong together: of each element of D, or of each product that is summed up for one.
    struct Offsets {
        std::int64_t a, b, c, d;
    };

    void choose_types(const ProductSpec& spec);
    void turn_axes();
    void place_tensors();
    void prepare_input(Tensor tensor);
    void prepare_result();
    void list_offsets();
    std::vector<Offsets> offsets_of(bool in_result) const;
    local::FoldedContraction folded(bool copy_a, bool copy_b) const;
    template <class T>
    void run_listed(const Arguments& arguments) const;

    std::vector<Label> labels_;
    std::array<Place, 4> places_;
    TAPP_datatype computed_ = TAPP_F32;
    bool conjugate_numbers_ = false;  ///< alpha and beta
    bool empty_result_ = false;       ///< D has no elements
    bool empty_sum_ = false;          ///< nothing is summed up
    bool c_like_d_ = false;           ///< same type and strides
    std::array<Input, 2> inputs_;
    std::vector<std::int64_t> result_strides_;  ///< of the contraction: those of D, or of a result of another type
    std::int64_t result_entries_ = 1;
    local::FoldedContraction folded_;
    bool listed_ = false;
    std::vector<Offsets> rows_, sums_;
};

}  // namespace arges::tapp

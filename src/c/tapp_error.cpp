// The texts of TAPP's errors.
#include "c/tapp_error.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace arges::tapp {
namespace {

std::string_view text(TAPP_error error) {
    switch (error) {
    case success: return "no error";
    case extents_differ_a_b: return "a label has one extent in A and another in B";
    case extents_differ_a_d: return "a label has one extent in A and another in D";
    case extents_differ_b_d: return "a label has one extent in B and another in D";
    case label_only_in_d: return "D has a label that neither A nor B has";
    case modes_differ_c_d: return "C and D have different numbers of modes";
    case labels_differ_c_d: return "C and D have different labels, or the same ones in another order";
    case extents_differ_c_d: return "C and D have different extents";
    case result_overlaps_itself: return "elements of D may share memory: its strides must keep all of them apart";
    case two_extents_in_a: return "a label that A has several times has different extents there";
    case two_extents_in_b: return "a label that B has several times has different extents there";
    case two_extents_in_d: return "a label that D has several times has different extents there";
    case missing_c: return "C is null and beta is not zero, but D is not described like C and so cannot hold it";
    case negative_modes: return "the number of modes is negative";
    case negative_extent: return "an extent is negative";
    case missing_executor: return "there is no executor: give one of TAPP_create_executor()";
    case null_pointer: return "a pointer or object is null that must not be";
    case wrong_type: return "elements of this type are not supported: use TAPP_F32, TAPP_F64, TAPP_C32 or TAPP_C64";
    case wrong_operation: return "no operation on elements: use TAPP_IDENTITY or TAPP_CONJUGATE";
    case wrong_precision: return "no precision: use TAPP_DEFAULT_PREC or another one of TAPP";
    case too_large: return "the product of all extents, or the memory that the strides reach, is more than 64 bits can count";
    case out_of_memory: return "not enough memory for copies of the operands";
    case no_such_attribute: return "there is no attribute of this name";
    case negative_batches: return "the number of batches is negative";
    case internal: return "internal error of Arges: please report it";
    default: return "no error of Arges has this number";
    }
}

}  // namespace
}  // namespace arges::tapp

bool TAPP_check_success(TAPP_error error) { return error == arges::tapp::success; }

std::size_t TAPP_explain_error(TAPP_error error, std::size_t maxlen, char* message) {
    const std::string_view text = arges::tapp::text(error);
    if (maxlen == 0 || message == nullptr) return text.size();
    const std::size_t written = std::min(maxlen - 1, text.size());
    std::memcpy(message, text.data(), written);
    message[written] = '\0';
    return written;
}

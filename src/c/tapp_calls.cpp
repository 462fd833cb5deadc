// TAPP's functions for products.
#include "c/tapp_error.hpp"
#include "c/tapp_product.hpp"

#include <array>
#include <memory>

namespace arges::tapp {
namespace {

/// What a plan's number is the address of: a product, or why there is none.
struct Plan {
    TAPP_error error = internal;
    std::unique_ptr<const Product> product{};
};

/// The plan of every product that was refused for this reason. It is never destroyed, so that callers who give up leave nothing behind.
TAPP_tensor_product refused_plan(TAPP_error error) {
    static std::array<Plan, internal + 1> plans = [] {
        std::array<Plan, internal + 1> all;
        for (int code = 0; code <= internal; ++code) all[code].error = code;
        return all;
    }();
    return reinterpret_cast<TAPP_tensor_product>(&plans[error]);
}

const Plan& plan_of(TAPP_tensor_product plan) {
    refuse_if(plan == 0, null_pointer);
    return *reinterpret_cast<const Plan*>(plan);
}

LabelledShape labelled(TAPP_tensor_info info, const std::int64_t* labels) {
    const Shape& shape = shape_of(info);
    refuse_if(labels == nullptr && !shape.extents.empty(), null_pointer);
    return {shape, {labels, shape.extents.size()}};
}

/// The product, after what all executions check.
const Product& ready(TAPP_tensor_product plan, TAPP_executor exec, TAPP_status* status) {
    if (status != nullptr) *status = 0;
    const Plan& known = plan_of(plan);
    if (known.error != success) throw Refused{static_cast<Code>(known.error)};
    refuse_if(exec == 0, missing_executor);
    return *known.product;
}

}  // namespace
}  // namespace arges::tapp

using namespace arges::tapp;

TAPP_error TAPP_create_tensor_product(TAPP_tensor_product* plan, TAPP_handle, TAPP_element_op op_A, TAPP_tensor_info A,
                                      const std::int64_t* idx_A, TAPP_element_op op_B, TAPP_tensor_info B, const std::int64_t* idx_B,
                                      TAPP_element_op op_C, TAPP_tensor_info C, const std::int64_t* idx_C, TAPP_element_op op_D,
                                      TAPP_tensor_info D, const std::int64_t* idx_D, TAPP_prectype prec) {
    if (plan == nullptr) return null_pointer;
    const TAPP_error error = guarded([&] {
        const ProductSpec spec{
            {labelled(A, idx_A), labelled(B, idx_B), labelled(C, idx_C), labelled(D, idx_D)}, {op_A, op_B, op_C, op_D}, prec};
        auto made = std::make_unique<Plan>();
        made->product = std::make_unique<Product>(spec);
        made->error = success;
        *plan = reinterpret_cast<TAPP_tensor_product>(made.release());
    });
    if (error != success) *plan = refused_plan(error);
    return error;
}

TAPP_error TAPP_destroy_tensor_product(TAPP_tensor_product plan) {
    if (plan != 0 && plan_of(plan).error == success) delete reinterpret_cast<Plan*>(plan);
    return success;
}

TAPP_error TAPP_execute_product(TAPP_tensor_product plan, TAPP_executor exec, TAPP_status* status, const void* alpha, const void* A,
                                const void* B, const void* beta, const void* C, void* D) {
    return guarded([&] { ready(plan, exec, status).execute({alpha, A, B, beta, C, D}); });
}

TAPP_error TAPP_execute_batched_product(TAPP_tensor_product plan, TAPP_executor exec, TAPP_status* status, int num_batches,
                                        const void* alpha, const void** A, const void** B, const void* beta, const void** C, void** D) {
    return guarded([&] {
        const Product& product = ready(plan, exec, status);
        refuse_if(num_batches < 0, negative_batches);
        refuse_if(num_batches > 0 && (A == nullptr || B == nullptr || D == nullptr), null_pointer);
        for (int i = 0; i < num_batches; ++i) product.execute({alpha, A[i], B[i], beta, C == nullptr ? nullptr : C[i], D[i]});
    });
}

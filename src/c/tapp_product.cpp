// Plans of TAPP's products: types, directions of axes, copies, and the axes of the contraction.
#include "c/tapp_product.hpp"

#include "c/tapp_error.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>

namespace arges::tapp {
namespace {

std::atomic<std::int64_t> listed_multiplications = 768;  // the kernels are faster from about there on

bool is_complex(TAPP_datatype type) { return type == TAPP_C32 || type == TAPP_C64; }
bool is_double(TAPP_datatype type) { return type == TAPP_F64 || type == TAPP_C64; }

bool computes_in_double(const ProductSpec& spec) {
    switch (spec.precision) {
    case TAPP_DEFAULT_PREC:
        return std::ranges::any_of(std::array{tensor_a, tensor_b, tensor_d},
                                   [&](Tensor tensor) { return is_double(spec.tensors[tensor].shape.type); });
    case TAPP_F64F64_ACCUM_F64: return true;
    case TAPP_F32F32_ACCUM_F32:
    case TAPP_F16F16_ACCUM_F16:
    case TAPP_F16F16_ACCUM_F32:
    case TAPP_BF16BF16_ACCUM_F32: return false;
    default: throw Refused{wrong_precision};
    }
}

/// Dense strides in the order of the given ones; 0 where those are. Multiplies `entries` by the number of elements.
std::vector<std::int64_t> dense_strides(const std::vector<Label>& labels, const std::vector<std::int64_t>& strides, std::int64_t& entries) {
    std::vector<std::size_t> order(labels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::abs(strides[i]); });
    std::vector<std::int64_t> dense(labels.size());
    for (const std::size_t i : order) {
        if (strides[i] == 0) continue;
        dense[i] = entries;
        entries *= labels[i].extent;
    }
    return dense;
}

}  // namespace

void set_listed_multiplications(std::int64_t most) { listed_multiplications = std::min(most, largest_listed); }

Product::Product(const ProductSpec& spec) : labels_(labels_of_product(spec.tensors)) {
    for (const Label& label : labels_)
        if (label.extent == 0) (label.in[tensor_d] ? empty_result_ : empty_sum_) = true;
    choose_types(spec);
    turn_axes();
    place_tensors();
    c_like_d_ = places_[tensor_c].type == places_[tensor_d].type && places_[tensor_c].strides == places_[tensor_d].strides;
    if (empty_result_) return;
    prepare_result();
    if (empty_sum_) return;
    for (const Tensor tensor : {tensor_a, tensor_b}) prepare_input(tensor);
    folded_ = folded(inputs_[tensor_a].copied, inputs_[tensor_b].copied);
    list_offsets();
}

void Product::choose_types(const ProductSpec& spec) {
    for (const TAPP_element_op operation : spec.operations)
        refuse_if(operation != TAPP_IDENTITY && operation != TAPP_CONJUGATE, wrong_operation);
    const bool conjugate_result = spec.operations[tensor_d] == TAPP_CONJUGATE;
    for (std::size_t i = 0; i < 4; ++i) {
        places_[i].type = spec.tensors[i].shape.type;
        const bool conjugate = (spec.operations[i] == TAPP_CONJUGATE) != conjugate_result;
        places_[i].conjugate = i != tensor_d && conjugate && is_complex(places_[i].type);
    }
    conjugate_numbers_ = conjugate_result && is_complex(places_[tensor_d].type);
    const bool in_complex = is_complex(places_[tensor_a].type) || is_complex(places_[tensor_b].type);
    const bool in_double = computes_in_double(spec);
    computed_ = in_complex ? (in_double ? TAPP_C64 : TAPP_C32) : (in_double ? TAPP_F64 : TAPP_F32);
}

/// Lets each label run so that its stride in D is positive, or in the first operand that has it.
void Product::turn_axes() {
    for (Label& label : labels_) {
        const std::int64_t decides = label.in[tensor_d]            ? label.stride[tensor_d]
                                     : label.stride[tensor_a] != 0 ? label.stride[tensor_a]
                                                                   : label.stride[tensor_b];
        if (decides >= 0) continue;
        for (std::size_t i = 0; i < 4; ++i) {
            places_[i].start += (label.extent - 1) * label.stride[i];
            label.stride[i] = -label.stride[i];
        }
    }
}

void Product::place_tensors() {
    for (std::size_t i = 0; i < 4; ++i) {
        Place& place = places_[i];
        place.lowest = place.highest = place.start;
        for (const Label& label : labels_) {
            place.strides.push_back(label.stride[i]);
            const std::int64_t last = (label.extent - 1) * label.stride[i];
            (last < 0 ? place.lowest : place.highest) += last;
        }
    }
}

void Product::prepare_input(Tensor tensor) {
    Input& input = inputs_[tensor];
    input.place = places_[tensor];
    if (input.place.type != computed_) {
        input.converted_strides = dense_strides(labels_, input.place.strides, input.converted_entries);
        input.place = {.type = computed_, .strides = input.converted_strides};
    }
    const Tensor other = tensor == tensor_a ? tensor_b : tensor_a;
    std::vector<std::int64_t> kept = input.place.strides;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        const Label& label = labels_[i];
        if (!label.in[tensor]) continue;
        const bool summed = !label.in[other] && !label.in[tensor_d];
        input.sums = input.sums || summed;
        input.copied = input.copied || input.place.strides[i] < 0;
        if (summed) kept[i] = 0;
    }
    input.copied = input.copied || input.sums || input.place.conjugate;
    input.copy_strides = dense_strides(labels_, kept, input.copy_entries);
    const bool by_reduction =
        input.sums && !input.place.conjugate && std::ranges::none_of(kept, [](std::int64_t stride) { return stride < 0; });
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        const Label& label = labels_[i];
        const bool summed = label.in[tensor] && !label.in[other] && !label.in[tensor_d];
        if (!summed && kept[i] == 0) continue;
        const std::int64_t from = input.place.strides[i], to = input.copy_strides[i];
        if (by_reduction)
            (summed ? input.sum.k : input.sum.m).push_back({label.extent, from, 0, to});
        else
            input.copy.push_back({.count = label.extent, .from_stride = from, .to_stride = to});
    }
}

void Product::prepare_result() {
    result_strides_ = places_[tensor_d].strides;
    if (places_[tensor_d].type != computed_) result_strides_ = dense_strides(labels_, result_strides_, result_entries_);
}

local::FoldedContraction Product::folded(bool copy_a, bool copy_b) const {
    const auto& in_a = copy_a ? inputs_[tensor_a].copy_strides : inputs_[tensor_a].place.strides;
    const auto& in_b = copy_b ? inputs_[tensor_b].copy_strides : inputs_[tensor_b].place.strides;
    local::FoldedContraction f;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        const auto& [extent, in, stride] = labels_[i];
        const local::FoldAxis axis{extent, in_a[i], in_b[i], result_strides_[i]};
        if (in[tensor_a] && in[tensor_b])
            (in[tensor_d] ? f.batch : f.k).push_back(axis);
        else if (in[tensor_d])
            (in[tensor_a] ? f.m : f.n).push_back(axis);
    }
    return f;
}

std::vector<Product::Offsets> Product::offsets_of(bool in_result) const {
    std::vector<Offsets> list = {{0, 0, 0, 0}};
    for (const Label& label : labels_) {
        if (label.in[tensor_d] != in_result) continue;
        const std::size_t known = list.size();
        for (std::int64_t entry = 1; entry < label.extent; ++entry)
            for (std::size_t i = 0; i < known; ++i) {
                const auto& [a, b, c, d] = list[i];
                list.push_back({a + entry * label.stride[tensor_a], b + entry * label.stride[tensor_b], c + entry * label.stride[tensor_c],
                                d + entry * label.stride[tensor_d]});
            }
    }
    return list;
}

/// Small products of one type keep the offsets of all elements.
void Product::list_offsets() {
    if (std::ranges::any_of(places_, [&](const Place& place) { return place.type != computed_; })) return;
    std::int64_t multiplications = 1;
    for (const Label& label : labels_) multiplications *= label.extent;
    listed_ = multiplications <= listed_multiplications;
    if (!listed_) return;
    rows_ = offsets_of(true);
    sums_ = offsets_of(false);
    for (Offsets& row : rows_)
        row = {row.a + places_[tensor_a].start, row.b + places_[tensor_b].start, row.c + places_[tensor_c].start,
               row.d + places_[tensor_d].start};
}

}  // namespace arges::tapp

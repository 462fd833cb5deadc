// What makes the labels of four tensors a product, in the order in which TAPP's reference implementation looks for it, so that wrong
// products get the same number from both.
#include "c/tapp_labels.hpp"

#include "c/tapp_error.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace arges::tapp {
namespace {

bool has(const LabelledShape& tensor, std::int64_t label) { return std::ranges::find(tensor.labels, label) != tensor.labels.end(); }

/// A tensor whose extents are compared, and what it means if they differ.
struct Comparison {
    const LabelledShape& with;
    Code code;
};

void compare_extents(const LabelledShape& tensor, std::initializer_list<Comparison> comparisons) {
    for (std::size_t i = 0; i < tensor.labels.size(); ++i)
        for (const auto& [with, code] : comparisons)
            for (std::size_t j = 0; j < with.labels.size(); ++j)
                refuse_if(tensor.labels[i] == with.labels[j] && tensor.shape.extents[i] != with.shape.extents[j], code);
}

void check_c_like_d(const LabelledShape& c, const LabelledShape& d) {
    refuse_if(c.labels.size() != d.labels.size(), modes_differ_c_d);
    for (std::size_t i = 0; i < d.labels.size(); ++i) {
        refuse_if(c.labels[i] != d.labels[i], labels_differ_c_d);
        refuse_if(c.shape.extents[i] != d.shape.extents[i], extents_differ_c_d);
    }
}

/// Each stride, the smallest first, must lead past all that the smaller ones reach.
void check_distinct_elements(const Shape& shape) {
    std::vector<std::pair<std::int64_t, std::int64_t>> modes;  // stride, extent
    for (std::size_t i = 0; i < shape.extents.size(); ++i) {
        if (shape.extents[i] == 0) return;
        refuse_if(shape.strides[i] == INT64_MIN, too_large);
        if (shape.extents[i] > 1) modes.emplace_back(std::abs(shape.strides[i]), shape.extents[i]);
    }
    std::ranges::sort(modes);
    std::int64_t reach = 0, steps = 0;
    for (const auto& [stride, extent] : modes) {
        refuse_if(stride <= reach, result_overlaps_itself);
        refuse_if(__builtin_mul_overflow(stride, extent - 1, &steps) || __builtin_add_overflow(reach, steps, &reach), too_large);
    }
}

/// The product of all extents, and what each tensor reaches in bytes, must be numbers.
void check_sizes(const std::vector<Label>& labels) {
    if (std::ranges::any_of(labels, [](const Label& label) { return label.extent == 0; })) return;
    std::int64_t product = 1;
    for (const Label& label : labels) refuse_if(__builtin_mul_overflow(product, label.extent, &product), too_large);
    for (std::size_t tensor = 0; tensor < 4; ++tensor) {
        std::int64_t reach = 1;
        for (const Label& label : labels) {
            std::int64_t steps = 0;
            const std::int64_t stride = label.stride[tensor];
            refuse_if(stride == INT64_MIN || __builtin_mul_overflow(std::abs(stride), label.extent, &steps), too_large);
            refuse_if(__builtin_add_overflow(reach, steps, &reach), too_large);
        }
        refuse_if(reach > INT64_MAX / 64, too_large);
    }
}

}  // namespace

std::vector<Label> labels_of_product(const std::array<LabelledShape, 4>& tensors) {
    const auto& [a, b, c, d] = tensors;
    for (const std::int64_t label : d.labels) refuse_if(!has(a, label) && !has(b, label), label_only_in_d);
    compare_extents(a, {{a, two_extents_in_a}, {b, extents_differ_a_b}, {d, extents_differ_a_d}});
    compare_extents(b, {{b, two_extents_in_b}, {d, extents_differ_b_d}});
    compare_extents(d, {{d, two_extents_in_d}});
    check_c_like_d(c, d);
    check_distinct_elements(d.shape);

    std::vector<std::int64_t> names;
    std::vector<Label> labels;
    for (const Tensor tensor : {tensor_d, tensor_a, tensor_b, tensor_c})
        for (std::size_t i = 0; i < tensors[tensor].labels.size(); ++i) {
            const Shape& shape = tensors[tensor].shape;
            if (shape.extents[i] == 1) continue;
            const auto name = std::ranges::find(names, tensors[tensor].labels[i]);
            const std::size_t place = name - names.begin();
            if (name == names.end()) {
                names.push_back(tensors[tensor].labels[i]);
                labels.push_back({.extent = shape.extents[i]});
            }
            Label& label = labels[place];
            label.in[tensor] = true;
            refuse_if(__builtin_add_overflow(label.stride[tensor], shape.strides[i], &label.stride[tensor]), too_large);
        }
    check_sizes(labels);
    return labels;
}

}  // namespace arges::tapp

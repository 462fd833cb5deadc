/// @file ctf_multilinear.hpp
/// Products of a tensor and matrices along its dimensions. Included by ctf.hpp. C++11.
#pragma once

#include "ctf.hpp"

namespace CTF {

/// The labels of the dimensions of a tensor, 'a' first.
inline std::string labels_of(CTF_int::tensor const& tensor) {
    std::string result;
    for (int d = 0; d < tensor.order; ++d) result.push_back(static_cast<char>('a' + d));
    return result;
}

/// A matrix, or vector, along one dimension of a tensor: n x k, k x n with the other one first.
template <class T>
Idx_Tensor along(Tensor<T>& matrix, char label, bool aux_first) {
    std::string const other = matrix.order > 1 ? "~" : "";
    return matrix[(aux_first ? other + label : label + other).c_str()];
}

/// T = T times, element by element, the sums over k of products of rows of matrices along some dimensions.
template <class T>
void TTTP(Tensor<T>* tensor, int num_ops, int const* modes, Tensor<T>** mat_list, bool aux_mode_first = false) {
    std::string const labels = labels_of(*tensor);
    std::unique_ptr<CTF_int::Term> product(new CTF_int::Term((*tensor)[labels.c_str()]));
    for (int i = 0; i < num_ops; ++i) product.reset(new CTF_int::Term(*product * along(*mat_list[i], labels[modes[i]], aux_mode_first)));
    (*tensor)[labels.c_str()] = *product;
}

/// Replaces the matrix along one dimension by the tensor times the matrices along the others.
template <class T>
void MTTKRP(Tensor<T>* tensor, Tensor<T>** mat_list, int mode, bool aux_mode_first) {
    std::string const labels = labels_of(*tensor);
    std::unique_ptr<CTF_int::Term> product(new CTF_int::Term((*tensor)[labels.c_str()]));
    for (int d = 0; d < tensor->order; ++d)
        if (d != mode) product.reset(new CTF_int::Term(*product * along(*mat_list[d], labels[d], aux_mode_first)));
    along(*mat_list[mode], labels[mode], aux_mode_first) = *product;
}

}  // namespace CTF

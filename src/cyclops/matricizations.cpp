// Singular values of matricizations. A file of its own so that programs without them need no ScaLAPACK.
#include "arges/error.hpp"
#include "arges/linalg.hpp"
#include "cyclops/body.hpp"

#include <algorithm>

namespace CTF_int {

using arges::AnyTensor;
using arges::InvalidArgument;

namespace {

/// Labels and values of an operand that is written as one tensor.
const Operand& operand_of(const CTF::Idx_Tensor& indexed) { return indexed.formula()->sum.at(0).operands.at(0); }

std::string without(std::string labels, char label) {
    labels.erase(std::remove(labels.begin(), labels.end(), label), labels.end());
    return labels;
}

/// A tensor with its dimensions in another order. Collective.
AnyTensor ordered(const AnyTensor& tensor, const std::string& labels, const std::string& wanted) {
    std::vector<std::int64_t> extents;
    for (char label : wanted) {
        const auto place = labels.find(label);
        if (place == std::string::npos || labels.size() != wanted.size())
            throw InvalidArgument("a decomposition with labels \"" + labels + "\" and \"" + wanted +
                                  "\"; both factors together have those of the tensor, and the label of the singular values");
        extents.push_back(tensor.extents()[place]);
    }
    auto result = made(tensor.kernels(), arges::Storage::dense, tensor.world(), extents);
    result[names_of(wanted)] = tensor[names_of(labels)];
    return result;
}

/// Labels of a matrix: rows, bar, columns.
arges::Labels sides(const std::string& rows, const std::string& columns) {
    auto names = names_of(rows).names();
    const auto more = names_of(columns);
    names.emplace_back("|");
    names.insert(names.end(), more.names().begin(), more.names().end());
    return {names};
}

/// Numbers as a vector of some type. Collective.
AnyTensor vector_of(const std::vector<double>& values, const AnyTensor& like) {
    auto result = made(like.kernels(), arges::Storage::dense, like.world(), {std::ssize(values)});
    std::vector<std::int64_t> keys;
    Values elements(like.kernels());
    for (auto k = like.world().rank(); k < std::ssize(values); k += like.world().size()) {
        keys.push_back(k);
        elements.add(element_of(values[k], like.kernels()).data());
    }
    result.accumulate_pairs(keys, elements.data(), std::ssize(keys), nullptr, like.kernels().zero);
    return result;
}

/// The first entries along a dimension.
AnyTensor cut(const AnyTensor& tensor, int dimension, std::int64_t count) {
    auto end = tensor.extents();
    end[dimension] = count;
    return tensor.slice(std::vector<std::int64_t>(end.size(), 0), end);
}

void give(CTF_int::tensor& to, AnyTensor value, const CTF_int::tensor& like) {
    to.become(std::make_shared<Body>(Body{std::move(value)}), like, nullptr);
}

}  // namespace

void svd(const CTF::Idx_Tensor& A, const CTF::Idx_Tensor& U, const CTF::Idx_Tensor& S, const CTF::Idx_Tensor& VT, int rank,
         double threshold, bool randomized, int iterations, int oversampling) {
    const auto bond = operand_of(S).labels;
    const auto left = operand_of(U).labels, right = operand_of(VT).labels;
    if (bond.size() != 1) throw InvalidArgument("svd: the singular values have labels \"" + bond + "\"; give one");
    const auto rows = without(left, bond[0]), columns = without(right, bond[0]);
    const auto matrix = ordered(unpacked(of(*A.parent)), operand_of(A).labels, rows + columns);
    arges::SvdOptions options;
    if (rank > 0) options.rank = rank;
    if (randomized) {
        options.method = arges::SvdMethod::randomized;
        options.power_iterations = iterations;
        options.oversampling = oversampling;
    }
    auto [u, values, vh, discarded, checks] = arges::svd(matrix[sides(rows, columns)], options);
    const auto above = std::count_if(values.begin(), values.end(), [&](double value) { return value >= threshold; });
    if (threshold > 0 && above < std::ssize(values)) {
        values.resize(above);
        u = cut(u, u.order() - 1, above);
        vh = cut(vh, 0, above);
    }
    give(*U.parent, ordered(u, rows + bond, left), *A.parent);
    give(*S.parent, vector_of(values, matrix), *A.parent);
    give(*VT.parent, ordered(vh, bond + columns, right), *A.parent);
}

}  // namespace CTF_int

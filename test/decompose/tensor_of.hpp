/// A sparse tensor to whose making every rank gives a part.
#pragma once

#include "arges/sparse_tensor.hpp"
#include "sparse/nonzeros.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges::test {

template <class T = double>
SparseTensor<T> tensor_of(const World& world, const sparse::Nonzeros<double>& whole, const std::string& name = "X") {
    SparseEntries<T> mine{std::vector<std::vector<std::int64_t>>(whole.indices.size()), {}};
    for (std::int64_t x = world.rank(); x < whole.count(); x += world.size()) {
        for (std::size_t m = 0; m < whole.indices.size(); ++m) mine.indices[m].push_back(whole.indices[m][static_cast<std::size_t>(x)]);
        mine.values.push_back(static_cast<T>(whole.values[static_cast<std::size_t>(x)]));
    }
    return SparseTensor<T>::from_entries(world, whole.lengths, mine, Duplicates::refuse, name);
}

}  // namespace arges::test

/// Views of matrices whose rows are contiguous, as factor matrices are.
#pragma once

#include <cstdint>
#include <type_traits>

namespace arges::sparse {

/// rows x columns elements; element (i, r) is data[i * stride + r].
template <class T>
struct RowMatrix {
    T* data = nullptr;
    std::int64_t rows = 0;
    int columns = 0;
    std::int64_t stride = 0;  ///< at least `columns`

    T* row(std::int64_t i) const { return data + i * stride; }
    template <class C, class = std::enable_if_t<std::is_same_v<C, const T>>>
    operator RowMatrix<C>() const {
        return {data, rows, columns, stride};
    }
};

}  // namespace arges::sparse

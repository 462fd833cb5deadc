/// Giving the memory of a vector back.
#pragma once

#include <vector>

namespace arges {

/// Frees the memory of a vector, which is empty afterwards. To assign {} or to call clear() would keep it: {} is taken for a list of no
/// elements.
template <class V>
void release(std::vector<V>& values) {
    std::vector<V>().swap(values);
}

}  // namespace arges

// Keys of interleaved index bits (ALTO: Helal et al., ALTO: adaptive linearized storage of sparse tensors, 2021).
#include "sparse/linear_key.hpp"

#include "sparse/fiber_tree.hpp"
#include "sparse/index_sort.hpp"

namespace arges::sparse {

LinearKey::LinearKey(std::span<const std::int64_t> lengths) {
    const auto modes = modes_from(-1, lengths);
    std::vector<int> taken(lengths.size(), 0);
    bool any = true;
    const auto add_word = [&] {
        bits_.push_back(0);
        fields_.emplace_back(lengths.size());
    };
    add_word();
    for (int last = -1; any;) {
        any = false;
        for (int mode : modes) {
            const std::size_t m = mode;
            if (taken[m] == index_bits(lengths[m])) continue;
            if (bits_.back() == 64) {
                add_word();
                last = -1;
            }
            auto& field = fields_.back()[m];
            if (field.mask == 0) field.index_shift = taken[m];
            field.mask |= std::uint64_t{1} << bits_.back();
            if (last == mode)
                field.segments.back().mask = field.segments.back().mask << 1 | 1;
            else
                field.segments.push_back({bits_.back(), taken[m], 1});
            ++bits_.back();
            ++taken[m];
            last = mode;
            any = true;
        }
    }
}

std::uint64_t LinearKey::encode(int mode, std::uint32_t index, int word) const {
    std::uint64_t key = 0;
    for (const auto& s : field(mode, word).segments) key |= (index >> s.index_shift & s.mask) << s.key_shift;
    return key;
}

}  // namespace arges::sparse

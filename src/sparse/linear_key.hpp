/// One integer of interleaved index bits for each nonzero.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace arges::sparse {

/// Which bits of a key belong to which mode, as in ALTO (Helal et al., *ALTO: adaptive linearized storage of sparse tensors*,
/// 2021): bits are assigned from the least significant one, in turn to each mode that still has some, the shortest mode first.
/// So every mode has its low bits in the low bits of the key, near nonzeros have near indices in all modes, and the highest bits
/// are those of the longest modes. A key has as many 64-bit words as the bits need; word 0 has the lowest bits. Example: lengths
/// 4, 2, 8 need 2, 1, 3 bits; from the lowest bit on they are 1 0 2 0 2 2 (the modes), so (3, 1, 5) is 101111 in binary: 47.
class LinearKey {
public:
    explicit LinearKey(std::span<const std::int64_t> lengths);

    int words() const { return bits_.size(); }
    /// Used bits of a word.
    int bits(int word) const { return bits_[word]; }

    /// The bits that `index` of `mode` contributes to a word of the key.
    std::uint64_t encode(int mode, std::uint32_t index, int word) const;

    /// index[i] = (with Add: |=) the part of the index of `mode` that keys[i], word `word` of a key, holds.
    template <bool Add>
    void decode(int mode, int word, const std::uint64_t* keys, int count, std::uint32_t* index) const;

private:
    /// Neighbouring bits that are neighbours in the index as well.
    struct Segment {
        int key_shift, index_shift;
        std::uint64_t mask;  ///< before the shifts
    };
    struct Field {
        std::uint64_t mask = 0;
        int index_shift = 0;
        std::vector<Segment> segments;
    };
    const Field& field(int mode, int word) const { return fields_[word][mode]; }

    std::vector<int> bits_;
    std::vector<std::vector<Field>> fields_;  // by word, mode
};

}  // namespace arges::sparse

#ifdef __BMI2__
#include <immintrin.h>
#endif

namespace arges::sparse {

template <bool Add>
void LinearKey::decode(int mode, int word, const std::uint64_t* keys, int count, std::uint32_t* index) const {
    const auto& f = field(mode, word);
#ifdef __BMI2__
    const auto mask = f.mask;
    const int shift = f.index_shift;
    for (int i = 0; i < count; ++i) {
        const std::uint32_t part = _pext_u64(keys[i], mask) << shift;
        index[i] = Add ? index[i] | part : part;
    }
#else
    if (!Add) std::fill_n(index, count, 0u);
    for (const auto s : f.segments)
        for (int i = 0; i < count; ++i) index[i] |= static_cast<std::uint32_t>((keys[i] >> s.key_shift & s.mask) << s.index_shift);
#endif
}

}  // namespace arges::sparse

// MTTKRP on blocks of nonzeros in Morton order (Li, Sun and Vuduc, HiCOO: hierarchical storage of sparse tensors, 2018).
#include "sparse/index_sort.hpp"
#include "sparse/linear_key.hpp"
#include "sparse/stream_mttkrp.hpp"

namespace arges::sparse {

namespace {

/// Blocks of 2^7 indices in each mode (Li, Sun and Vuduc, *HiCOO: hierarchical storage of sparse tensors*, 2018): a nonzero has
/// one byte for each mode, a block its position. Blocks, and nonzeros in a block, are in the order of their interleaved bits.
template <class T>
struct BlockedNonzeros final : StreamStorage<T> {
    static constexpr int block_bits = 7;
    std::vector<std::vector<std::uint32_t>> bases;   ///< by mode: first index of each block
    std::vector<std::int64_t> starts;                ///< first nonzero of each block, and the end
    std::vector<std::vector<std::uint8_t>> offsets;  ///< by mode

    explicit BlockedNonzeros(const LocalNonzeros<T>& nonzeros) {
        const auto positions = by_block(nonzeros);
        const auto order = nonzeros.indices.size();
        bases.resize(order);
        offsets.resize(order, std::vector<std::uint8_t>(positions.size()));
        const auto blocks = count_blocks(nonzeros, positions);
        starts.reserve(blocks + 1);
        for (auto& base : bases) base.reserve(blocks);
        for (std::size_t x = 0; x < positions.size(); ++x) {
            bool same = x > 0;
            for (std::size_t m = 0; m < order; ++m) {
                const auto index = nonzeros.indices[m][positions[x]];
                same = same && bases[m].back() == index >> block_bits << block_bits;
                offsets[m][x] = static_cast<std::uint8_t>(index & ((1u << block_bits) - 1));
            }
            if (same) continue;
            starts.push_back(x);
            for (std::size_t m = 0; m < order; ++m) bases[m].push_back(nonzeros.indices[m][positions[x]] >> block_bits << block_bits);
        }
        starts.push_back(std::ssize(positions));
        this->values = reordered(nonzeros.values, positions);
    }

    Format format() const override { return Format::hicoo; }
    std::int64_t bytes() const override {
        return this->values.size() * (sizeof(T) + offsets.size()) + starts.size() * sizeof(std::int64_t) +
               bases.size() * (starts.size() - 1) * sizeof(std::uint32_t);
    }

    struct Reader final : BatchReader {
        Reader(const BlockedNonzeros& all, std::size_t first_block) : nonzeros(all), block(first_block) {}
        const BlockedNonzeros& nonzeros;
        std::size_t block;
        void read(std::int64_t x, int count, Batch& batch) override {
            for (int i = 0; i < count;) {
                while (nonzeros.starts[block + 1] <= x + i) ++block;
                const int end = std::min<std::int64_t>(count, nonzeros.starts[block + 1] - x);
                for (std::size_t m = 0; m < nonzeros.bases.size(); ++m) {
                    const auto base = nonzeros.bases[m][block];
                    const auto* offset = nonzeros.offsets[m].data() + x;
                    auto* index = batch.index(m);
                    for (int j = i; j < end; ++j) index[j] = base + offset[j];
                }
                i = end;
            }
        }
    };
    std::unique_ptr<BatchReader> reader(std::int64_t first) const override {
        const auto next = std::upper_bound(starts.begin(), starts.end(), first) - starts.begin();
        return std::make_unique<Reader>(*this, static_cast<std::size_t>(std::max<std::int64_t>(next - 1, 0)));
    }

private:
    static std::size_t count_blocks(const LocalNonzeros<T>& nonzeros, const std::vector<std::int64_t>& positions) {
        std::size_t blocks = 0;
        for (std::size_t x = 0; x < positions.size(); ++x) {
            bool same = x > 0;
            for (const auto& index : nonzeros.indices)
                same = same && index[positions[x]] >> block_bits == index[positions[x - 1]] >> block_bits;
            blocks += same ? 0 : 1;
        }
        return blocks;
    }

    /// Sorted by the interleaved bits of all blocks' positions, then by those of the offsets.
    static std::vector<std::int64_t> by_block(const LocalNonzeros<T>& nonzeros) {
        std::vector<std::int64_t> blocks, inside(nonzeros.rows.size(), std::int64_t{1} << block_bits);
        for (auto rows : nonzeros.rows) blocks.push_back((rows >> block_bits) + 1);
        const LinearKey block_key(blocks), inside_key(inside);
        std::vector<KeyWord> words;
        std::vector<int> bits;
        const auto add_words = [&](const LinearKey& key, int shift, std::uint32_t mask) {
            for (int w = key.words(); w-- > 0;) {
                words.emplace_back(
                    [&nonzeros, &key, shift, mask, w](std::span<const std::int64_t> positions, std::span<std::uint64_t> keys) {
                        for (std::size_t i = 0; i < positions.size(); ++i) {
                            keys[i] = 0;
                            for (std::size_t m = 0; m < nonzeros.indices.size(); ++m) {
                                const auto index = nonzeros.indices[m][positions[i]];
                                keys[i] |= key.encode(m, index >> shift & mask, w);
                            }
                        }
                    });
                bits.push_back(key.bits(w));
            }
        };
        add_words(block_key, block_bits, ~0u);
        add_words(inside_key, 0, (1u << block_bits) - 1);
        return sorted_positions(nonzeros.count(), words, bits);
    }
};

}  // namespace

MemoryTally hicoo_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count) {
    const auto order = std::ssize(rows);
    double places = 1;
    for (auto n : rows) places *= static_cast<double>((n >> BlockedNonzeros<double>::block_bits) + 1);
    const auto blocks = static_cast<std::int64_t>(std::min(places, static_cast<double>(count)));
    MemoryTally tally;
    tally.add(sorting_memory(count));
    const auto positions = tally.held();
    tally.pass((order + 1) * count);  // offsets of all modes are copies of one more
    tally.hold(order * count + blocks * (order * std::int64_t{sizeof(std::uint32_t)} + 8) + 8);
    tally.hold(count * element_bytes);
    tally.hold(-positions);
    return tally;
}

template <class T>
std::unique_ptr<Mttkrp<T>> make_hicoo(const LocalNonzeros<T>& nonzeros, std::span<const int> modes) {
    return make_stream<T>(nonzeros, modes, std::make_unique<BlockedNonzeros<T>>(nonzeros));
}

template std::unique_ptr<Mttkrp<float>> make_hicoo(const LocalNonzeros<float>&, std::span<const int>);
template std::unique_ptr<Mttkrp<double>> make_hicoo(const LocalNonzeros<double>&, std::span<const int>);

}  // namespace arges::sparse

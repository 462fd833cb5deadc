// MTTKRP on nonzeros sorted by keys of interleaved index bits (ALTO: Helal et al., ALTO: adaptive
// linearized storage of sparse tensors, 2021).
#include "sparse/index_sort.hpp"
#include "sparse/linear_key.hpp"
#include "sparse/stream_mttkrp.hpp"

namespace arges::sparse {

namespace {

/// Keys of one or more words and values, sorted by key.
template <class T>
struct LinearNonzeros final : StreamStorage<T> {
    LinearKey key;
    int order;
    std::vector<std::vector<std::uint64_t>> words;  ///< by word

    explicit LinearNonzeros(const LocalNonzeros<T>& nonzeros) : key(nonzeros.rows), order(nonzeros.order()) {
        std::vector<KeyWord> key_words;
        std::vector<int> bits;
        for (int w = key.words(); w-- > 0;) {
            key_words.emplace_back(
                [&, w](std::span<const std::int64_t> positions, std::span<std::uint64_t> keys) { encode(nonzeros, positions, w, keys); });
            bits.push_back(key.bits(w));
        }
        const auto positions = sorted_positions(nonzeros.count(), key_words, bits);
        words.resize(key.words(), std::vector<std::uint64_t>(positions.size()));
        for (int w = 0; w < key.words(); ++w) encode(nonzeros, positions, w, words[w]);
        this->values = reordered(nonzeros.values, positions);
    }

    Format format() const override { return Format::linear; }
    std::int64_t bytes() const override { return this->values.size() * (sizeof(T) + words.size() * sizeof(std::uint64_t)); }

    struct Reader final : BatchReader {
        explicit Reader(const LinearNonzeros& all) : nonzeros(all) {}
        const LinearNonzeros& nonzeros;
        void read(std::int64_t x, int count, Batch& batch) override {
            const int words = nonzeros.key.words();
            for (int w = 0; w < words; ++w) {
                const auto* const keys = nonzeros.words[w].data() + x;
                prefetch_ahead(keys);
                for (int m = 0; m < nonzeros.order; ++m) {
                    if (w == 0)
                        nonzeros.key.template decode<false>(m, w, keys, count, batch.index(m));
                    else
                        nonzeros.key.template decode<true>(m, w, keys, count, batch.index(m));
                }
            }
        }
    };
    std::unique_ptr<BatchReader> reader(std::int64_t) const override { return std::make_unique<Reader>(*this); }

private:
    void encode(const LocalNonzeros<T>& nonzeros, std::span<const std::int64_t> positions, int word, std::span<std::uint64_t> keys) const {
        const auto n = std::ssize(positions);
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < n; ++i) {
            const std::size_t x = i;
            std::uint64_t bits = 0;
            for (int m = 0; m < order; ++m) bits |= key.encode(m, nonzeros.indices[m][positions[x]], word);
            keys[x] = bits;
        }
    }
};

}  // namespace

MemoryTally linear_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count) {
    MemoryTally tally;
    tally.add(sorting_memory(count));
    const auto positions = tally.held();
    tally.hold(count * (element_bytes + LinearKey(rows).words() * std::int64_t{sizeof(std::uint64_t)}));
    tally.hold(-positions);
    return tally;
}

template <class T>
std::unique_ptr<Mttkrp<T>> make_linear(const LocalNonzeros<T>& nonzeros, std::span<const int> modes) {
    return make_stream<T>(nonzeros, modes, std::make_unique<LinearNonzeros<T>>(nonzeros));
}

template std::unique_ptr<Mttkrp<float>> make_linear(const LocalNonzeros<float>&, std::span<const int>);
template std::unique_ptr<Mttkrp<double>> make_linear(const LocalNonzeros<double>&, std::span<const int>);

}  // namespace arges::sparse

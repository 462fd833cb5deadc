// MTTKRP on sorted coordinates; the shortest modes come first, so that consecutive nonzeros share rows.
#include "sparse/fiber_tree.hpp"
#include "sparse/index_sort.hpp"
#include "sparse/stream_mttkrp.hpp"

#include <cstring>

namespace arges::sparse {

namespace {

/// Sorted by the shortest mode, then the next longer one, and so on: many nonzeros in a row share the rows of the short modes.
template <class T>
struct Coordinates final : StreamStorage<T> {
    std::vector<std::vector<std::uint32_t>> indices;

    explicit Coordinates(const LocalNonzeros<T>& nonzeros) {
        const auto order = lexicographic_positions(nonzeros.indices, nonzeros.rows, modes_from(-1, nonzeros.rows));
        for (const auto& index : nonzeros.indices) indices.push_back(reordered(index, order));
        this->values = reordered(nonzeros.values, order);
    }

    Format format() const override { return Format::coordinates; }
    std::int64_t bytes() const override { return this->values.size() * (sizeof(T) + indices.size() * sizeof(std::uint32_t)); }

    struct Reader final : BatchReader {
        explicit Reader(const std::vector<std::vector<std::uint32_t>>& all) : indices(all) {}
        const std::vector<std::vector<std::uint32_t>>& indices;
        void read(std::int64_t x, int count, Batch& batch) override {
            for (std::size_t m = 0; m < indices.size(); ++m) {
                prefetch_ahead(indices[m].data() + x);
                std::memcpy(batch.index(m), indices[m].data() + x, static_cast<std::size_t>(count) * sizeof(std::uint32_t));
            }
        }
    };
    std::unique_ptr<BatchReader> reader(std::int64_t) const override { return std::make_unique<Reader>(indices); }
};

}  // namespace

MemoryTally coordinates_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count) {
    MemoryTally tally;
    tally.add(sorting_memory(count));
    const auto positions = tally.held();
    tally.hold(count * (element_bytes + std::ssize(rows) * std::int64_t{sizeof(std::uint32_t)}));
    tally.hold(-positions);
    return tally;
}

template <class T>
std::unique_ptr<Mttkrp<T>> make_coordinates(const LocalNonzeros<T>& nonzeros, std::span<const int> modes) {
    return make_stream<T>(nonzeros, modes, std::make_unique<Coordinates<T>>(nonzeros));
}

template std::unique_ptr<Mttkrp<float>> make_coordinates(const LocalNonzeros<float>&, std::span<const int>);
template std::unique_ptr<Mttkrp<double>> make_coordinates(const LocalNonzeros<double>&, std::span<const int>);

}  // namespace arges::sparse

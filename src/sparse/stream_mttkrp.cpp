// The MTTKRP of nonzeros that are read in batches.
#include "sparse/stream_mttkrp.hpp"

#include <utility>

namespace arges::sparse {

namespace {

/// One thread's part of the nonzeros and one mode. Others: number of other modes if it is 1, 2 or 3, else 0. With Runs, nonzeros
/// in a row that have the same index are added up in registers first.
template <class T, int R, int Others, bool Runs>
class StreamWalk {
    using L = Lanes<T, R>;

public:
    StreamWalk(std::span<const T> values, std::span<const RowMatrix<const T>> factors, int mode, int columns)
        : values_(values), factors_(factors), mode_(mode), columns_(R ? R : columns), order_(factors.size()) {
        for (int m = 0, i = 0; m < order_; ++m)
            if (m != mode && i < 3) others_[i++] = m;
    }

    void add(BatchReader& reader, std::int64_t begin, std::int64_t end, const RowTarget<T>& target) const {
        if (begin >= end) return;
        if (target.touched)
            add_to<true>(reader, begin, end, target);
        else
            add_to<false>(reader, begin, end, target);
    }

private:
    /// Compact: the target has places only for the rows that the part touches.
    template <bool Compact>
    void add_to(BatchReader& reader, std::int64_t begin, std::int64_t end, RowTarget<T> target) const {
        if constexpr (!Compact) target.touched = nullptr;
        Batch now(order_), next(order_);
        const auto size = [&](std::int64_t x) { return static_cast<int>(std::clamp<std::int64_t>(end - x, 0, batch_size)); };
        L sum(columns_);
        sum.clear();
        reader.read(begin, size(begin), now);
        std::uint32_t row = now.index(mode_)[0];
        for (auto x = begin; x < end; x += batch_size) {
            const int next_size = size(x + batch_size);
            if (next_size > 0) reader.read(x + batch_size, next_size, next);
            add_batch<Compact>(now, next, size(x), next_size, values_.data() + x, target, sum, row);
            std::swap(now.data, next.data);
        }
        if (Runs) sum.add_to(target.row(row));
    }

    /// Adds a batch while the rows of the next one are fetched. Stores to rows may alias anything, so whatever the loop needs is
    /// copied to local variables: fewer instructions for a nonzero let the processor work on more of them at a time.
    template <bool Compact>
    void add_batch(const Batch& now, const Batch& next, int size, int next_size, const T* values, const RowTarget<T>& to, L& sum,
                   std::uint32_t& row) const {
        const RowTarget<T> target{to.data, to.stride, Compact ? to.touched : nullptr, to.ranks};
        const std::uint32_t *own = now.index(mode_), *next_own = next.index(mode_);
        const std::uint32_t *index[3] = {}, *next_index[3] = {};
        const T* data[3] = {};
        std::int64_t stride[3] = {};
        for (int k = 0; k < Others; ++k) {
            const auto& factor = factors_[others_[k]];
            index[k] = now.index(others_[k]);
            next_index[k] = next.index(others_[k]);
            data[k] = factor.data;
            stride[k] = factor.stride;
        }
        const auto other = [&](int k, int i) { return data[k] + index[k][i] * stride[k]; };
        for (int i = 0; i < size; ++i) {
            if (i < next_size) {
                for (int k = 0; k < Others; ++k) prefetch_row<R>(data[k] + next_index[k][i] * stride[k], columns_);
                if (!Runs) prefetch_row<R>(target.row(next_own[i]), columns_);
            }
            const T value = values[i];
            T* const out = target.row(own[i]);
            if constexpr (Runs) {
                if (own[i] != row) {
                    sum.add_to(target.row(row));
                    sum.clear();
                    row = own[i];
                }
            } else {
                sum.load(out);
            }
            if constexpr (Others == 1) sum.add_scaled(value, other(0, i));
            if constexpr (Others == 2) sum.add_scaled(value, other(0, i), other(1, i));
            if constexpr (Others == 3) sum.add_scaled(value, other(0, i), other(1, i), other(2, i));
            if constexpr (Others == 0) add_any_order(now, i, value, sum);
            if constexpr (!Runs) sum.store(out);
        }
    }

    void add_any_order(const Batch& batch, int i, T value, L& sum) const {
        L product(columns_);
        bool first = true;
        for (int m = 0; m < order_; ++m) {
            if (m == mode_) continue;
            const T* factor = factors_[m].row(batch.index(m)[i]);
            if (first)
                product.load_scaled(value, factor);
            else
                product.multiply(factor);
            first = false;
        }
        if (first)
            sum.add(value);
        else
            sum.add(product);
    }

    std::span<const T> values_;
    std::span<const RowMatrix<const T>> factors_;
    const int mode_, columns_, order_;
    int others_[3] = {};
};

template <class T>
class StreamMttkrp final : public FormatBase<T> {
public:
    StreamMttkrp(const LocalNonzeros<T>& nonzeros, std::span<const int> modes, std::unique_ptr<const StreamStorage<T>> storage)
        : FormatBase<T>(nonzeros, modes), storage_(std::move(storage)), runs_(nonzeros.rows.size()) {
        for (int mode : modes) runs_[mode] = run_length(mode) >= worthwhile_run;
    }
    Format format() const override { return storage_->format(); }
    std::int64_t bytes() const override { return storage_->bytes(); }

private:
    /// Average run of equal indices from which adding up in registers beats the mispredicted branch at its end.
    static constexpr double worthwhile_run = 4;

    double run_length(int mode) const {
        std::int64_t runs = 1;
        std::uint32_t last = 0;
        each_batch(mode, 0, this->count_, [&](const std::uint32_t* rows, std::int64_t n) {
            for (std::int64_t i = 0; i < n; ++i) runs += std::exchange(last, rows[i]) != rows[i];
        });
        return static_cast<double>(this->count_) / runs;
    }

    template <class F>
    void each_batch(int mode, std::int64_t begin, std::int64_t end, F&& f) const {
        Batch batch(this->rows_.size());
        const auto reader = storage_->reader(begin);
        for (auto x = begin; x < end; x += batch_size) {
            const auto n = std::min<std::int64_t>(batch_size, end - x);
            reader->read(x, n, batch);
            f(batch.index(mode), n);
        }
    }

    void multiply_checked(int mode, std::span<const RowMatrix<const T>> factors, RowMatrix<T> out) override {
        auto& rows = this->thread_rows(mode, [&, parts = this->parts()](int part, const auto& add) {
            each_batch(mode, this->first_nonzero(part, parts), this->first_nonzero(part + 1, parts), add);
        });
        for_column_chunks(out.columns, [&](auto r, int first, int columns) {
            std::vector<RowMatrix<const T>> chunk;
            for (const auto& factor : factors) chunk.push_back(columns_of(factor, first, columns));
            with_number(static_cast<int>(factors.size()) - 1, [&](auto n) {
                const auto with_runs = [&](auto runs) {
                    using Walk = StreamWalk<T, decltype(r)::value, decltype(n)::value, decltype(runs)::value>;
                    const Walk walk(storage_->values, chunk, mode, columns);
                    rows.run(columns_of(out, first, columns), [&](int part, const RowTarget<T>& target) {
                        const auto begin = this->first_nonzero(part, rows.parts()), end = this->first_nonzero(part + 1, rows.parts());
                        walk.add(*storage_->reader(begin), begin, end, target);
                    });
                };
                if (runs_[mode])
                    with_runs(std::true_type());
                else
                    with_runs(std::false_type());
            });
        });
    }

    const std::unique_ptr<const StreamStorage<T>> storage_;
    std::vector<bool> runs_;  // by mode
};

}  // namespace

template <class T>
std::unique_ptr<Mttkrp<T>> make_stream(const LocalNonzeros<T>& nonzeros, std::span<const int> modes,
                                       std::unique_ptr<const StreamStorage<T>> storage) {
    return std::make_unique<StreamMttkrp<T>>(nonzeros, modes, std::move(storage));
}

template std::unique_ptr<Mttkrp<float>> make_stream(const LocalNonzeros<float>&, std::span<const int>,
                                                    std::unique_ptr<const StreamStorage<float>>);
template std::unique_ptr<Mttkrp<double>> make_stream(const LocalNonzeros<double>&, std::span<const int>,
                                                     std::unique_ptr<const StreamStorage<double>>);

}  // namespace arges::sparse

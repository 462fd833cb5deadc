// Non-negative Tucker decompositions of dense tensors: products with factors as statements, whose results lie by rows.
#include "comm/values.hpp"
#include "decompose/cp/factors.hpp"
#include "decompose/distribution/dense_block.hpp"
#include "decompose/factor_tensor.hpp"
#include "decompose/tucker/dense_unfolding.hpp"
#include "decompose/tucker/nonnegative_tucker.hpp"

#include <string>
#include <utility>

namespace arges::decompose {

namespace {

using sparse::RowMatrix;

template <class T>
class DenseData : public TuckerData<T> {
public:
    DenseData(const Tensor<T>& tensor, double norm_squared, const std::vector<int>& ranks, std::uint64_t seed)
        : tensor_(tensor.state()), comm_(tensor.state()->world->communicator()), norm_squared_(norm_squared), ranks_(ranks),
          whole_(ranks.size()), own_(ranks.size()) {
        for (int m = 0; m < tensor_.order(); ++m) {
            const auto layout = layout_with_spread_mode(tensor_.state()->shape(), m);
            comm_.agree([&] {
                for (std::int64_t r = 0; r < comm_.size(); ++r) {
                    const auto rows = rows_of(layout, r, m);
                    if (r == comm_.rank()) rows_.push_back(rows);
                    if (r == 0) all_rows_.emplace_back();
                    all_rows_.back().insert(all_rows_.back().end(), rows.begin(), rows.end());
                }
                for (auto i : rows_.back())
                    for (int c = 0; c < ranks_[m]; ++c) own_[m].push_back(static_cast<T>(start_value(seed, m, i, c)));
            });
            changed(m);
        }
    }

    double norm_squared() const override { return norm_squared_; }
    RowMatrix<T> owned(int mode) override { return {own_[mode].data(), std::ssize(rows_[mode]), ranks_[mode], ranks_[mode]}; }
    std::vector<std::int64_t> owned_rows(int mode) const override { return rows_[mode]; }

    void changed(int mode) override {
        const auto all = gathered(comm_, own_[mode]);
        const std::size_t columns = ranks_[mode];
        whole_[mode].resize(all.size());
        for (std::size_t i = 0; i < all_rows_[mode].size(); ++i)
            std::copy_n(all.begin() + i * columns, columns, whole_[mode].begin() + all_rows_[mode][i] * columns);
    }

    RowMatrix<T> product(int mode) override {
        auto labels = numbered_labels('x', tensor_.order());
        auto extents = tensor_.extents();
        Expression<T> all = tensor_[Labels(labels)];
        for (int m = 0; m < tensor_.order(); ++m) {
            if (m == mode) continue;
            const std::size_t place = m;
            Tensor<T> factor(tensor_.world(), {extents[place], ranks_[place]}, "factor");
            factor.for_each_local([&](Index i, T& value) { value = whole_[place][i[0] * ranks_[place] + i[1]]; });
            const auto column = "y" + std::to_string(m + 1);
            all = all * factor[Labels(std::vector<std::string>{labels[place], column})];
            labels[place] = column;
            extents[place] = ranks_[place];
        }
        Tensor<T> result(tensor_.world(), extents, tensor_.name());
        result[Labels(labels)] = all;
        const auto plain = with_plain_blocks(result);
        auto layout = layout_with_spread_mode(tensor_.state()->shape(), mode);  // on the grid of the tensor, as the rows of factors
        for (int m = 0; m < tensor_.order(); ++m)
            if (m != mode) layout = layout_with_length(layout, m, ranks_[m]);
        return by_rows(moved_to(plain, std::move(layout)).tensor, mode);
    }

private:
    /// The indices of a mode that a rank has.
    static std::vector<std::int64_t> rows_of(const Layout& layout, std::int64_t rank, int mode) {
        const auto place = block_position(layout, rank);
        std::vector<std::int64_t> rows;
        for (std::int64_t x = 0; x < (place.count() > 0 ? place.sizes[mode] : 0); ++x)
            rows.push_back(place.coordinate[mode] + x * place.grid_length[mode]);
        return rows;
    }

    RowMatrix<T> by_rows(const Tensor<T>& spread, int mode) {
        std::int64_t width = 1;
        for (int m = 0; m < tensor_.order(); ++m) width *= m == mode ? 1 : ranks_[m];
        comm_.agree([&] {
            product_.assign(rows_[mode].size() * static_cast<std::size_t>(width), 0);
            if (rows_[mode].empty()) return;
            std::int64_t next = 0;
            std::vector<std::int64_t> row(spread.size() / width, -1);
            for (auto i : rows_[mode]) row[i] = next++;
            spread.for_each_local([&](Index i, const T& value) {
                std::int64_t column = 0;
                for (int m = 0; m < tensor_.order(); ++m)
                    if (m != mode) column = column * ranks_[m] + i[m];
                product_[row[i[mode]] * width + column] = value;
            });
        });
        return {product_.data(), std::ssize(rows_[mode]), static_cast<int>(width), width};
    }

    Tensor<T> tensor_;
    const Communicator& comm_;
    double norm_squared_;
    std::vector<int> ranks_;
    std::vector<std::vector<std::int64_t>> rows_, all_rows_;  // by mode: of this rank, and of all ranks in their order
    std::vector<std::vector<T>> whole_, own_;                 // by mode, row by row
    std::vector<T> product_;
};

}  // namespace

template <class T>
void run_nonnegative(const Tensor<T>& tensor, double norm_squared, const TuckerOptions& options, const TuckerProgress& progress,
                     TuckerResult<T>& result) {
    DenseData<T> data(tensor, norm_squared, options.ranks, options.seed);
    run_nonnegative<T>(tensor.state()->world->communicator(), data, options, progress, tensor.world(), tensor.extents(), result);
}

template void run_nonnegative(const Tensor<float>&, double, const TuckerOptions&, const TuckerProgress&, TuckerResult<float>&);
template void run_nonnegative(const Tensor<double>&, double, const TuckerOptions&, const TuckerProgress&, TuckerResult<double>&);

}  // namespace arges::decompose

// Non-negative Tucker decompositions of dense tensors: products with factors as statements, whose results lie by rows.
#include "comm/values.hpp"
#include "decompose/cp/factors.hpp"
#include "decompose/factor_tensor.hpp"
#include "decompose/tucker/nonnegative_tucker.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/world/world_state.hpp"

#include <string>

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
            comm_.agree([&] {
                rows_.push_back(rows_of(comm_.rank(), m));
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
        auto next = all.begin();
        for (int rank = 0; rank < comm_.size(); ++rank)
            for (auto i : rows_of(rank, mode)) {
                std::copy_n(next, columns, whole_[mode].begin() + i * static_cast<std::int64_t>(columns));
                next += static_cast<std::ptrdiff_t>(columns);
            }
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
        return by_rows(result, mode);
    }

private:
    /// The indices of a mode that a rank has: they are dealt out in turn.
    std::vector<std::int64_t> rows_of(int rank, int mode) const {
        std::vector<std::int64_t> rows;
        for (std::int64_t i = rank; i < tensor_.extents()[mode]; i += comm_.size()) rows.push_back(i);
        return rows;
    }

    RowMatrix<T> by_rows(const Tensor<T>& product, int mode) {
        std::int64_t width = 1;
        for (int m = 0; m < tensor_.order(); ++m) width *= m == mode ? 1 : ranks_[m];
        std::vector<std::int64_t> keys, index(ranks_.size(), 0);
        comm_.agree([&] {
            for (auto i : rows_[mode])
                for (std::int64_t column = 0; column < width; ++column) {
                    auto rest = column;
                    for (int m = tensor_.order(); m-- > 0;) {
                        index[m] = m == mode ? i : rest % ranks_[m];
                        if (m != mode) rest /= ranks_[m];
                    }
                    keys.push_back(product.key(index));
                }
        });
        product_ = product.read(keys);
        return {product_.data(), std::ssize(rows_[mode]), static_cast<int>(width), width};
    }

    Tensor<T> tensor_;
    const Communicator& comm_;
    double norm_squared_;
    std::vector<int> ranks_;
    std::vector<std::vector<std::int64_t>> rows_;  // by mode, of this rank
    std::vector<std::vector<T>> whole_, own_;      // by mode, row by row
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

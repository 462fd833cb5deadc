// Sparse tensors and their files: each large allocation fails on the last rank.
#include "allocation/failing_allocations.hpp"

#include "arges/arges.hpp"
#include "io/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

class SparseAllocations : public testing::Test {
protected:
    World world{};
    Tensor<double> dense{world, {30, 40, 50}, "dense"};
    SparseTensor<double> X;
    std::vector<std::int64_t> keys;
    std::vector<double> values;
    TemporaryFolder folder{world};

    void SetUp() override {
        dense.fill_random(1, 0, 1);
        X = SparseTensor<double>::from_dense(dense, 0.8);
        for (std::int64_t k = world.rank(); k < 60000; k += 7 * world.size()) {
            keys.push_back(k);
            values.push_back(static_cast<double>(k + 1));
        }
    }
    void expect(const std::string& name, const std::function<void()>& run, std::size_t least = 4096) {
        expect_agreement({name, [] {}, run, least});
    }
};

TEST_F(SparseAllocations, Elements) {
    expect("write", [&] {
        SparseTensor<double> Y(world, {30, 40, 50}, "Y");
        Y.write(keys, values, Duplicates::refuse);
        Y.write(keys, values, Duplicates::sum);
    });
    expect("from_dense", [&] { (void)SparseTensor<double>::from_dense(dense, 0.8); });
    expect("to_dense", [&] { (void)X.to_dense(); });
    expect("gather", [&] { (void)X.gather(); });
    expect("compacted", [&] { (void)compacted(X); });
    expect("copy", [&] { const SparseTensor<double> copy(X); });
    expect("read", [&] { (void)X.read(keys); });
    expect("accumulate", [&] {
        SparseTensor<double> Y(world, {30, 40, 50}, "Y");
        Y.accumulate(keys, values);
        Y.accumulate(keys, values, 2, 3);
        (void)Y.read(keys);
    });
    const std::vector<std::complex<double>> numbers(values.begin(), values.end());
    expect("elements of another type", [&] {
        SparseTensor<std::complex<double>> Y(world, {30, 40, 50}, "Y");
        Y.write(keys, numbers, Duplicates::sum);
        Y.drop(500);
        (void)Y.gather();
    });
    expect("drop", [&] { X.drop(0.9); });
}

TEST_F(SparseAllocations, Files) {
    for (const char* name : {"x.tns", "x.tns.gz", "x.atns"}) {
        const auto path = folder / name;
        expect(std::string("write_sparse ") + name, [&] { write_sparse(X, path); });
        expect(std::string("read_sparse ") + name, [&] { (void)read_sparse<double>(world, path); });
    }
    SparseReadOptions options;
    options.duplicates = Duplicates::refuse;
    expect("read_sparse, duplicates refused", [&] { (void)read_sparse<double>(world, folder / "x.tns", options); });
}

TEST_F(SparseAllocations, Decompositions) {
    CpOptions options;
    options.rank = 8;
    options.max_iterations = 2;
    for (const char* distribution : {"medium", "coarse", "fine"}) {
        options.distribution = distribution;
        expect(
            std::string("cp_decompose ") + distribution, [&] { (void)cp_decompose(X, options); }, 16384);
    }
    const auto model = cp_decompose(X, options).model;
    expect("gather", [&] { (void)model.gather(0); });
    expect("reconstruct", [&] { (void)reconstruct(model); });
    for (auto form : {ModelForm::npy, ModelForm::text}) {
        expect("save_model", [&] { save_model(model, folder / "model", form); });
        expect("load_model", [&] { (void)load_model<double>(world, folder / "model"); });
    }
}

}  // namespace
}  // namespace arges::test

// Tensors, their elements, linear algebra and files by the functions of arges.h, beside those of C++.
#include "arges/linalg.hpp"
#include "arges/tensor_io.hpp"
#include "c/c_support.hpp"

#include <complex>
#include <numeric>

namespace arges::test {
namespace {

using Complex = std::complex<double>;

TEST(CWorlds, TellSizeAndMemory) {
    const auto world = c_world();
    std::int64_t size = 0, rank = -1, limit = 0, in_use = -1, peak = -1;
    ASSERT_OK(arges_world_size(world.get(), &size));
    ASSERT_OK(arges_world_rank(world.get(), &rank));
    const World own;
    EXPECT_EQ(own.size(), size);
    EXPECT_EQ(own.rank(), rank);
    ASSERT_OK(arges_world_set_memory_limit(world.get(), 10'000'000 + rank));
    ASSERT_OK(arges_world_memory_limit(world.get(), &limit));
    EXPECT_EQ(10'000'000, limit);
    const auto A = c_tensor(world, ARGES_FLOAT64, {100, 100});
    ASSERT_OK(arges_world_memory(world.get(), &in_use, &peak));
    EXPECT_GE(in_use, 80'000 / size);
    EXPECT_GE(peak, in_use);
    CTensor too_large;
    const std::int64_t extents[] = {10'000, 10'000};
    EXPECT_EQ(ARGES_OUT_OF_MEMORY, arges_tensor_create(world.get(), ARGES_FLOAT64, 2, extents, nullptr, nullptr, "large", Made(too_large)));
    EXPECT_EQ(nullptr, too_large);
    EXPECT_EQ(0U, std::string(arges_message()).find("large:")) << arges_message();
    ASSERT_OK(arges_world_reset_peak(world.get()));
    EXPECT_STREQ("", arges_message());
    std::int64_t bytes = -1, messages = -1;
    double seconds = -1;
    ASSERT_OK(arges_contract(nullptr, A.get(), "ij", nullptr, nullptr, nullptr, A.get(), "ij"));
    ASSERT_OK(arges_world_report(world.get(), &bytes, &messages, &seconds));
    EXPECT_GE(bytes, 0);
    EXPECT_GE(messages, 0);
    EXPECT_GE(seconds, 0);
}

TEST(CWorlds, OfTorusFortranAndDryRuns) {
    CWorld world;
    const auto text = std::to_string(World().size()) + "x1";
    ASSERT_OK(arges_world_create(MPI_COMM_WORLD, text.c_str(), Made(world)));
    ASSERT_OK(arges_world_create_f(MPI_Comm_c2f(MPI_COMM_SELF), nullptr, Made(world)));
    std::int64_t size = 0;
    ASSERT_OK(arges_world_size(world.get(), &size));
    EXPECT_EQ(1, size);
    ASSERT_OK(arges_world_create_on_device(MPI_COMM_WORLD, "none", 0, text.c_str(), Made(world)));
    ASSERT_OK(arges_world_create_on_device_f(MPI_Comm_c2f(MPI_COMM_SELF), "none", 0, nullptr, Made(world)));
    ASSERT_OK(arges_world_size(world.get(), &size));
    EXPECT_EQ(1, size);
    ASSERT_OK(arges_world_create_dry_run(64, "4x4x4", 4, nullptr, nullptr, Made(world)));
    const auto A = c_tensor(world, ARGES_FLOAT64, {4000, 4000});
    CStatement statement;
    ASSERT_OK(arges_statement_create(A.get(), "ij", Made(statement)));
    const arges_tensor* factors[] = {A.get(), A.get()};
    const char* labels[] = {"ik", "kj"};
    ASSERT_OK(arges_statement_add(statement.get(), nullptr, 2, factors, labels, nullptr, ARGES_AS_IT_IS));
    char* plan = nullptr;
    ASSERT_OK(arges_statement_explain(statement.get(), nullptr, &plan));
    EXPECT_NE(std::string::npos, std::string(plan).find("grid")) << plan;
    arges_free(plan);
    int major = -1, minor = -1;
    arges_version(&major, &minor);
    EXPECT_EQ(ARGES_VERSION_MAJOR, major);
    EXPECT_EQ(ARGES_VERSION_MINOR, minor);
}

TEST(CTensors, AreAsTheyWereMade) {
    const auto world = c_world();
    const auto A = c_tensor(world, ARGES_COMPLEX64, {4, 4, 3}, "abi", "antisym(a,b)");
    EXPECT_EQ(3, arges_tensor_order(A.get()));
    EXPECT_EQ(-1, arges_tensor_order(nullptr));
    std::int64_t extents[3], full = 0, stored = 0;
    ASSERT_OK(arges_tensor_extents(A.get(), extents));
    EXPECT_EQ((std::vector<std::int64_t>{4, 4, 3}), std::vector<std::int64_t>(extents, extents + 3));
    arges_type type;
    int is_sparse = -1;
    ASSERT_OK(arges_tensor_form(A.get(), &type, &is_sparse));
    EXPECT_EQ(ARGES_COMPLEX64, type);
    EXPECT_EQ(0, is_sparse);
    ASSERT_OK(arges_tensor_size(A.get(), &full, &stored));
    EXPECT_EQ(48, full);
    EXPECT_EQ(18, stored);
    CWorld again;
    ASSERT_OK(arges_tensor_world(A.get(), Made(again)));
    EXPECT_TRUE(c_tensor(again, ARGES_BOOL, {2}));
    const auto scalar = c_tensor(world, ARGES_INT64, {});
    EXPECT_EQ(0, arges_tensor_order(scalar.get()));
    const auto long_modes = c_tensor(world, ARGES_FLOAT32, {std::int64_t{1} << 40, std::int64_t{1} << 40}, nullptr, nullptr, true);
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_tensor_size(long_modes.get(), &full, &stored));
    ASSERT_OK(arges_tensor_size(long_modes.get(), nullptr, &stored));
    EXPECT_EQ(0, stored);
}

TEST(CTensors, ElementsGoInAndOut) {
    const auto world = c_world();
    std::int64_t rank = 0, size = 0;
    ASSERT_OK(arges_world_rank(world.get(), &rank));
    ASSERT_OK(arges_world_size(world.get(), &size));
    const auto A = c_tensor(world, ARGES_INT32, {3, 4});
    std::vector<std::int32_t> own(12), turned(12);
    std::iota(own.begin(), own.end(), 5);
    for (std::size_t i = 0; i < 12; ++i) turned[i % 3 * 4 + i / 3] = own[i];
    ASSERT_OK(arges_tensor_set_array(A.get(), own.data(), nullptr));
    EXPECT_EQ(own, gathered<std::int32_t>(A));
    const std::int64_t strides[] = {4, 1};
    ASSERT_OK(arges_tensor_set_array(A.get(), turned.data(), strides));
    EXPECT_EQ(own, gathered<std::int32_t>(A));
    // Each rank adds 1 to element 7: (5 + 7) * 2 + 3 * size.
    const std::int64_t key = 7;
    const std::int32_t one = 1, two = 2, three = 3;
    ASSERT_OK(arges_tensor_accumulate(A.get(), 1, &key, &one, &three, &two));
    std::int32_t found = 0, sum = 0;
    ASSERT_OK(arges_tensor_read(A.get(), 1, &key, &found));
    EXPECT_EQ(24 + 3 * size, found);
    ASSERT_OK(arges_tensor_accumulate(A.get(), rank == 0 ? 1 : 0, &key, &one, nullptr, nullptr));
    ASSERT_OK(arges_tensor_sum(A.get(), &sum));
    EXPECT_EQ(126 + 13 + 3 * size, sum);
    double norm = 0;
    ASSERT_OK(arges_tensor_fill(A.get(), &two));
    ASSERT_OK(arges_tensor_norm(A.get(), &norm));
    EXPECT_DOUBLE_EQ(std::sqrt(48.0), norm);
    ASSERT_OK(arges_tensor_norm_max(A.get(), &norm));
    EXPECT_EQ(2, norm);
    std::int32_t dot = 0;
    ASSERT_OK(arges_tensor_dot(A.get(), A.get(), &dot));
    EXPECT_EQ(48, dot);
    CTensor copy, wide, part;
    ASSERT_OK(arges_tensor_copy(A.get(), Made(copy)));
    ASSERT_OK(arges_tensor_fill(copy.get(), &three));
    EXPECT_EQ(std::vector<std::int32_t>(12, 2), gathered<std::int32_t>(A));
    ASSERT_OK(arges_tensor_convert(A.get(), ARGES_COMPLEX128, Made(wide)));
    EXPECT_EQ(std::vector<Complex>(12, 2), gathered<Complex>(wide));
    const std::int64_t begin[] = {1, 0}, end[] = {3, 2};
    ASSERT_OK(arges_tensor_slice(copy.get(), begin, end, Made(part)));
    ASSERT_OK(arges_tensor_set_slice(A.get(), begin, part.get()));
    EXPECT_EQ((std::vector<std::int32_t>{2, 3, 3, 2, 3, 3, 2, 2, 2, 2, 2, 2}), gathered<std::int32_t>(A));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_tensor_set_slice(A.get(), begin, wide.get()));
}

TEST(CTensors, SparseAndSymmetricForms) {
    const auto world = c_world();
    std::int64_t rank = 0;
    ASSERT_OK(arges_world_rank(world.get(), &rank));
    const auto A = c_tensor(world, ARGES_FLOAT32, {3, 3}, "ij", "sym(i,j)");
    const std::vector<std::int64_t> keys{1, 4};
    const std::vector<float> values{0.5F, -2};
    ASSERT_OK(arges_tensor_write(A.get(), rank == 0 ? 2 : 0, keys.data(), values.data(), ARGES_REFUSE));
    CTensor sparse, plain, back;
    ASSERT_OK(arges_tensor_to_sparse(A.get(), -1, Made(sparse)));
    float sum = 0;
    double norm = 0;
    ASSERT_OK(arges_tensor_sum(sparse.get(), &sum));
    EXPECT_EQ(-1, sum);
    ASSERT_OK(arges_tensor_norm(sparse.get(), &norm));
    EXPECT_DOUBLE_EQ(std::sqrt(4.5), norm);
    std::int64_t stored = 0;
    ASSERT_OK(arges_tensor_to_sparse(A.get(), 1, Made(back)));
    ASSERT_OK(arges_tensor_size(back.get(), nullptr, &stored));
    EXPECT_EQ(1, stored);
    ASSERT_OK(arges_tensor_with_symmetry(sparse.get(), nullptr, nullptr, Made(plain)));
    ASSERT_OK(arges_tensor_size(plain.get(), nullptr, &stored));
    EXPECT_EQ(3, stored);
    ASSERT_OK(arges_tensor_with_symmetry(plain.get(), "ij", "sym(i,j)", Made(back)));
    ASSERT_OK(arges_tensor_to_dense(back.get(), Made(plain)));
    EXPECT_EQ(gathered<float>(A), gathered<float>(plain));
    // Several values for an element.
    const auto B = c_tensor(world, ARGES_INT64, {4}, nullptr, nullptr, true);
    const std::int64_t key = 2, five = 5;
    const std::int64_t size = World().size();
    ASSERT_OK(arges_tensor_write(B.get(), 1, &key, &five, ARGES_SUM));
    std::int64_t found = 0, total = 0;
    ASSERT_OK(arges_tensor_read(B.get(), 1, &key, &found));
    EXPECT_EQ(5 * size, found);
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_tensor_write(B.get(), 1, &key, &five, ARGES_REFUSE));
    ASSERT_OK(arges_tensor_write(B.get(), 1, &key, &five, ARGES_KEEP_FIRST));
    ASSERT_OK(arges_tensor_sum(B.get(), &total));
    EXPECT_EQ(5 * size, total);
}

TEST(CLinearAlgebra, IsThatOfCpp) {
    const auto world = c_world();
    const World own;
    const auto a = c_tensor(world, ARGES_FLOAT64, {4, 3, 5}), b = c_tensor(world, ARGES_FLOAT64, {4, 3, 2});
    Tensor<double> A(own, {4, 3, 5}), B(own, {4, 3, 2});
    A.fill_random(1, -1, 1), B.fill_random(2, -1, 1);
    ASSERT_OK(arges_tensor_fill_random(a.get(), 1, -1, 1));
    ASSERT_OK(arges_tensor_fill_random(b.get(), 2, -1, 1));
    CTensor q, r, u, vh, x, m, l, v;
    ASSERT_OK(arges_qr(a.get(), "abi->ab|i", Made(q), Made(r)));
    const auto expected = qr(A["ab|i"]);
    EXPECT_EQ(gathered<double>(expected.Q), gathered<double>(q));
    EXPECT_EQ(gathered<double>(expected.R), gathered<double>(r));
    std::int64_t count = 0;
    double* s = nullptr;
    ASSERT_OK(arges_svd(a.get(), "a1,a2|i1", 3, 0, Made(u), &count, &s, Made(vh)));
    SvdOptions options;
    options.rank = 3;
    const auto triple = svd(A["ab|i"], options);
    EXPECT_EQ(triple.s, std::vector<double>(s, s + count));
    EXPECT_EQ(gathered<double>(triple.U), gathered<double>(u));
    EXPECT_EQ(gathered<double>(triple.Vh), gathered<double>(vh));
    arges_free(s);
    ASSERT_OK(arges_svd(a.get(), "ab|i", 0, 0, nullptr, &count, nullptr, nullptr));
    EXPECT_EQ(5, count);
    ASSERT_OK(arges_least_squares(a.get(), "ab|i", b.get(), "ab|k", Made(x)));
    EXPECT_EQ(gathered<double>(least_squares(A["ab|i"], B["ab|k"]).X), gathered<double>(x));
    const arges_tensor* twice[] = {r.get(), r.get()};
    ASSERT_OK(arges_einsum("ki,kj->ij", 2, twice, Made(m)));
    Tensor<double> M(own, {5, 5});
    M["ij"] = expected.R["ki"] * expected.R["kj"];
    double* values = nullptr;
    ASSERT_OK(arges_eigh(m.get(), "i|j", &count, &values, Made(v)));
    EXPECT_EQ(eigh(M["i|j"]).values, std::vector<double>(values, values + count));
    arges_free(values);
    ASSERT_OK(arges_cholesky(m.get(), "i|j", Made(l)));
    EXPECT_EQ(gathered<double>(cholesky(M["i|j"])), gathered<double>(l));
    ASSERT_OK(arges_solve_positive(m.get(), "i|j", r.get(), "i|k", Made(x)));
    EXPECT_EQ(gathered<double>(solve_positive(M["i|j"], expected.R["i|k"])), gathered<double>(x));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_qr(a.get(), "abi", Made(q), Made(r)));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_svd(a.get(), "ab|i", -2, 0, Made(u), nullptr, nullptr, nullptr));
}

TEST(CFiles, ComeBack) {
    const auto world = c_world();
    const SharedFolder folder;
    const auto A = c_tensor(world, ARGES_COMPLEX64, {4, 4, 3}, "abi", "antisym(a,b)");
    ASSERT_OK(arges_tensor_fill_random(A.get(), 3, -1, 1));
    CTensor read, sparse, kept;
    ASSERT_OK(arges_write_npy(A.get(), folder.file("a.npy").c_str()));
    ASSERT_OK(arges_read_tensor(world.get(), folder.file("a.npy").c_str(), ARGES_COMPLEX128, Made(read)));
    ASSERT_OK(arges_tensor_convert(A.get(), ARGES_COMPLEX128, Made(kept)));
    EXPECT_EQ(gathered<Complex>(kept), gathered<Complex>(read));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_read_tensor(world.get(), folder.file("a.npy").c_str(), ARGES_INT32, Made(read)));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_read_tensor(world.get(), folder.file("b.npy").c_str(), ARGES_FLOAT32, Made(read)));

    const auto B = c_tensor(world, ARGES_INT64, {3, 3}, nullptr, nullptr, true);
    const std::int64_t keys[] = {1, 8}, values[] = {-4, 9};
    ASSERT_OK(arges_tensor_write(B.get(), World().rank() == 0 ? 2 : 0, keys, values, ARGES_REFUSE));
    ASSERT_OK(arges_write_sparse(B.get(), folder.file("b.tns").c_str()));
    ASSERT_OK(arges_read_sparse(world.get(), folder.file("b.tns").c_str(), ARGES_FLOAT64, Made(sparse)));
    ASSERT_OK(arges_tensor_to_dense(sparse.get(), Made(read)));
    EXPECT_EQ((std::vector<double>{0, -4, 0, 0, 0, 0, 0, 0, 9}), gathered<double>(read));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_write_sparse(A.get(), folder.file("a.tns").c_str()));

    const auto path = folder.file("c.h5");
    CCheckpoint checkpoint;
    ASSERT_OK(arges_checkpoint_create(world.get(), path.c_str(), Made(checkpoint)));
    ASSERT_OK(arges_checkpoint_add(checkpoint.get(), "T", A.get()));
    ASSERT_OK(arges_checkpoint_set_int64(checkpoint.get(), "iteration", 7));
    ASSERT_OK(arges_checkpoint_set_float64(checkpoint.get(), "energy", -0.25));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_checkpoint_add(checkpoint.get(), "T", A.get()));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_checkpoint_read(world.get(), path.c_str(), "T", Made(read)));
    ASSERT_OK(arges_checkpoint_commit(checkpoint.get()));
    ASSERT_OK(arges_checkpoint_read(world.get(), path.c_str(), "T", Made(read)));
    std::int64_t stored = 0, iteration = 0;
    double energy = 0;
    ASSERT_OK(arges_tensor_size(read.get(), nullptr, &stored));
    EXPECT_EQ(18, stored);
    EXPECT_EQ(gathered<std::complex<float>>(A), gathered<std::complex<float>>(read));
    ASSERT_OK(arges_checkpoint_read_int64(world.get(), path.c_str(), "iteration", &iteration));
    ASSERT_OK(arges_checkpoint_read_float64(world.get(), path.c_str(), "energy", &energy));
    EXPECT_EQ(7, iteration);
    EXPECT_EQ(-0.25, energy);
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_checkpoint_read_float64(world.get(), path.c_str(), "iteration", &energy));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_checkpoint_read(world.get(), path.c_str(), "U", Made(read)));
}

}  // namespace
}  // namespace arges::test

// What TAPP's functions refuse, the objects beside products, and threads.
#include "c/tapp_cases.hpp"
#include "c/tapp_error.hpp"

#include <thread>

namespace arges::tapp::test {
namespace {

/// D(i) = alpha A(i, k) B(k) + beta C(i).
Case small_case() {
    std::mt19937_64 engine(1);
    Random random(engine);
    Case x;
    x.extents = {3, 2};
    x.a.labels = {0, 1}, x.b.labels = {1}, x.c.labels = x.d.labels = {0};
    for (Tensor* tensor : {&x.a, &x.b, &x.c, &x.d}) lay_out(*tensor, x, {}, false, random);
    return x;
}

TEST(TappErrors, HaveTheNumbersOfTheReference) {
    const auto error_of = [](auto&& change) {
        Case x = small_case();
        change(x);
        return Plan(x).error;
    };
    EXPECT_EQ(error_of([](Case&) {}), 0);
    EXPECT_EQ(error_of([](Case& x) { x.b.extents[0] = 3; }), 1);
    EXPECT_EQ(error_of([](Case& x) { x.d.extents[0] = 4; }), 2);
    EXPECT_EQ(error_of([](Case& x) { std::swap(x.a, x.b), x.d.extents[0] = 4; }), 3);
    EXPECT_EQ(error_of([](Case& x) { x.d.labels[0] = 7; }), 4);
    EXPECT_EQ(error_of([](Case& x) { x.c.labels = x.c.extents = x.c.strides = {}; }), 5);
    EXPECT_EQ(error_of([](Case& x) { x.c.labels[0] = 1; }), 6);
    EXPECT_EQ(error_of([](Case& x) { x.c.extents[0] = 1; }), 7);
    EXPECT_EQ(error_of([](Case& x) { x.d.strides[0] = 0; }), 8);
    EXPECT_EQ(error_of([](Case& x) { x.a.labels[1] = 0; }), 9);
    EXPECT_EQ(error_of([](Case& x) { std::swap(x.a, x.b), x.b.labels[1] = 0; }), 10);
    EXPECT_EQ(error_of([](Case& x) { x.d.labels = {0, 0}, x.d.extents = {3, 4}, x.d.strides = {1, 3}; }), 2);
    EXPECT_EQ(error_of([](Case& x) { x.a.op = 2; }), wrong_operation);
    EXPECT_EQ(error_of([](Case& x) { x.precision = 7; }), wrong_precision);
    EXPECT_EQ(error_of([](Case& x) { x.a.strides[0] = INT64_MAX; }), too_large);
    EXPECT_EQ(error_of([](Case& x) { x.a.extents[1] = x.b.extents[0] = INT64_MAX; }), too_large);
    EXPECT_EQ(error_of([](Case& x) { x.d.strides[0] = INT64_MIN; }), too_large);
}

TEST(TappErrors, OfDescriptions) {
    TAPP_tensor_info info = 1;
    const std::int64_t extents[] = {2, -1}, strides[] = {1, 2};
    EXPECT_EQ(TAPP_create_tensor_info(&info, TAPP_F64, -1, extents, strides), 14);
    EXPECT_EQ(TAPP_create_tensor_info(&info, TAPP_F64, 2, extents, strides), 15);
    for (const TAPP_datatype type : {-1, 4, 5, 6}) EXPECT_EQ(TAPP_create_tensor_info(&info, type, 1, extents, strides), wrong_type);
    EXPECT_EQ(TAPP_create_tensor_info(&info, TAPP_F64, 1, nullptr, strides), null_pointer);
    EXPECT_EQ(TAPP_create_tensor_info(nullptr, TAPP_F64, 1, extents, strides), null_pointer);
    EXPECT_EQ(info, 0);
    ASSERT_EQ(TAPP_create_tensor_info(&info, TAPP_F64, 1, extents, strides), 0);
    EXPECT_EQ(TAPP_set_nmodes(info, -1), 14);
    EXPECT_EQ(TAPP_set_extents(info, extents + 1), 15);
    EXPECT_EQ(TAPP_set_strides(info, nullptr), null_pointer);
    EXPECT_EQ(TAPP_set_strides(0, strides), null_pointer);
    EXPECT_EQ(TAPP_get_nmodes(0), -1);
    EXPECT_EQ(TAPP_destroy_tensor_info(info), 0);
}

TEST(TappErrors, OfExecutions) {
    const Case x = small_case();
    const Plan plan(x);
    const Executor executor;
    Tensor d = x.d;
    const double one = 1, zero = 0;
    const auto run = [&](TAPP_executor exec, const void* alpha, const void* a, const void* b, const void* beta, const void* c, void* to) {
        return TAPP_execute_product(plan.value, exec, nullptr, alpha, a, b, beta, c, to);
    };
    const void *const a = x.a.at(0), *const b = x.b.at(0), *const c = x.c.at(0);
    EXPECT_EQ(run(0, &one, a, b, &one, c, d.at(0)), 33);
    EXPECT_EQ(run(executor.value, nullptr, a, b, &one, c, d.at(0)), null_pointer);
    EXPECT_EQ(run(executor.value, &one, nullptr, b, &one, c, d.at(0)), null_pointer);
    EXPECT_EQ(run(executor.value, &one, a, nullptr, &one, c, d.at(0)), null_pointer);
    EXPECT_EQ(run(executor.value, &one, a, b, nullptr, c, d.at(0)), null_pointer);
    EXPECT_EQ(run(executor.value, &one, a, b, &one, c, nullptr), null_pointer);
    EXPECT_EQ(run(executor.value, &zero, nullptr, nullptr, &zero, nullptr, d.at(0)), 0);
    EXPECT_EQ(TAPP_execute_product(0, executor.value, nullptr, &one, a, b, &one, c, d.at(0)), null_pointer);
    EXPECT_EQ(TAPP_execute_batched_product(plan.value, executor.value, nullptr, -1, &one, nullptr, nullptr, &one, nullptr, nullptr),
              negative_batches);
    EXPECT_EQ(TAPP_execute_batched_product(plan.value, executor.value, nullptr, 0, &one, nullptr, nullptr, &one, nullptr, nullptr), 0);
    EXPECT_EQ(TAPP_execute_batched_product(plan.value, executor.value, nullptr, 1, &one, nullptr, nullptr, &one, nullptr, nullptr),
              null_pointer);
    Case other = x;
    other.c.strides[0] = 2;
    const Plan unlike(other);
    EXPECT_EQ(TAPP_execute_product(unlike.value, executor.value, nullptr, &one, a, b, &one, TAPP_IN_PLACE, d.at(0)), 12);
    EXPECT_EQ(TAPP_create_tensor_product(nullptr, 0, 0, 0, nullptr, 0, 0, nullptr, 0, 0, nullptr, 0, 0, nullptr, -1), null_pointer);
    TAPP_tensor_product refused = 0;
    EXPECT_EQ(TAPP_create_tensor_product(&refused, 0, 0, 0, nullptr, 0, 0, nullptr, 0, 0, nullptr, 0, 0, nullptr, -1), null_pointer);
    EXPECT_EQ(TAPP_destroy_tensor_product(refused), 0);
    EXPECT_EQ(TAPP_destroy_tensor_product(0), 0);
}

TEST(TappErrors, AreExplained) {
    EXPECT_TRUE(TAPP_check_success(0));
    EXPECT_FALSE(TAPP_check_success(8));
    for (TAPP_error error = -1; error <= internal + 1; ++error) {
        const std::size_t length = TAPP_explain_error(error, 0, nullptr);
        ASSERT_GT(length, 5U);
        std::vector<char> text(length + 2, '#');
        EXPECT_EQ(TAPP_explain_error(error, length + 1, text.data()), length);
        EXPECT_EQ(text[length], '\0');
        EXPECT_EQ(text[length + 1], '#');
        EXPECT_EQ(std::strlen(text.data()), length);
        std::vector<char> start(6, '#');
        EXPECT_EQ(TAPP_explain_error(error, 5, start.data()), 4U);
        EXPECT_EQ(std::string(start.data()), std::string(text.data(), 4));
        EXPECT_EQ(start[5], '#');
        EXPECT_EQ(TAPP_explain_error(error, 1, start.data()), 0U);
        EXPECT_EQ(start[0], '\0');
    }
}

TEST(TappObjects, KeepWhatTheyAreGiven) {
    TAPP_tensor_info info = 0;
    std::int64_t extents[] = {2, 3, 4}, strides[] = {1, 2, -6}, read[3] = {};
    ASSERT_EQ(TAPP_create_tensor_info(&info, TAPP_C32, 2, extents, strides), 0);
    EXPECT_EQ(TAPP_get_nmodes(info), 2);
    EXPECT_EQ(TAPP_set_nmodes(info, 3), 0);
    TAPP_get_extents(info, read);
    EXPECT_EQ(std::vector(read, read + 3), (std::vector<std::int64_t>{2, 3, 1}));
    TAPP_get_strides(info, read);
    EXPECT_EQ(std::vector(read, read + 3), (std::vector<std::int64_t>{1, 2, 0}));
    EXPECT_EQ(TAPP_set_extents(info, extents), 0);
    EXPECT_EQ(TAPP_set_strides(info, strides), 0);
    TAPP_get_extents(info, read);
    EXPECT_TRUE(std::equal(extents, extents + 3, read));
    TAPP_get_strides(info, read);
    EXPECT_TRUE(std::equal(strides, strides + 3, read));
    EXPECT_EQ(TAPP_destroy_tensor_info(info), 0);
    EXPECT_EQ(TAPP_destroy_tensor_info(0), 0);

    int number = 0;
    void* value = &number;
    EXPECT_EQ(TAPP_attr_set(0, 1, value), no_such_attribute);
    EXPECT_EQ(TAPP_attr_get(0, 1, &value), no_such_attribute);
    EXPECT_EQ(value, nullptr);
    EXPECT_EQ(TAPP_attr_get(0, 1, nullptr), null_pointer);
    EXPECT_EQ(TAPP_attr_clear(0, 1), no_such_attribute);
    EXPECT_EQ(TAPP_create_handle(nullptr), null_pointer);
    EXPECT_EQ(TAPP_create_executor(nullptr), null_pointer);
}

/// One plan and many: threads do not disturb each other.
TEST(TappObjects, ServeSeveralThreads) {
    set_listed_multiplications(0);
    std::mt19937_64 engine(3);
    Random random(engine);
    Case x;
    x.extents = {9, 8, 7};
    x.a.labels = {0, 2}, x.b.labels = {2, 1}, x.c.labels = x.d.labels = {1, 0};
    for (Tensor* tensor : {&x.a, &x.b, &x.c, &x.d}) lay_out(*tensor, x, {.negative = 2}, false, random);
    const Expected expected = by_loops(x);
    const Plan shared(x);
    std::vector<Tensor> results(4, x.d);
    std::vector<std::thread> threads;
    for (Tensor& result : results)
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                const Plan own(x);
                execute(i % 2 == 0 ? shared : own, x, result);
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const Tensor& result : results) expect_near(x, result, expected);
}

}  // namespace
}  // namespace arges::tapp::test

// Wrong calls of the functions of arges.h: on one rank only, where the others are right; with null pointers; and what is left after them.
#include "c/c_support.hpp"

#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>

namespace arges::test {
namespace {

/// What the calls below use.
struct Things {
    CWorld world = c_world();
    CTensor matrix = c_tensor(world, ARGES_FLOAT64, {3, 4});
    CTensor square = c_tensor(world, ARGES_FLOAT64, {3, 3});
    CTensor integers = c_tensor(world, ARGES_INT64, {3, 3});
    CTensor sparse = c_tensor(world, ARGES_FLOAT64, {3, 3}, nullptr, nullptr, true);
    CTensor made, more;
    std::vector<double> values = std::vector<double>(12, 1.0);
    std::vector<std::int64_t> keys{0, 1};
    double number = 0;
    SharedFolder folder;
};

/// A collective call that is wrong if `wrong` is true; its message must have `text`, which is empty where ranks differ and each would be
/// right alone.
struct Case {
    const char* name;
    const char* text;
    std::function<arges_status(Things&, bool wrong)> call;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"a torus that is none", "torus",
         [](Things&, bool wrong) {
             CWorld world;
             return arges_world_create(MPI_COMM_WORLD, wrong ? "4y4" : nullptr, Made(world));
         }},
        {"a device that is not known", "use cuda or none",
         [](Things&, bool wrong) {
             CWorld world;
             return arges_world_create_on_device(MPI_COMM_WORLD, wrong ? "opencl" : "none", 0, nullptr, Made(world));
         }},
        {"a device without a name", "device is a null pointer",
         [](Things&, bool wrong) {
             CWorld world;
             return arges_world_create_on_device(MPI_COMM_WORLD, wrong ? nullptr : "none", 0, nullptr, Made(world));
         }},
        {"no place for a world", "world is a null pointer",
         [](Things&, bool wrong) {
             CWorld world;
             Made made(world);
             return arges_world_create(MPI_COMM_WORLD, nullptr, wrong ? nullptr : static_cast<arges_world**>(made));
         }},
        {"a negative limit", "negative",
         [](Things& t, bool wrong) { return arges_world_set_memory_limit(t.world.get(), wrong ? -1 : 1 << 30); }},
        {"the caller's own", "the caller's word",
         [](Things& t, bool wrong) {
             return arges_world_agree(t.world.get(), wrong ? ARGES_INVALID_ARGUMENT : ARGES_OK, wrong ? "the caller's word" : nullptr);
         }},
        {"no such type", "type is 8",
         [](Things& t, bool wrong) {
             const std::int64_t extents[] = {3, 3};
             const auto type = static_cast<arges_type>(wrong ? 8 : 1);
             return arges_tensor_create(t.world.get(), type, 2, extents, nullptr, nullptr, nullptr, Made(t.made));
         }},
        {"another type", "",
         [](Things& t, bool wrong) {
             const std::int64_t extents[] = {3, 3};
             return arges_tensor_create(t.world.get(), wrong ? ARGES_INT32 : ARGES_FLOAT32, 2, extents, nullptr, nullptr, nullptr,
                                        Made(t.made));
         }},
        {"a negative order", "must not be negative",
         [](Things& t, bool wrong) {
             const std::int64_t extents[] = {3, 3};
             return arges_tensor_create(t.world.get(), ARGES_FLOAT32, wrong ? -2 : 2, extents, nullptr, nullptr, nullptr, Made(t.made));
         }},
        {"too few letters", "a letter for each",
         [](Things& t, bool wrong) {
             const std::int64_t extents[] = {3, 3};
             return arges_tensor_create_sparse(t.world.get(), ARGES_FLOAT32, 2, extents, wrong ? "a" : "ab", "sym(a,b)", nullptr,
                                               Made(t.made));
         }},
        {"no letters", "letters is a null pointer",
         [](Things& t, bool wrong) {
             const std::int64_t extents[] = {3, 3};
             return arges_tensor_create(t.world.get(), ARGES_FLOAT32, 2, extents, wrong ? nullptr : "ab", "sym(a,b)", nullptr,
                                        Made(t.made));
         }},
        {"no place for a tensor", "result is a null pointer",
         [](Things& t, bool wrong) {
             Made made(t.made);
             return arges_tensor_to_dense(t.sparse.get(), wrong ? nullptr : static_cast<arges_tensor**>(made));
         }},
        {"a conversion to no type", "type is -1",
         [](Things& t, bool wrong) { return arges_tensor_convert(t.matrix.get(), static_cast<arges_type>(wrong ? -1 : 0), Made(t.made)); }},
        {"no value", "value is a null pointer",
         [](Things& t, bool wrong) { return arges_tensor_fill(t.matrix.get(), wrong ? nullptr : t.values.data()); }},
        {"random integers", "floating-point",
         [](Things& t, bool wrong) { return arges_tensor_fill_random(wrong ? t.integers.get() : t.square.get(), 1, 0, 1); }},
        {"a key out of range", "key",
         [](Things& t, bool wrong) {
             const std::int64_t key = 12;
             return arges_tensor_write(t.matrix.get(), 1, wrong ? &key : t.keys.data(), t.values.data(), ARGES_REFUSE);
         }},
        {"a negative count", "must not be negative",
         [](Things& t, bool wrong) { return arges_tensor_read(t.matrix.get(), wrong ? -1 : 2, t.keys.data(), t.values.data()); }},
        {"no values", "values is a null pointer",
         [](Things& t, bool wrong) {
             return arges_tensor_accumulate(t.matrix.get(), 2, t.keys.data(), wrong ? nullptr : t.values.data(), nullptr, nullptr);
         }},
        {"no such policy", "duplicates is 3",
         [](Things& t, bool wrong) {
             return arges_tensor_write(t.sparse.get(), 0, nullptr, nullptr, static_cast<arges_duplicates>(wrong ? 3 : 1));
         }},
        {"a sparse tensor to gather", "dense",
         [](Things& t, bool wrong) { return arges_tensor_gather(wrong ? t.sparse.get() : t.square.get(), t.values.data()); }},
        {"no array", "array",
         [](Things& t, bool wrong) { return arges_tensor_set_array(t.matrix.get(), wrong ? nullptr : t.values.data(), nullptr); }},
        {"a slice that is too long", "slice",
         [](Things& t, bool wrong) {
             const std::int64_t begin[] = {0, 0}, end[] = {2, 4}, beyond[] = {2, 5};
             return arges_tensor_slice(t.matrix.get(), begin, wrong ? beyond : end, Made(t.made));
         }},
        {"a part of another type", "bring it into the form",
         [](Things& t, bool wrong) {
             const std::int64_t begin[] = {0, 0};
             return arges_tensor_set_slice(t.matrix.get(), begin, wrong ? t.integers.get() : t.square.get());
         }},
        {"no part", "part is a null pointer",
         [](Things& t, bool wrong) {
             const std::int64_t begin[] = {0, 0};
             return arges_tensor_set_slice(t.matrix.get(), begin, wrong ? nullptr : t.square.get());
         }},
        {"no number", "norm is a null pointer",
         [](Things& t, bool wrong) { return arges_tensor_norm(t.matrix.get(), wrong ? nullptr : &t.number); }},
        {"a product of two types", "convert",
         [](Things& t, bool wrong) { return arges_tensor_dot(t.square.get(), wrong ? t.integers.get() : t.square.get(), &t.number); }},
        {"labels that do not fit", "label",
         [](Things& t, bool wrong) {
             return arges_contract(nullptr, t.square.get(), wrong ? "ikl" : "ik", t.square.get(), "kj", nullptr, t.square.get(), "ij");
         }},
        {"no labels", "b_labels is a null pointer",
         [](Things& t, bool wrong) {
             return arges_contract(nullptr, t.square.get(), "ik", t.square.get(), wrong ? nullptr : "kj", nullptr, t.square.get(), "ij");
         }},
        {"no left-hand side", "c is a null pointer",
         [](Things& t, bool wrong) {
             return arges_contract(nullptr, t.square.get(), "ik", nullptr, nullptr, nullptr, wrong ? nullptr : t.square.get(), "ik");
         }},
        {"an einsum without an operand", "operand 2",
         [](Things& t, bool wrong) {
             const arges_tensor* operands[] = {t.square.get(), wrong ? nullptr : t.square.get()};
             return arges_einsum("ij,jk", 2, operands, Made(t.made));
         }},
        {"another text", "",
         [](Things& t, bool wrong) {
             const arges_tensor* operands[] = {t.square.get(), t.square.get()};
             return arges_einsum(wrong ? "ij,jk->" : "ij,jk", 2, operands, Made(t.made));
         }},
        {"no bar", "", [](Things& t, bool wrong) { return arges_qr(t.matrix.get(), wrong ? "ij" : "i|j", Made(t.made), nullptr); }},
        {"integers to factorize", "floating-point",
         [](Things& t, bool wrong) { return arges_cholesky(wrong ? t.integers.get() : t.square.get(), "i|j", Made(t.made)); }},
        {"other vectors", "",
         [](Things& t, bool wrong) {
             Made made(t.made);
             return arges_eigh(t.square.get(), "i|j", nullptr, nullptr, wrong ? nullptr : static_cast<arges_tensor**>(made));
         }},
        {"no right-hand side", "b is a null pointer",
         [](Things& t, bool wrong) {
             return arges_least_squares(t.matrix.get(), "i|j", wrong ? nullptr : t.square.get(), "i|k", Made(t.made));
         }},
        {"no path", "path is a null pointer",
         [](Things& t, bool wrong) {
             const auto path = t.folder.file("m.npy");
             return arges_write_npy(t.matrix.get(), wrong ? nullptr : path.c_str());
         }},
        {"a form without such elements", "not written",
         [](Things& t, bool wrong) {
             const auto path = t.folder.file("m.tns");
             const auto other = c_tensor(t.world, ARGES_INT32, {3, 3}, nullptr, nullptr, true);
             return arges_write_sparse(wrong ? other.get() : t.sparse.get(), path.c_str());
         }},
        {"a file of integers", "not read",
         [](Things& t, bool wrong) {
             const auto path = t.folder.file("m.npy");
             return arges_read_tensor(t.world.get(), path.c_str(), wrong ? ARGES_INT16 : ARGES_FLOAT64, Made(t.made));
         }},
        {"a checkpoint's tensor without a name", "name is a null pointer",
         [](Things& t, bool wrong) {
             CCheckpoint checkpoint;
             const auto path = t.folder.file("m.h5");
             auto status = arges_checkpoint_create(t.world.get(), path.c_str(), Made(checkpoint));
             if (status == ARGES_OK) status = arges_checkpoint_add(checkpoint.get(), wrong ? nullptr : "m", t.matrix.get());
             return status;
         }},
        {"another value", "",
         [](Things& t, bool wrong) {
             const double value = wrong ? 2 : 1;
             return arges_tensor_fill(t.matrix.get(), &value);
         }},
        {"another value of what is stored", "",
         [](Things& t, bool wrong) {
             const double value = wrong ? 2 : 1;
             return arges_tensor_fill(t.sparse.get(), &value);
         }},
        {"another seed", "", [](Things& t, bool wrong) { return arges_tensor_fill_random(t.matrix.get(), wrong ? 2 : 1, 0, 1); }},
        {"other bounds", "", [](Things& t, bool wrong) { return arges_tensor_fill_random(t.matrix.get(), 1, 0, wrong ? 2 : 1); }},
        {"another factor", "",
         [](Things& t, bool wrong) {
             const double alpha = wrong ? 2 : 1;
             return arges_tensor_accumulate(t.matrix.get(), 2, t.keys.data(), t.values.data(), &alpha, nullptr);
         }},
        {"another factor of old elements", "",
         [](Things& t, bool wrong) {
             const double beta = wrong ? 2 : 1;
             return arges_tensor_accumulate(t.sparse.get(), 2, t.keys.data(), t.values.data(), nullptr, &beta);
         }},
        {"another array", "",
         [](Things& t, bool wrong) {
             const std::vector<double> array(12, wrong ? 2 : 1);
             return arges_tensor_set_array(t.matrix.get(), array.data(), nullptr);
         }},
        {"another tensor to gather", "",
         [](Things& t, bool wrong) { return arges_tensor_gather(wrong ? t.square.get() : t.matrix.get(), t.values.data()); }},
        {"another tensor's norm", "",
         [](Things& t, bool wrong) { return arges_tensor_norm(wrong ? t.square.get() : t.matrix.get(), &t.number); }},
        {"another tensor's sum", "",
         [](Things& t, bool wrong) { return arges_tensor_sum(wrong ? t.square.get() : t.matrix.get(), &t.number); }},
        {"another tensor to copy", "",
         [](Things& t, bool wrong) { return arges_tensor_copy(wrong ? t.square.get() : t.matrix.get(), Made(t.made)); }},
        {"another type to convert to", "",
         [](Things& t, bool wrong) {
             return arges_tensor_convert(t.matrix.get(), wrong ? ARGES_FLOAT32 : ARGES_COMPLEX128, Made(t.made));
         }},
        {"another cutoff", "",
         [](Things& t, bool wrong) { return arges_tensor_to_sparse(t.matrix.get(), wrong ? 0.5 : 0.25, Made(t.made)); }},
        {"another range", "",
         [](Things& t, bool wrong) {
             const std::int64_t begin[] = {0, 0}, end[] = {2, wrong ? 3 : 4};
             return arges_tensor_slice(t.matrix.get(), begin, end, Made(t.made));
         }},
        {"another operand", "",
         [](Things& t, bool wrong) {
             const auto other = c_tensor(t.world, ARGES_FLOAT64, {3, 3});
             return arges_contract(nullptr, t.square.get(), "ik", wrong ? other.get() : t.square.get(), "kj", nullptr, t.square.get(),
                                   "ij");
         }},
        {"another number in front", "",
         [](Things& t, bool wrong) {
             const double alpha = wrong ? 2 : 1;
             return arges_contract(&alpha, t.square.get(), "ik", t.square.get(), "kj", nullptr, t.square.get(), "ij");
         }},
        {"other elements of a scalar product", "",
         [](Things& t, bool wrong) {
             const auto other = c_tensor(t.world, ARGES_FLOAT64, {3, 3});
             return arges_tensor_dot(t.square.get(), wrong ? other.get() : t.square.get(), &t.number);
         }},
    };
    return all;
}

/// Everything that ought to work still does.
void expect_that_things_go_on(Things& t) {
    const double one = 1;
    double sum = 0;
    EXPECT_OK(arges_tensor_fill(t.square.get(), &one));
    EXPECT_OK(arges_contract(nullptr, t.square.get(), "ik", t.square.get(), "kj", nullptr, t.square.get(), "ij"));
    EXPECT_OK(arges_tensor_sum(t.square.get(), &sum));
    EXPECT_EQ(27, sum);
    EXPECT_OK(arges_tensor_fill(t.square.get(), &one));
    for (std::int64_t d = 0; d < 3; ++d) {
        const double many = 9;
        const std::int64_t key = 4 * d;
        EXPECT_OK(arges_tensor_write(t.square.get(), 1, &key, &many, ARGES_REFUSE));
    }
}

TEST(CErrors, OfOneRankAreErrorsOfAll) {
    Things t;
    const auto size = World().size(), rank = World().rank();
    expect_that_things_go_on(t);
    ASSERT_OK(arges_write_npy(t.matrix.get(), t.folder.file("m.npy").c_str()));
    for (const auto& c : cases()) {
        SCOPED_TRACE(c.name);
        EXPECT_EQ(ARGES_OK, c.call(t, false)) << arges_message();
        for (std::int64_t guilty = 0; guilty < size; guilty += std::max<std::int64_t>(1, size - 1)) {
            if (size == 1 && *c.text == '\0') continue;  // ranks differ, and there is one
            t.made.reset();
            EXPECT_EQ(ARGES_INVALID_ARGUMENT, c.call(t, rank == guilty)) << "rank " << guilty << " is wrong: " << arges_message();
            EXPECT_NE(std::string::npos, std::string(arges_message()).find(c.text)) << arges_message();
            if (std::getenv("ARGES_PRINT_ERRORS") != nullptr && rank == 0 && guilty == 0)
                std::cout << "| " << c.name << " | " << arges_message() << " |\n";
            expect_that_things_go_on(t);
            EXPECT_STREQ("", arges_message());
        }
    }
}

TEST(CErrors, NullHandlesAreRefused) {
    arges_type type;
    std::int64_t number = 0;
    double real = 0;
    int one = 1;
    CTensor tensor;
    const auto world = c_world();
    const auto A = c_tensor(world, ARGES_FLOAT64, {2});
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_world_size(nullptr, &number));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_world_size(world.get(), nullptr));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_world_rank(nullptr, &number));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_world_report(nullptr, nullptr, nullptr, nullptr));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_tensor_create(nullptr, ARGES_FLOAT64, 0, nullptr, nullptr, nullptr, nullptr, Made(tensor)));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_tensor_extents(nullptr, &number));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_tensor_form(nullptr, &type, &one));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_tensor_norm(nullptr, &real));
    EXPECT_STREQ("arges_tensor_norm: tensor is a null pointer; give one that leads somewhere", arges_message());
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_contract(nullptr, nullptr, "i", nullptr, "i", nullptr, nullptr, "i"));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_einsum("i", 0, nullptr, Made(tensor)));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_statement_run(nullptr, nullptr));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_checkpoint_commit(nullptr));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_qr(nullptr, "a|b", nullptr, nullptr));
    EXPECT_EQ(ARGES_OK, arges_tensor_destroy(nullptr));
    EXPECT_STRNE("", arges_message());  // destroying leaves it
    EXPECT_OK(arges_tensor_norm(A.get(), &real));
    EXPECT_STREQ("", arges_message());
    arges_free(nullptr);
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_world_create(MPI_COMM_NULL, nullptr, nullptr));
}

TEST(CErrors, OfStatementsLeaveThemAsTheyWere) {
    const auto world = c_world();
    const auto A = c_tensor(world, ARGES_FLOAT64, {2, 2}), Z = c_tensor(world, ARGES_COMPLEX128, {2, 2});
    CStatement statement;
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_statement_create(A.get(), "a,,b", Made(statement)));
    EXPECT_EQ(nullptr, statement);
    ASSERT_OK(arges_statement_create(A.get(), "ij", Made(statement)));
    const arges_tensor* factors[] = {A.get(), nullptr};
    const arges_tensor* complex[] = {Z.get()};
    const char* labels[] = {"ij", "ij"};
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_statement_add(statement.get(), nullptr, 2, factors, labels, nullptr, ARGES_AS_IT_IS));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_statement_add(statement.get(), nullptr, 1, complex, labels, nullptr, ARGES_AS_IT_IS));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT,
              arges_statement_add(statement.get(), nullptr, 1, factors, labels, nullptr, static_cast<arges_projection>(7)));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_statement_where(statement.get(), A.get(), "ij", 0));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_statement_vouch(statement.get(), "i", "a,,b"));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_statement_explain(statement.get(), nullptr, nullptr));
    const double two = 2;
    ASSERT_OK(arges_tensor_fill(A.get(), &two));
    ASSERT_OK(arges_statement_run(statement.get(), &two));
    EXPECT_EQ(std::vector<double>(4, 4.0), gathered<double>(A));
}

TEST(CErrors, OfIntegersThatDoNotFit) {
    const auto world = c_world();
    const auto A = c_tensor(world, ARGES_INT64, {2, 2});
    const std::int64_t large = std::numeric_limits<std::int64_t>::max();
    CTensor made;
    ASSERT_OK(arges_tensor_fill(A.get(), &large));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_tensor_convert(A.get(), ARGES_INT32, Made(made)));
    EXPECT_EQ(nullptr, made);
    EXPECT_EQ(std::vector<std::int64_t>(4, large), gathered<std::int64_t>(A));
}

}  // namespace
}  // namespace arges::test

// Dense arrays, whole or with gaps, as tensors of known elements: complete, stats and convert.
#include "arges/tensor_io.hpp"
#include "cli/json_output.hpp"
#include "io/temporary_folder.hpp"
#include "support/program_run.hpp"

#include <cmath>
#include <limits>

namespace arges::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();

class DenseInputs : public ::testing::Test {
protected:
    /// Of 4 x 3 elements.
    std::string write(const char* name, const std::vector<double>& elements) const {
        Tensor<double> array(world, {4, 3}, "a");
        array.for_each_local([&](Index i, double& value) { value = elements[static_cast<std::size_t>(3 * i[0] + i[1])]; });
        auto file = folder / name;
        write_npy(array, file);
        return file;
    }

    const World world{};
    const TemporaryFolder folder{world};
    const std::string whole = write("whole.npy", {0, 1, 2, 0, 0, 0, 3, 0, 4, 0, 0, -5}),
                      gaps = write("gaps.npy", {0, 1, nan, 2, 0, 3, nan, 4, 5, 0, nan, 6}),
                      both = write("both.npy", {0, 1, nan, 2, 0, 3, nan, 4, -infinite, 0, nan, infinite}), sparse = folder / "s.tns";
};

TEST_F(DenseInputs, AreConvertedAsToldWhatIsMissing) {
    for (const auto& [file, missing, stored] : {std::tuple{whole, "zero", 5}, {whole, "none", 12}, {whole, "nan", 12}, {gaps, "nan", 9}}) {
        const auto done = parsed(run_program({"convert", file.c_str(), sparse.c_str(), "--drop", missing, "--json", "--overwrite"}));
        EXPECT_EQ(done["nonzeros"], stored) << missing;
        EXPECT_EQ(done["lengths"], (std::vector<int>{4, 3}));
        EXPECT_EQ(done["form"], ".npy");
        const auto stats = parsed(run_program({"stats", file.c_str(), "--drop", missing, "--json"}));
        EXPECT_EQ(stats["nonzeros"], stored) << missing;
        EXPECT_EQ(stats["values"]["count"], stored);
        EXPECT_EQ(stats["values"]["zeros"], stored == 12 ? 7 : stored == 9 ? 3 : 0);
    }
    parsed(run_program({"convert", whole.c_str(), sparse.c_str(), "--json", "--overwrite"}));
    const auto back = parsed(run_program({"stats", sparse.c_str(), "--json"}));
    EXPECT_EQ(back["values"]["minimum"], -5);
    EXPECT_EQ(back["values"]["maximum"], 4);
    EXPECT_EQ(back["values"]["negative"], 1);
}

TEST_F(DenseInputs, WithGapsAreCompleted) {
    const auto done = parsed(run_program({"complete", gaps.c_str(), "--rank", "1", "--json"}));
    EXPECT_EQ(done["elements"], 9) << "known zeros among them";
    const auto text = run_program({"complete", gaps.c_str(), "--rank", "1"});
    EXPECT_NE(text.out.find("9 elements; those that are NaN are unknown"), std::string::npos) << text.out << text.err;
    EXPECT_EQ(parsed(run_program({"complete", whole.c_str(), "--rank", "1", "--json", "--type", "float"}))["elements"], 12);
}

TEST_F(DenseInputs, AreRefusedWithPlaceAndCure) {
    check_wrong_lines(
        {{{"convert", gaps.c_str(), sparse.c_str()},
          cli::exit_error,
          "3 of 12 elements are not finite (3 NaN, 0 infinite), the first is (0, 2), counted from 0; replace them, or, if NaN stands for "
          "missing elements, say so (--drop nan)"},
         {{"stats", gaps.c_str()}, cli::exit_error, "--drop nan"},
         {{"stats", both.c_str(), "--drop", "nan"}, cli::exit_error, "2 of 12 elements are infinite, the first is (2, 2), counted from 0"},
         {{"complete", both.c_str(), "--json"}, cli::exit_error, "2 of 12 elements are infinite, the first is (2, 2), counted from 0"},
         {{"convert", both.c_str(), sparse.c_str(), "--drop", "none"},
          cli::exit_error,
          "5 of 12 elements are not finite (3 NaN, 2 infinite)"},
         {{"convert", gaps.c_str(), sparse.c_str(), "--drop", "maybe"}, cli::exit_usage, "--drop"},
         {{"convert", gaps.c_str(), sparse.c_str(), "--base", "one"}, cli::exit_usage, "is a dense tensor, and this is for sparse ones"},
         {{"complete", gaps.c_str(), "--duplicates", "mean"}, cli::exit_usage, "is a dense tensor, and this is for sparse ones"},
         {{"stats", "test/data/yago-4d.tns.gz", "--drop", "nan"}, cli::exit_usage, "is a sparse tensor, and this is for dense ones"}});
    EXPECT_NE(run_program({"stats", whole.c_str()}).out.find("different values   5"), std::string::npos);
}

}  // namespace
}  // namespace arges::test

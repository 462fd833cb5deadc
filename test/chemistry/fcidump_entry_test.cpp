#include "chemistry/integrals/fcidump_entry.hpp"

#include <gtest/gtest.h>

namespace arges::chemistry {
namespace {

TEST(FcidumpEntry, the_eight_permutations_of_an_integral_have_one_code) {
    const std::uint64_t code = entry_code({3, 1, 2, 1});
    for (const std::array<std::int64_t, 4>& same :
         {std::array<std::int64_t, 4>{1, 3, 2, 1}, {3, 1, 1, 2}, {1, 3, 1, 2}, {2, 1, 3, 1}, {1, 2, 3, 1}, {2, 1, 1, 3}, {1, 2, 1, 3}})
        EXPECT_EQ(entry_code(same), code);
    EXPECT_NE(entry_code({3, 2, 1, 1}), code);
    EXPECT_EQ(entry_indices(code), (std::array<std::int64_t, 4>{3, 1, 2, 1}));
}

TEST(FcidumpEntry, kinds_follow_from_zero_indices) {
    EXPECT_EQ(entry_kind(entry_code({3, 1, 2, 1})), EntryKind::two_electron);
    EXPECT_EQ(entry_kind(entry_code({1, 3, 0, 0})), EntryKind::one_electron);
    EXPECT_EQ(entry_kind(entry_code({3, 0, 0, 0})), EntryKind::orbital_energy);
    EXPECT_EQ(entry_kind(entry_code({0, 0, 0, 0})), EntryKind::core_energy);
    EXPECT_EQ(entry_name(entry_code({1, 2, 1, 3})), "(3 1|2 1)");
}

TEST(FcidumpEntry, reads_fortran_numbers) {
    for (const auto& [text, value] : {std::pair{"1.5D-03 1 1 1 1", 1.5e-3},
                                      {" -.5d+2  1 1 1 1 ", -50.0},
                                      {"+2.E0 1 1 1 1", 2.0},
                                      {"1.5-101 1 1 1 1", 1.5e-101},
                                      {"3\t1 1 1 1", 3.0}}) {
        const ParsedLine parsed = parse_fcidump_line(text, 1);
        EXPECT_EQ(parsed.problem, "") << text;
        EXPECT_EQ(parsed.entry.value, value) << text;
    }
    EXPECT_TRUE(parse_fcidump_line("  \t ", 1).blank);
}

}  // namespace
}  // namespace arges::chemistry

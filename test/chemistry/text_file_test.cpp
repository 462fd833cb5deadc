#include "chemistry/text_file.hpp"

#include "arges/error.hpp"
#include "chemistry/temporary_file.hpp"

#include <gtest/gtest.h>

namespace arges::chemistry {
namespace {

std::vector<std::string> lines_of(LineReader reader) {
    std::vector<std::string> lines;
    while (reader.next()) lines.emplace_back(reader.line());
    return lines;
}

TEST(LineReader, gives_the_lines_that_begin_in_its_range) {
    const TemporaryFile file(World(), "ab\ncd\n");
    EXPECT_EQ(lines_of({file.path(), 0, 2}), (std::vector<std::string>{"ab"}));
    EXPECT_EQ(lines_of({file.path(), 2, 6}), (std::vector<std::string>{"cd"}));
}

TEST(LineReader, disjoint_ranges_give_every_line_once) {
    const TemporaryFile file(World(), "\none\n\nthree and four\nx\n\nlast");
    const std::vector<std::string> all = lines_of({file.path(), 0, 100});
    EXPECT_EQ(all, (std::vector<std::string>{"", "one", "", "three and four", "x", "", "last"}));
    for (std::int64_t a = 0; a <= 27; ++a)
        for (std::int64_t b = a; b <= 27; ++b) {
            std::vector<std::string> joined = lines_of({file.path(), 0, a});
            for (const auto& part :
                 {lines_of({file.path(), a, b}), lines_of({file.path(), b, 100})})
                joined.insert(joined.end(), part.begin(), part.end());
            EXPECT_EQ(joined, all) << a << " " << b;
        }
}

TEST(TextFile, numbers_lines_over_all_ranks) {
    const World world;
    const TemporaryFile file(world, "a\nbb\nccc\n");
    const TextFile text(world, file.path());
    EXPECT_EQ(text.size(), 9);
    EXPECT_EQ(text.line_number(0), 1);
    EXPECT_EQ(text.line_number(2), 2);
    EXPECT_EQ(text.line_number(5), 3);
}

TEST(TextFile, throws_the_first_error_of_all_ranks) {
    const World world;
    const TemporaryFile file(world, "a\nbb\nccc\n");
    const TextFile text(world, file.path());
    EXPECT_NO_THROW(text.throw_first({}));
    LocatedError error;
    error.note(world.rank() == world.size() - 1 ? 2 : 5, "wrong");
    try {
        text.throw_first(error);
        FAIL() << "no error";
    } catch (const InvalidArgument& caught) {
        EXPECT_EQ(caught.what(), file.path() + ", line 2: wrong");
    }
}

}  // namespace
}  // namespace arges::chemistry

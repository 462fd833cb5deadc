// Files that are wrong: one error, the same on every rank, that says what and where.
#include "io/sparse_files.hpp"
#include "io/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

struct WrongText {
    std::string line;     ///< put in the middle of good lines
    std::string message;  ///< behind "FILE, line N: "
    SparseReadOptions options{};
};

SparseReadOptions with(IndexBase base, Numbers lengths = {}) {
    SparseReadOptions options;
    options.base = base;
    options.lengths = std::move(lengths);
    return options;
}

const std::vector<WrongText> wrong_lines{
    {"1 2 3", "the value is missing: 3 columns where the first entry has 4; complete the line"},
    {"1 2", "2 columns where the first entry has 4; give every nonzero the same number of indices, and one value"},
    {"1 2 3 4 5", "5 columns where the first entry has 4"},
    {"1 b 3 4", "index 'b' in mode 2 is not a whole number; number the names of a mode from 1 on"},
    {"1 2.0 3 4", "index '2.0' in mode 2 is not a whole number"},
    {"1,2,3,4", "index '1,2,3,4' in mode 1 is not a whole number; columns are separated by blanks or tabs"},
    {"1, 2, 3, 4", "index '1,' in mode 1 is not a whole number; columns are separated by blanks or tabs"},
    {"-1 2 3 4", "index '-1' in mode 1 is negative"},
    {"+-1 2 3 4", "index '+-1' in mode 1 is not a whole number"},
    {"1 2 3 four", "value 'four' is not a number"},
    {"1 2 3 4 5 # here", "5 columns where the first entry has 4"},
    {"1 2 3 4.5.6", "value '4.5.6' is not a number"},
    {"1 2 3 0x10", "value '0x10' is not a number"},
    {"1 2 3 nan", "value 'nan' is not finite"},
    {"1 2 3 -inf", "value '-inf' is not finite"},
    {"1 2 3 1e999", "value '1e999' is too large for double"},
    {"99999999999999999999 2 3 4", "index '99999999999999999999' in mode 1 is over 2^62"},
    {"4611686018427387905 2 3 4", "index '4611686018427387905' in mode 1 is over 2^62"},
    {"1 0 3 4", "index 0 in mode 2, but indices are said to count from 1", with(IndexBase::one)},
    {"1 10 3 4", "index '10' in mode 2 is over the length 9 that is demanded", with(IndexBase::one, {9, 9, 9})},
    {"1 9 3 4", "index '9' in mode 2 is over the length 9 that is demanded; correct the line, or the lengths (indices count from 0)",
     with(IndexBase::zero, {9, 9, 9})},
    {"1 10 3 4", "index '10' in mode 2 is over the length 9 that is demanded", with(IndexBase::detect, {9, 9, 9})},
    {std::string("\x01\xff\x00z 2 3 4", 10), "index '???z' in mode 1 is not a whole number"},
};

TEST(WrongText, IsRefusedByTheNumberOfTheFirstWrongLine) {
    const World world;
    const TemporaryFolder folder(world);
    for (const auto& wrong : wrong_lines)
        for (int before : {1, 20, 70}) {
            SCOPED_TRACE(wrong.line);
            std::string text = "# a comment\n";
            for (int i = 0; i < 80; ++i) {
                if (i == before || i == before + 5) text += wrong.line + "\n";
                text += std::to_string(i % 8 + 1) + " 2 3 4\n";
            }
            const auto start = ", line " + std::to_string(before + 2) + ": " + wrong.message;
            for (const auto& path : {folder.write("w.tns", text), folder.write("w.gz", zipped(text, 99))}) {
                const auto message = message_of_reading(world, path, wrong.options);
                EXPECT_EQ(message.substr(0, path.size() + start.size()), path + start);
            }
        }
}

TEST(WrongText, CountsFromZeroOrHasTheDemandedLengthNotBoth) {
    const World world;
    const TemporaryFolder folder(world);
    std::string text;
    for (int i = 1; i <= 50; ++i) text += std::to_string(i % 9 + 1) + " 1 5\n";
    text += "0 1 5\n";
    const auto path = folder.write("z.tns", text);
    EXPECT_EQ(message_of_reading(world, path, with(IndexBase::detect, {9, 9})),
              path + ", line 8: index '9' in mode 1 is over the length 9 that is demanded; correct the line, or the lengths (indices "
                     "count from 0, since an index 0 occurs)");
}

TEST(WrongText, HasNoUsefulFirstLine) {
    const World world;
    const TemporaryFolder folder(world);
    const std::vector<std::pair<std::string, std::string>> cases{
        {"# only\n\n# comments\n", ": there is no nonzero in the file; give the lengths"},
        {"3\n4 5 6\n",
         ", line 1: 1 column; a line has the indices of a nonzero and its value, separated by blanks or tabs (replace commas: "},
        {"\n# x\n1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n", ", line 3: 18 columns; a tensor has at most 16 modes"},
        {std::string(3000000, 'x'), ", line 1: the line is longer than 1048576 bytes"},
        {"1 1 1\n" + std::string(3000000, 'x') + "\n1 1 1\n", ", line 2: the line is longer than 1048576 bytes"},
    };
    for (const auto& [text, message] : cases)
        for (const auto& path : {folder.write("w.tns", text), folder.write("w.gz", zipped(text))})
            EXPECT_EQ(message_of_reading(world, path).substr(0, path.size() + message.size()), path + message);
    const auto path = folder.write("w.tns", "1 1 1\n");
    EXPECT_EQ(message_of_reading(world, path, with(IndexBase::one, {4, 4, 4})),
              path + ", line 1: 3 columns, but 3 lengths are demanded, and a line has as many indices and one value");
    EXPECT_NE(message_of_reading(world, path, with(IndexBase::one, {4, -4})).find("length -4 of mode 2"), std::string::npos);
    EXPECT_NE(message_of_reading<float>(world, folder.write("w.tns", "1 1 1e50\n")).find("too large for float; read it as double"),
              std::string::npos);
}

TEST(WrongFile, IsMissingADirectoryEmptyTruncatedOrDamaged) {
    const World world;
    const TemporaryFolder folder(world);
    const auto missing = folder / "none.tns";
    EXPECT_EQ(message_of_reading(world, missing), missing + ": there is no such file; check the path");
    EXPECT_EQ(message_of_reading(world, folder / ""), folder / ": this is a directory; name a file in it");
    const auto empty = folder.write("empty.tns", "");
    EXPECT_EQ(message_of_reading(world, empty), empty + ": the file is empty; check how it was made");
    EXPECT_NE(message_of_reading(world, "/dev/null").find("copy it to a regular file"), std::string::npos);
    std::string text;
    for (int i = 0; i < 100000; ++i) text += std::to_string(i * 7919 % 1000 + 1) + " " + std::to_string(i) + " 1\n";
    const auto good = zipped(text);
    const auto cut = folder.write("cut.gz", good.substr(0, good.size() - 5));
    EXPECT_NE(message_of_reading(world, cut).find("line 100001: the compressed data end too early; the file is truncated"),
              std::string::npos)
        << message_of_reading(world, cut);
    const auto half = folder.write("half.gz", good.substr(0, good.size() / 2));
    EXPECT_NE(message_of_reading(world, half).find("the compressed data end too early"), std::string::npos);
    auto damaged = good;
    for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 40; ++i) damaged[i] = static_cast<char>(damaged[i] ^ 0x5a);
    EXPECT_NE(message_of_reading(world, folder.write("damaged.gz", damaged)), "no exception");
    auto wrong_sum = good;
    wrong_sum[good.size() - 8] = static_cast<char>(wrong_sum[good.size() - 8] ^ 1);
    EXPECT_NE(message_of_reading(world, folder.write("sum.gz", wrong_sum)).find("damaged (zlib: incorrect data check)"), std::string::npos);
    EXPECT_NE(message_of_reading(world, folder.write("tail.gz", good + "tail")).find("damaged (zlib: incorrect header check)"),
              std::string::npos);
    EXPECT_EQ(read_sparse<double>(world, folder.write("padded.gz", good + std::string(600, '\0'))).tensor.nonzeros(), 100000);
}

TEST(WrongFile, IsTooLargeForTheMemoryLimit) {
    World world;
    const TemporaryFolder folder(world);
    const auto X = random_tensor<double>(world, 1, {1000, 1000}, 5000);
    write_sparse(X, folder / "x.tns");
    write_sparse(X, folder / "x.tns.gz");
    write_sparse(X, folder / "x.atns");
    const auto limit = world.memory_limit();
    world.set_memory_limit(world.memory_in_use() + 1000);
    for (const char* name : {"x.tns", "x.tns.gz", "x.atns"}) EXPECT_THROW(read_sparse<double>(world, folder / name), OutOfMemory) << name;
    world.set_memory_limit(limit);
    EXPECT_THROW(read_sparse<double>(World::dry_run(4), folder / "x.tns"), InvalidArgument);
}

TEST(WrongName, IsRefusedBeforeAnythingIsWritten) {
    const World world;
    const TemporaryFolder folder(world);
    const auto X = random_tensor<double>(world, 1, {4, 4}, 5);
    EXPECT_THROW(write_sparse(X, folder / "x"), InvalidArgument);
    EXPECT_THROW(write_sparse(X, folder / "x.bin"), InvalidArgument);
    EXPECT_THROW(write_sparse(X, folder / "none/x.tns"), InvalidArgument);
    EXPECT_THROW(write_sparse(X, folder / "none/x.atns"), InvalidArgument);
    EXPECT_EQ(folder.files(), 0);
    if (world.rank() == 0) std::filesystem::create_directory(folder / "d.tns");
    EXPECT_THROW(write_sparse(X, folder / "d.tns"), InvalidArgument);
    EXPECT_EQ(folder.files(), 1);
}

}  // namespace
}  // namespace arges::test

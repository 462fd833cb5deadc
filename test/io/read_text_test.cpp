// Reading sparse tensors from text: what is accepted, what is found, and in which order.
#include "comm/values.hpp"
#include "io/refused.hpp"
#include "io/sparse_files.hpp"
#include "io/temporary_folder.hpp"

#include "base/math.hpp"
#include "io/file/text_lines.hpp"
#include "io/file/text_number.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

/// The nonzeros in the order of ranks, as text.
template <class T>
std::string in_order(const SparseTensor<T>& X) {
    const Communicator comm(X.world().communicator());
    std::string mine;
    for (std::size_t i = 0; i < X.local_values().size(); ++i) {
        for (int m = 0; m < X.order(); ++m) mine += std::to_string(X.local_indices(m)[i]) + " ";
        mine += std::to_string(X.local_values()[i]).substr(0, 4) + ";";
    }
    std::string all;
    for (auto byte : gathered(comm, to_bytes(std::vector<char>(mine.begin(), mine.end())))) all += static_cast<char>(byte);
    return all;
}

/// Reads a text plain and compressed, in one member and in small ones; all must agree.
SparseFile<double> read_all_ways(const World& world, const TemporaryFolder& folder, const std::string& text,
                                 const SparseReadOptions& options = {}) {
    auto plain = read_sparse<double>(world, folder.write("a.tns", text), options);
    EXPECT_EQ(plain.report.form, "text");
    for (std::size_t piece : {std::size_t{1} << 30, std::size_t{7}}) {
        const auto other = read_sparse<double>(world, folder.write("a.tns.gz", zipped(text, piece)), options);
        EXPECT_EQ(other.report.form, "gzip text");
        EXPECT_EQ(other.tensor.gather(), plain.tensor.gather());
        EXPECT_EQ(in_order(other.tensor), in_order(plain.tensor));
        EXPECT_EQ(other.report.lines, plain.report.lines);
        EXPECT_EQ(other.report.duplicates, plain.report.duplicates);
        EXPECT_EQ(other.report.lengths, plain.report.lengths);
        EXPECT_EQ(other.report.nonempty_slices, plain.report.nonempty_slices);
        EXPECT_EQ(other.report.index_base, plain.report.index_base);
    }
    return plain;
}

TEST(ReadText, TakesBlanksTabsCarriageReturnsCommentsAndAMissingLastEnd) {
    const World world;
    const TemporaryFolder folder(world);
    const std::string text = "# a comment\r\n\n  \t\r\n1 1 4 1.5\r\n\t2\t 3\t4 -2e0  \r\n# 9 9 9 9\n\n3 1 1 +0.25\n1 3 2 .5";
    const auto file = read_all_ways(world, folder, text);
    EXPECT_EQ(in_order(file.tensor), "0 0 3 1.50;1 2 3 -2.0;2 0 0 0.25;0 2 1 0.50;");
    EXPECT_EQ(file.report.lines, 9);
    EXPECT_EQ(file.report.entries, 4);
    EXPECT_EQ(file.report.index_base, 1);
    EXPECT_EQ(file.report.lengths, (Numbers{3, 3, 4}));
    EXPECT_EQ(file.report.nonempty_slices, (Numbers{3, 2, 3}));
    EXPECT_EQ(file.report.bytes, static_cast<std::int64_t>(text.size()));
    EXPECT_EQ(file.tensor.name(), "a.tns");
}

TEST(ReadText, DetectsTheIndexBaseOverAllModes) {
    const World world;
    const TemporaryFolder folder(world);
    std::string text;
    for (int i = 1; i < 60; ++i) text += std::to_string(i) + " " + std::to_string(i % 7 + 1) + " 1\n";
    EXPECT_EQ(read_all_ways(world, folder, text).report.lengths, (Numbers{59, 7}));
    text += "5 0 1\n";  // one zero in one mode: all modes count from zero
    const auto file = read_all_ways(world, folder, text);
    EXPECT_EQ(file.report.index_base, 0);
    EXPECT_EQ(file.report.lengths, (Numbers{60, 8}));
    SparseReadOptions zero;
    zero.base = IndexBase::zero;
    const auto as_zero = read_all_ways(world, folder, "1 1 1\n2 3 1\n", zero);
    EXPECT_EQ(as_zero.report.lengths, (Numbers{3, 4}));
    EXPECT_EQ(in_order(as_zero.tensor), "1 1 1.00;2 3 1.00;");
}

TEST(ReadText, KeepsFileOrderInPartsOfUnevenLines) {
    const World world;
    const TemporaryFolder folder(world);
    Random random(4);
    std::string text, expected;
    for (int i = 0; i < 300; ++i) {
        if (random.below(9) == 0) text += "#" + std::string(static_cast<std::size_t>(random.below(3000)), 'x') + "\n";
        const auto a = random.below(3) == 0 ? random.below(1000000000000) : random.below(9);
        text += std::to_string(a + 1) + std::string(static_cast<std::size_t>(1 + random.below(20)), ' ') + std::to_string(i + 1) + " 1\n";
        expected += std::to_string(a) + " " + std::to_string(i) + " 1.00;";
    }
    EXPECT_EQ(in_order(read_all_ways(world, folder, text).tensor), expected);
    const auto few = read_all_ways(world, folder, "1 1 1\n");  // fewer lines than ranks
    EXPECT_EQ(in_order(few.tensor), "0 0 1.00;");
}

TEST(ReadText, MergesDuplicatesInFileOrder) {
    const World world;
    const TemporaryFolder folder(world);
    std::string text;
    for (int round = 0; round < 5; ++round)
        for (int i = 1; i <= 20; ++i) text += std::to_string(i) + " 3 2 " + std::to_string(round + 1) + "\n";
    auto file = read_all_ways(world, folder, text);
    EXPECT_EQ(file.report.duplicates, 80);
    EXPECT_EQ(file.report.entries, 100);
    EXPECT_EQ(file.tensor.gather().values, std::vector<double>(20, 15));
    SparseReadOptions first;
    first.duplicates = Duplicates::keep_first;
    EXPECT_EQ(read_all_ways(world, folder, text, first).tensor.gather().values, std::vector<double>(20, 1));
    SparseReadOptions refuse;
    refuse.duplicates = Duplicates::refuse;
    const std::string message = ", line 23: a second value for element (20, 3, 2), which line 22 has, the first of 3 such values; remove "
                                "one, or say what to do with "
                                "several (--duplicates sum, mean, first or last)";
    text = "# two lines\n#\n" + text.substr(0, text.find("1 3 2 2")) + "20 3 2 8\n1 3 2 1\n20 3 2 8\n";
    for (const auto& path : {folder.write("b.tns", text), folder.write("b.tns.gz", zipped(text, 50))})
        EXPECT_EQ(message_of_reading(world, path, refuse), path + message);
}

TEST(ReadText, HasIndicesUpTo2To62) {
    const World world;
    const TemporaryFolder folder(world);
    const auto file = read_all_ways(world, folder, "1000000000000000000 1 1\n1 4611686018427387904 2\n");
    EXPECT_EQ(file.report.lengths, (Numbers{1000000000000000000, std::int64_t{1} << 62}));
    EXPECT_EQ(file.report.nonempty_slices, (Numbers{2, 2}));
    EXPECT_EQ(file.tensor.gather().indices[1], (Numbers{0, (std::int64_t{1} << 62) - 1}));
}

TEST(ReadText, TakesDemandedLengthsAndThenAlsoNoNonzeros) {
    const World world;
    const TemporaryFolder folder(world);
    SparseReadOptions options;
    options.lengths = {5, 1};
    EXPECT_EQ(read_all_ways(world, folder, "5 1 2\n", options).report.lengths, (Numbers{5, 1}));
    EXPECT_EQ(read_all_ways(world, folder, "4 0 2\n", options).report.lengths, (Numbers{5, 1}));
    const auto none = read_all_ways(world, folder, "# nothing\n", options);
    EXPECT_EQ(none.tensor.nonzeros(), 0);
    EXPECT_EQ(none.report.nonempty_slices, (Numbers{0, 0}));
}

TEST(ReadText, ReadsFloatsAsNearestFloats) {
    const World world;
    const TemporaryFolder folder(world);
    const auto file =
        read_sparse<float>(world, folder.write("f.tns", "1 0.1\n2 16777217\n3 1e-50\n4 3.40282346e38\n5 0.30000001192092896\n"));
    EXPECT_EQ(file.tensor.gather().values, (std::vector<float>{0.1F, 16777217.0F, 0, 3.40282346e38F, 0.3F}));
}

TEST(FastValue, EqualsTheLibrary) {
    Random random(1);
    for (int k = 0; k < 200000; ++k) {
        std::string text = random.below(3) == 0 ? "-" : "";
        for (auto d = random.below(19); d >= 0; --d) text += static_cast<char>('0' + random.below(10));
        if (random.below(4) > 0) {
            text += '.';
            for (auto d = random.below(random.below(2) == 0 ? 7 : 26); d > 0; --d) text += static_cast<char>('0' + random.below(10));
        }
        if (random.below(6) == 0) text += "e" + std::to_string(random.below(40) - 20);
        text += '\n';
        const char* at = text.data();
        double value = 0;
        ASSERT_TRUE(io::fast_value(at, text.data() + text.size(), value)) << text;
        ASSERT_EQ(value, std::strtod(text.c_str(), nullptr)) << text;
        float single = 0;
        at = text.data();
        ASSERT_TRUE(io::fast_value(at, text.data() + text.size(), single)) << text;
        ASSERT_EQ(single, std::strtof(text.c_str(), nullptr)) << text;
        ASSERT_EQ(*at, '\n');
    }
}

/// Blocks of any size give every line once, with its end.
TEST(LineBlocks, GiveEveryLineOnce) {
    const World world;
    const TemporaryFolder folder(world);
    Random random(2);
    std::string text;
    for (int i = 0; i < 200; ++i) text += std::string(static_cast<std::size_t>(random.below(60)), 'a') + "\n";
    text += "last";
    const io::InputFile file(Communicator(world.communicator()), folder.write("lines", text));
    for (std::size_t block : {2, 3, 17, 64, 100000})
        for (std::int64_t parts : {1, 2, 3, 7, 50}) {
            std::string all;
            std::int64_t lines = 0;
            for (std::int64_t part = 0; part < parts; ++part) {
                io::FileLines source(file, part_begin(file.size(), part, parts), part_begin(file.size(), part + 1, parts));
                io::LineBlocks blocks(source, block);
                for (auto piece = blocks.next(); !piece.empty(); piece = blocks.next()) {
                    EXPECT_EQ(piece.back(), '\n');
                    all += piece;
                }
                lines += blocks.lines();
            }
            EXPECT_EQ(all, text + "\n");
            EXPECT_EQ(lines, 201);
        }
}

std::vector<std::string> lines_of(const io::InputFile& file, std::int64_t begin, std::int64_t end) {
    std::vector<std::string> lines;
    for (io::LineReader reader(io::FileLines(file, begin, end)); reader.next();) {
        lines.emplace_back(reader.line());
        EXPECT_GE(reader.position(), begin);
        EXPECT_LT(reader.position(), end);
    }
    return lines;
}

TEST(LineReader, GivesTheLinesThatBeginInItsPart) {
    const World world;
    const TemporaryFolder folder(world);
    const io::InputFile file(Communicator(world.communicator()), folder.write("lines", "ab\r\ncd\n"));
    EXPECT_EQ(lines_of(file, 0, 2), (std::vector<std::string>{"ab"}));
    EXPECT_EQ(lines_of(file, 2, 7), (std::vector<std::string>{"cd"}));
}

TEST(LineReader, DisjointPartsGiveEveryLineOnce) {
    const World world;
    const TemporaryFolder folder(world);
    const io::InputFile file(Communicator(world.communicator()), folder.write("lines", "\none\n\nthree and four\nx\n\nlast"));
    const auto all = lines_of(file, 0, file.size());
    EXPECT_EQ(all, (std::vector<std::string>{"", "one", "", "three and four", "x", "", "last"}));
    for (std::int64_t a = 0; a <= file.size(); ++a)
        for (std::int64_t b = a; b <= file.size(); ++b) {
            auto joined = lines_of(file, 0, a);
            for (const auto& part : {lines_of(file, a, b), lines_of(file, b, file.size())})
                joined.insert(joined.end(), part.begin(), part.end());
            EXPECT_EQ(joined, all) << a << " " << b;
        }
}

/// Longer than a block, but not than a line may be; then too long.
TEST(LineReader, LongLinesAreWholeOrRefused) {
    const World world;
    const TemporaryFolder folder(world);
    const Communicator comm(world.communicator());
    const std::string text = std::string(700000, 'a') + "\n" + std::string(900000, 'b') + "\nlast";
    const io::InputFile file(comm, folder.write("long", text));
    const auto lines = lines_of(file, 0, file.size());
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0] + "\n" + lines[1] + "\n" + lines[2], text);
    const io::InputFile endless(comm, folder.write("endless", "first\n" + std::string(3000000, 'a')));
    for (const char* part : {"endless, from byte", "the line is longer"})
        expect_refused_with(part, [&] { lines_of(endless, 0, endless.size()); });
}

TEST(LineReader, LinesAreNumberedOverAllRanks) {
    const World world;
    const TemporaryFolder folder(world);
    const io::InputFile file(Communicator(world.communicator()), folder.write("lines", "a\nbb\nccc\n"));
    EXPECT_EQ(io::line_number(file, 0), 1);
    EXPECT_EQ(io::line_number(file, 2), 2);
    EXPECT_EQ(io::line_number(file, 5), 3);
}

TEST(RealTensors, HaveTheirKnownCounts) {
    const World world;
    const auto yago = read_sparse<double>(world, "test/data/yago-4d.tns.gz");
    EXPECT_EQ(yago.tensor.nonzeros(), 201089);
    const auto words = read_sparse<double>(world, "test/data/wn18rr-3d.tns.gz");
    EXPECT_EQ(words.tensor.nonzeros(), 86835);
    EXPECT_EQ(words.report.entries - words.report.duplicates, 86835);
    const auto share = words.tensor.local_nonzeros();
    EXPECT_LE(std::abs(share - 86835 / world.size()), 1);
}

}  // namespace
}  // namespace arges::test

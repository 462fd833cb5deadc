#include "base/divider.hpp"
#include "base/math.hpp"
#include "base/options.hpp"
#include "base/read_number.hpp"
#include "base/text.hpp"
#include "base/workspace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace arges::test {
namespace {

TEST(Math, CountsResidues) {
    EXPECT_EQ(ceil_div(5, 2), 3);
    EXPECT_EQ(count_residues(5, 1, 2), 2);
    for (std::int64_t n = 0; n < 12; ++n)
        for (std::int64_t p = 1; p < 6; ++p)
            for (std::int64_t r = 0; r < p; ++r) {
                std::int64_t count = 0;
                for (std::int64_t x = r; x < n; x += p) ++count;
                EXPECT_EQ(count_residues(n, r, p), count);
            }
}

TEST(Math, DividesByReciprocals) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    std::mt19937_64 random(1);
    std::vector<std::int64_t> numbers{1, 2, 3, 5, 7, 10, 255, 256, 257, most, most - 1, most / 2, most / 3, std::int64_t(1) << 62};
    for (int bits = 1; bits < 63; ++bits)
        for (int i = 0; i < 4; ++i) numbers.push_back(1 + static_cast<std::int64_t>(random() >> (64 - bits)));
    for (const auto divisor : numbers) {
        const Divider by(divisor);
        EXPECT_EQ(by.quotient(0), 0);
        for (const auto n : numbers) {
            EXPECT_EQ(by.quotient(n), n / divisor) << n << " / " << divisor;
            const auto multiple = n / divisor * divisor;
            EXPECT_EQ(by.quotient(multiple), multiple / divisor);
            if (multiple > 0) {
                EXPECT_EQ(by.quotient(multiple - 1), (multiple - 1) / divisor);
            }
        }
    }
}

TEST(Math, ChoosesWithoutOverflow) {
    EXPECT_EQ(choose(5, 2), 10);
    EXPECT_EQ(choose(3, 4), 0);
    EXPECT_EQ(choose(0, 0), 1);
    EXPECT_EQ(choose(62, 31), 465428353255261088);
    EXPECT_EQ(choose(66, 33), 7219428434016265740);
    EXPECT_THROW(choose(68, 34), InvalidArgument);
    EXPECT_EQ(checked_product(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
    EXPECT_THROW(checked_product(std::int64_t{1} << 32, std::int64_t{1} << 31), InvalidArgument);
}

TEST(Math, InvertsBinomialCoefficients) {
    EXPECT_EQ(largest_choose(7, 2), 4);
    for (std::int64_t k = 1; k <= 16; ++k) {
        for (std::int64_t index = 0; index < 500; ++index) {
            const auto n = largest_choose(index, k);
            EXPECT_LE(choose(n, k), index);
            EXPECT_GT(choose(n + 1, k), index);
        }
        const auto most = static_cast<std::int64_t>(std::pow(9e17 * std::tgamma(k + 1.0), 1.0 / static_cast<double>(k)));
        const auto large = std::min<std::int64_t>(most, k == 1 ? 1000000 : most);
        EXPECT_EQ(largest_choose(choose(large, k), k), large);
        if (large > k) {
            EXPECT_EQ(largest_choose(choose(large, k) - 1, k), large - 1);
        }
    }
}

TEST(Options, ReadSizes) {
    EXPECT_EQ(parse_bytes("1000000", "limit"), 1000000);
    EXPECT_EQ(parse_bytes("2G", "limit"), std::int64_t{2} << 30);
    EXPECT_EQ(parse_bytes("2gb", "limit"), std::int64_t{2} << 30);
    EXPECT_EQ(parse_bytes("1.5GiB", "limit"), std::int64_t{3} << 29);
    EXPECT_EQ(parse_bytes("512M", "limit"), std::int64_t{512} << 20);
    EXPECT_EQ(parse_bytes("4k", "limit"), 4096);
    EXPECT_EQ(parse_bytes("1T", "limit"), std::int64_t{1} << 40);
    for (const char* wrong : {"", "G", "lots", "-1", "1 G", "2X", "2GG", "1e30", "nan", "inf"})
        EXPECT_THROW(parse_bytes(wrong, "limit"), InvalidArgument) << wrong;
    EXPECT_GT(available_node_memory(), 1 << 20);
}

TEST(Text, IsFormatted) {
    EXPECT_EQ(with_commas(1234567), "1,234,567");
    EXPECT_EQ(with_commas(999), "999");
    EXPECT_EQ(with_commas(0), "0");
    EXPECT_EQ(with_commas(-1234), "-1,234");
    EXPECT_EQ(with_commas(-123), "-123");
    EXPECT_EQ(scientific(1.234e9), "1.23e+09");
    EXPECT_EQ(percent(0.0123), "1.2 %");
    EXPECT_EQ(readable_type("N5arges9PlusTimesIbEE"), "bool");
    EXPECT_EQ(readable_type("double"), "double");
    EXPECT_EQ(pad("ab", 4) + "|", "ab  |");
    EXPECT_EQ(pad_left("ab", 4), "  ab");
    EXPECT_EQ(pad("abcde", 4), "abcde");
}

TEST(Workspace, GivesBackWhatWasTakenSinceAMark) {
    Workspace workspace;
    workspace.reserve(1024);
    const auto mark = workspace.mark();
    auto* first = workspace.take<double>(8);
    auto* second = workspace.take<float>(3);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % 64, 0U);
    EXPECT_EQ(reinterpret_cast<std::byte*>(second) - reinterpret_cast<std::byte*>(first), 64);
    auto* beyond = workspace.take<double>(1000);  // more than was reserved
    beyond[999] = 1;
    workspace.release(mark);
    EXPECT_EQ(workspace.take<double>(8), first);
    workspace.release(mark);
    workspace.clear();
    EXPECT_EQ(workspace.capacity(), 0);
    EXPECT_NE(workspace.take<double>(1), nullptr);
}

TEST(Buffer, IsAlignedZeroedAndCopied) {
    auto a = Buffer<double>::zeros(5);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0U);
    for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(a[i], 0);
    a[3] = 7;
    const auto b = a.copy();
    a.zero();
    EXPECT_EQ(b[3], 7);
    EXPECT_EQ(b.bytes(), 40U);
    EXPECT_EQ(Buffer<double>(0).data(), nullptr);
    EXPECT_EQ(Buffer<double>(0).copy().size(), 0);
}

TEST(Buffer, OfAnySizeStartsZeroWhereAskedAndKeepsItsElements) {
    const std::int64_t huge_page = std::int64_t(1) << 21;
    for (std::int64_t size : {huge_page - 1, huge_page, huge_page + 1, 2 * huge_page - 100, 2 * huge_page - 1, 5 * huge_page + 12345}) {
        for (int round = 0; round < 2; ++round) {  // memory may be what the last round gave back
            auto a = Buffer<char>::zeros(size);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0U);
            for (std::int64_t i = 0; i < size; ++i) ASSERT_EQ(a[i], 0) << i << " of " << size;
            for (std::int64_t i = 0; i < size; ++i) a[i] = static_cast<char>(i % 101);
            const auto b = a.copy();
            auto c = std::move(a);
            for (std::int64_t i = 0; i < size; ++i) ASSERT_TRUE(b[i] == i % 101 && c[i] == i % 101) << i << " of " << size;
        }
    }
    EXPECT_THROW(Buffer<char>(std::int64_t(1) << 60), OutOfMemory);
}

TEST(ReadNumber, TakesWholeWordsOnly) {
    int whole = 0;
    double real = 0;
    EXPECT_TRUE(read_number("-12", whole));
    EXPECT_EQ(whole, -12);
    EXPECT_TRUE(read_number("1.5e3", real));
    EXPECT_EQ(real, 1500);
    for (const char* word : {"", "12 ", " 12", "+12", "12a", "1.5", "99999999999"}) EXPECT_FALSE(read_number(word, whole)) << word;
}

}  // namespace
}  // namespace arges::test

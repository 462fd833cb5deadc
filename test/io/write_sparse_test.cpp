// Sparse tensors through every form of file, and binary files that are wrong.
#include "comm/values.hpp"
#include "io/sparse_files.hpp"
#include "io/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace arges::test {
namespace {

const std::vector<Numbers> shapes{{9},
                                  {40, 1},
                                  {13, 11, 17},
                                  {5, 7, 3, 11},
                                  {2, 3, 2, 5, 3},
                                  {3, 2, 2, 3, 2, 4},
                                  {std::int64_t{1} << 40, 1000000000000000000, 3},
                                  Numbers(16, 3)};

template <class T>
void expect_round_trips(const World& world) {
    const TemporaryFolder folder(world);
    for (std::size_t s = 0; s < shapes.size(); ++s)
        for (std::int64_t count : {s % 3 == 0 ? 0 : static_cast<std::int64_t>(s), std::int64_t{500}}) {
            SCOPED_TRACE(s);
            const auto X = random_tensor<T>(world, s, shapes[s], count);
            SparseReadOptions options;
            options.lengths = shapes[s];
            options.base = s % 2 == 0 ? IndexBase::one : IndexBase::zero;
            for (const char* name : {"x.tns", "x.tns.gz", "x.atns"}) {
                SCOPED_TRACE(name);
                write_sparse(X, folder / name, options.base);
                const auto file = read_sparse<T>(world, folder / name, options);
                EXPECT_EQ(file.tensor.gather(), X.gather());
                EXPECT_EQ(file.tensor.lengths(), shapes[s]);
                EXPECT_EQ(file.report.entries, X.nonzeros());
                EXPECT_EQ(file.report.duplicates, 0);
            }
        }
    EXPECT_EQ(folder.files(), 3);  // nothing temporary is left
}

TEST(WriteSparse, RoundTripsDoubles) { expect_round_trips<double>(World()); }
TEST(WriteSparse, RoundTripsFloats) { expect_round_trips<float>(World()); }

TEST(WriteSparse, GivesTextThatIsKnown) {
    const World world;
    const TemporaryFolder folder(world);
    SparseTensor<double> X(world, {3, 4});
    const bool last = world.rank() + 1 == world.size();
    X.write_at(last ? Numbers{0, 3, 2, 0} : Numbers{}, last ? std::vector<double>{0.1, -1e300} : std::vector<double>{}, Duplicates::refuse);
    write_sparse(X, folder / "x.tns");
    const auto text = TemporaryFolder::read(folder / "x.tns");
    EXPECT_TRUE(text == "1 4 0.1\n3 1 -1e+300\n" || text == "3 1 -1e+300\n1 4 0.1\n") << text;
    X.erase();
    write_sparse(X, folder / "x.tns");
    EXPECT_EQ(TemporaryFolder::read(folder / "x.tns"), "# no nonzeros, 3 x 4\n");
}

TEST(WriteSparse, BinaryOfManyBlocksIsReadOnAnyRanksAndAsFloat) {
    const World world;
    const TemporaryFolder folder(world);
    const auto X = random_tensor<double>(world, 3, {1000, 1000, 1000}, 150000);
    write_sparse(X, folder / "x.atns");
    const auto file = read_sparse<double>(world, folder / "x.atns");
    EXPECT_EQ(file.tensor.gather(), X.gather());
    EXPECT_LE(std::abs(file.tensor.local_nonzeros() - X.nonzeros() / world.size()), 1);
    auto small = random_tensor<double>(world, 3, {10, 10}, 20);
    for (auto& value : small.local_values()) value = 1.1;
    write_sparse(small, folder / "y.atns");
    EXPECT_EQ(read_sparse<float>(world, folder / "y.atns").tensor.gather().values,
              std::vector<float>(static_cast<std::size_t>(small.nonzeros()), 1.1F));
    small.fill(1e300);
    write_sparse(small, folder / "y.atns");
    EXPECT_NE(message_of_reading<float>(world, folder / "y.atns").find("read it as double"), std::string::npos);
}

TEST(Binary, IsRefusedWhenAnyByteIsWrongOrMissing) {
    const World world;
    const TemporaryFolder folder(world);
    const auto X = random_tensor<double>(world, 5, {6, 7, 8}, 40);
    write_sparse(X, folder / "x.atns");
    const auto good = TemporaryFolder::read(folder / "x.atns");
    for (std::size_t i = 8; i < good.size(); i += i < 64 ? 3 : 61) {
        auto bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 0x11);
        const auto path = folder.write("bad.atns", bad);
        EXPECT_THROW(read_sparse<double>(world, path), Error) << i;
    }
    const auto without_end = folder.write("cut.atns", good.substr(0, good.size() - 3));
    EXPECT_NE(message_of_reading(world, without_end).find("the file ends too early"), std::string::npos);
    EXPECT_NE(message_of_reading(world, folder.write("short.atns", good.substr(0, 30))).find("the file ends too early"), std::string::npos);
    EXPECT_NE(message_of_reading(world, folder.write("long.atns", good + "x")).find("bytes instead of"), std::string::npos);
    auto damaged = good;
    damaged[good.size() - 10] ^= 1;
    EXPECT_NE(message_of_reading(world, folder.write("d.atns", damaged)).find("the checksum of block"), std::string::npos);
    SparseReadOptions options;
    options.lengths = {6, 7, 9};
    EXPECT_EQ(message_of_reading(world, folder / "x.atns", options), folder / "x.atns" +
                                                                         ": the tensor is 6 x 7 x 8, but 6 x 7 x 9 is demanded; "
                                                                         "correct the lengths, or read another file");
}

/// SPLATT's coordinate form, as its documentation and our notes on it say.
template <class I, class V>
std::string splatt_file(const Numbers& lengths, const std::vector<Numbers>& columns, const std::vector<double>& values) {
    std::string bytes;
    const auto put = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
    put(std::int32_t{0});
    put(std::uint64_t{sizeof(I)});
    put(std::uint64_t{sizeof(V)});
    put(static_cast<I>(lengths.size()));
    for (auto n : lengths) put(static_cast<I>(n));
    put(static_cast<I>(values.size()));
    for (const auto& column : columns)
        for (auto i : column) put(static_cast<I>(i));
    for (auto v : values) put(static_cast<V>(v));
    return bytes;
}

TEST(SplattBinary, IsReadInAllWidthsAndCheckedForDuplicates) {
    const World world;
    const TemporaryFolder folder(world);
    const Numbers lengths{3, 4, 5};
    const std::vector<Numbers> columns{{0, 2, 0, 1}, {3, 0, 3, 1}, {4, 0, 4, 2}};
    const std::vector<double> values{1, 2, 3, 0.5};
    const auto path = folder / "x.bin";
    for (const auto& bytes :
         {splatt_file<std::uint32_t, float>(lengths, columns, values), splatt_file<std::uint64_t, double>(lengths, columns, values),
          splatt_file<std::uint32_t, double>(lengths, columns, values), splatt_file<std::uint64_t, float>(lengths, columns, values)}) {
        folder.write("x.bin", bytes);
        const auto file = read_sparse<double>(world, path);
        EXPECT_EQ(file.report.form, "SPLATT binary");
        EXPECT_EQ(file.report.duplicates, 1);
        EXPECT_EQ(file.tensor.gather(), (SparseEntries<double>{{{2, 1, 0}, {0, 1, 3}, {0, 2, 4}}, {2, 0.5, 4}}));
        SparseReadOptions refuse;
        refuse.duplicates = Duplicates::refuse;
        EXPECT_NE(message_of_reading(world, path, refuse).find("nonzero 3: a second value for element (0, 3, 4), which nonzero 1 has"),
                  std::string::npos);
        EXPECT_NE(message_of_reading(world, folder.write("cut.bin", bytes.substr(0, bytes.size() - 1))).find("ends too early"),
                  std::string::npos);
        EXPECT_NE(message_of_reading(world, folder.write("cut.bin", bytes.substr(0, 25))).find("ends within its header"),
                  std::string::npos);
        for (std::size_t length = 1; length<bytes.size(); length += world.size()> 1 ? 17 : 1)
            EXPECT_NE(message_of_reading(world, folder.write("cut.bin", bytes.substr(0, length))), "no exception") << length;
    }
    folder.write("w.bin", splatt_file<std::uint32_t, double>({3, 4, 4}, columns, values));
    EXPECT_NE(message_of_reading(world, folder / "w.bin").find("index 4 in a mode of length 4"), std::string::npos);
    folder.write("w.bin", splatt_file<std::uint32_t, double>(lengths, columns, {1, 2, NAN, 3}));
    EXPECT_NE(message_of_reading(world, folder / "w.bin").find("not a number"), std::string::npos);
}

TEST(Compacted, RemovesEmptySlicesAndMapsBack) {
    const World world;
    const TemporaryFolder folder(world);
    const Communicator comm(world.communicator());
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const auto X =
            random_tensor<double>(world, seed, {1000000, 30, std::int64_t{1} << 50}, seed == 0 ? 0 : 50 * static_cast<std::int64_t>(seed));
        const auto compact = compacted(X);
        auto restored = compact.tensor.gather();
        const auto expected = X.gather();
        for (int m = 0; m < 3; ++m) {
            const auto mode = static_cast<std::size_t>(m);
            const auto map = gathered(comm, compact.maps[mode]);
            EXPECT_EQ(map.size(), std::set(expected.indices[mode].begin(), expected.indices[mode].end()).size());
            EXPECT_EQ(compact.tensor.lengths()[mode], static_cast<std::int64_t>(map.size()));
            EXPECT_TRUE(std::is_sorted(map.begin(), map.end()));
            for (auto& index : restored.indices[mode]) index = map[static_cast<std::size_t>(index)];
            write_map(world, compact.maps[mode], folder / "m.map");
            std::string text;
            for (auto index : map) text += std::to_string(index + 1) + "\n";
            EXPECT_EQ(TemporaryFolder::read(folder / "m.map"), text);
            comm.barrier();
        }
        EXPECT_EQ(restored, expected);
    }
}

}  // namespace
}  // namespace arges::test

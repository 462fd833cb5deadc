// Checkpoints: what is written on some ranks is read on others, bit by bit.
#include "arges/arges.hpp"
#include "comm/values.hpp"
#include "interface/dense/tensor_state.hpp"
#include "io/dense/packed_order.hpp"
#include "io/dense/slab_exchange.hpp"
#include "io/dense/tensor_files.hpp"
#include "io/temporary_folder.hpp"
#include "layout/layout.hpp"
#include "support/tensor_checks.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace arges {
namespace {

using namespace test;
using Numbers = std::vector<std::int64_t>;

/// The bytes of what a rank holds.
template <class T>
std::vector<std::byte> local_bytes(const Tensor<T>& tensor) {
    const HostElements here(*tensor.state());
    return {here.data(), here.data() + tensor.state()->bytes.size()};
}

bool in_blocks(const World& world) { return world.state()->group_mapping() == GroupMapping::blocks; }

/// Values whose bits are compared: also negative zeros, infinities, and NaNs with a payload.
template <class T>
void fill_with_odd_bits(Tensor<T>& tensor, std::uint64_t seed) {
    tensor.fill_random(seed);
    tensor.for_each_local([](Index index, T& value) {
        std::int64_t sum = 0;
        for (auto i : index) sum = 3 * sum + i;
        if (sum % 7 == 3) value = T(-real_of<T>(0));
        if (sum % 11 == 5) value = T(std::numeric_limits<real_of<T>>::infinity());
        if (sum % 13 == 6) value = T(std::numeric_limits<real_of<T>>::quiet_NaN());
    });
}

/// Every bit; in blocks, negative zeros may have become positive.
template <class T>
void expect_same(const Tensor<T>& tensor, const Tensor<T>& expected) {
    EXPECT_EQ(tensor.extents(), expected.extents());
    EXPECT_TRUE(tensor.symmetry() == expected.symmetry());
    if (in_blocks(tensor.world()))
        EXPECT_EQ(tensor.gather(), expected.gather());
    else
        EXPECT_TRUE(local_bytes(tensor) == local_bytes(expected)) << testing::PrintToString(tensor.gather());
}

template <class T>
void expect_round_trips() {
    const World world;
    const TemporaryFolder folder(world);
    std::vector<Tensor<T>> tensors;
    with_all_mappings(world, [&] {
        tensors.clear();
        for (const auto& shape : shapes_for(is_complex<T>)) {
            tensors.emplace_back(world, shape.extents, shape.symmetry());
            if (in_blocks(world))
                tensors.back().fill_random(1 + tensors.size());
            else
                fill_with_odd_bits(tensors.back(), 1 + tensors.size());
        }
        CheckpointWriter writer(world, folder / "all.h5");
        for (std::size_t i = 0; i < tensors.size(); ++i) writer.add("T" + std::to_string(i), tensors[i]);
        writer.commit();
        const CheckpointReader reader(world, folder / "all.h5");
        EXPECT_EQ(reader.tensors().size(), tensors.size());
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            SCOPED_TRACE(tensors[i].layout_to_string() + " " + tensors[i].symmetry().to_string());
            expect_same(reader.read<T>("T" + std::to_string(i)), tensors[i]);
        }
    });
    EXPECT_EQ(folder.files(), 1);
}

TEST(Checkpoint, KeepsTensorsOfFloats) { expect_round_trips<float>(); }
TEST(Checkpoint, KeepsTensorsOfDoubles) { expect_round_trips<double>(); }
TEST(Checkpoint, KeepsTensorsOfComplexFloats) { expect_round_trips<std::complex<float>>(); }
TEST(Checkpoint, KeepsTensorsOfComplexDoubles) { expect_round_trips<std::complex<double>>(); }

/// A node's index tuples in the order of packed indices, by enumeration: children in sorted order, the last one slowest.
std::vector<std::map<int, std::int64_t>> packed_tuples(const SymmetryNode& node, const Numbers& extents) {
    std::vector<std::map<int, std::int64_t>> result;
    if (node.kind == NodeKind::leaf) {
        for (std::int64_t i = 0; i < extents[static_cast<std::size_t>(node.dimension)]; ++i) result.push_back({{node.dimension, i}});
        return result;
    }
    std::vector<std::vector<std::map<int, std::int64_t>>> of_child;
    for (const auto& child : node.children) of_child.push_back(packed_tuples(child, extents));
    const bool is_strict = node.kind == NodeKind::antisymmetric || node.kind == NodeKind::hollow;
    const auto add = [&](auto&& self, std::size_t child, std::size_t limit, const std::map<int, std::int64_t>& behind) -> void {
        const auto& tuples = of_child[child];
        for (std::size_t i = 0; i < std::min(limit, tuples.size()); ++i) {
            auto whole = behind;
            whole.insert(tuples[i].begin(), tuples[i].end());
            if (child == 0)
                result.push_back(whole);
            else
                self(self, child - 1, node.kind == NodeKind::product ? tuples.size() * 1000 : is_strict ? i : i + 1, whole);
        }
    };
    if (node.children.empty())
        result.emplace_back();
    else
        add(add, node.children.size() - 1, SIZE_MAX, {});
    return result;
}

/// All slabs of all ranks, in order.
template <class T>
std::vector<T> stored(const Tensor<T>& tensor, const io::SlabExchange& slabs) {
    std::vector<T> mine;
    std::int64_t next = -1;
    slabs.store(*tensor.state(), [&](const io::Slab& slab) {
        if (next >= 0) {
            EXPECT_EQ(slab.first, next);
        }
        next = slab.first + slab.count;
        EXPECT_EQ(slab.bytes, slab.count * static_cast<std::int64_t>(sizeof(T)));
        const auto* const values = reinterpret_cast<const T*>(slab.elements);
        mine.insert(mine.end(), values, values + slab.count);
    });
    return gathered(tensor.world().state()->communicator(), mine);
}

TEST(Slabs, AreInTheOrderOfPackedIndices) {
    using T = std::complex<double>;
    const World world;
    for_each_shape<T>(world, 5, [&](const Shape& shape, const Dense& dense, const Tensor<T>& tensor) {
        std::vector<T> expected;
        for (const auto& tuple : packed_tuples(product(shape.symmetry().slots()), shape.extents)) {
            Numbers x;
            for (const auto& [dimension, index] : tuple) x.push_back(index);
            expected.push_back(dense.at(x));
        }
        for (std::int64_t bytes : {1, 100, 1000})
            EXPECT_EQ(stored(tensor, io::SlabExchange(io::SlotOrder::first_fastest, bytes)), expected) << bytes;
    });
}

TEST(Slabs, AreInTheOrderOfC) {
    const World world;
    for_each_shape<double>(world, 6, [&](const Shape& shape, const Dense& dense, const Tensor<double>& tensor) {
        if (!is_plain(tensor.state()->shape())) return;
        std::vector<double> expected;
        for (std::size_t k = 0; k < dense.data.size(); ++k) {
            Numbers x(shape.extents.size());
            auto rest = static_cast<std::int64_t>(k);
            for (std::size_t d = x.size(); d-- > 0;) {
                x[d] = rest % shape.extents[d];
                rest /= shape.extents[d];
            }
            expected.push_back(dense.at(x).real());
        }
        for (std::int64_t bytes : {8, 24, 400})
            EXPECT_EQ(stored(tensor, io::SlabExchange(io::SlotOrder::last_fastest, bytes)), expected) << bytes;
    });
}

TEST(Slabs, BringTensorsBack) {
    const World world;
    for_each_shape<float>(world, 7, [&](const Shape& shape, const Dense&, const Tensor<float>& tensor) {
        for (auto order : {io::SlotOrder::first_fastest, io::SlotOrder::last_fastest})
            for (std::int64_t bytes : {4, 52, 1000}) {
                const io::SlabExchange slabs(order, bytes);
                const auto all = stored(tensor, slabs);
                Tensor<float> back(world, shape.extents, shape.symmetry());
                slabs.load(*back.state(), [&](const io::Slab& slab) {
                    std::memcpy(slab.elements, all.data() + slab.first, static_cast<std::size_t>(slab.bytes));
                });
                expect_same(back, tensor);
            }
    });
}

TEST(SymmetryText, IsReadBackWithTheOrderOfSlots) {
    for (const auto& shape : shapes())
        EXPECT_EQ(io::symmetry_of_text(io::symmetry_text(shape.symmetry()), static_cast<int>(shape.extents.size())), shape.symmetry());
    const Symmetry turned(4, product({leaf(3), antisymmetric({leaf(2), leaf(0)})}));
    EXPECT_EQ(io::symmetry_text(turned), "product(3,antisym(2,0),1)");
    EXPECT_EQ(io::symmetry_of_text("product(3,antisym(2,0),1)", 4), turned);
    for (const char* wrong : {"", "3", "antisym(0,1)", "product(0,1", "product(0,1))", "product(0,)", "product(sum(0,1))", "product(0,0)",
                              "product(0,7)", "product(antisym(0,))", "product(antisym)"})
        EXPECT_THROW((void)io::symmetry_of_text(wrong, 2), InvalidArgument) << wrong;
}

/// The first `ranks` ranks of all; outside() on others.
class FirstRanks {
public:
    FirstRanks(const World& all, std::int64_t ranks) {
        MPI_Comm comm = MPI_COMM_NULL;
        const bool is_in = all.rank() < ranks;
        MPI_Comm_split(all.communicator(), is_in ? 0 : MPI_UNDEFINED, 0, &comm);
        if (is_in) world_.emplace(comm);
        if (is_in) MPI_Comm_free(&comm);
    }
    template <class F>
    void run(const F& f) const {
        if (world_) f(*world_);
    }

private:
    std::optional<World> world_;
};

const Shape& shape_of_worlds(std::size_t number) {
    static const std::vector<Shape> shapes{{{7, 7, 5, 5}, "abij", "antisym(a,b) antisym(i,j)"},
                                           {{4, 4, 3, 3}, "abij", "sym(product(a,i),product(b,j))"},
                                           {{6, 6, 6}, "ijk", "sym(i,j,k)"},
                                           {{3, 8, 2}, "ijk", ""},
                                           {{}, "", ""}};
    return shapes[number];
}

template <class T>
Tensor<T> tensor_of_worlds(const World& world, std::size_t number) {
    const auto& shape = shape_of_worlds(number);
    Tensor<T> tensor(world, shape.extents, shape.symmetry());
    tensor.fill_random(number + 1);
    return tensor;
}

void write_mixed(const World& world, const std::string& path) {
    CheckpointWriter writer(world, path);
    writer.add("t2", tensor_of_worlds<double>(world, 0));
    writer.set("energy", -76.25);
    writer.add("pair", tensor_of_worlds<std::complex<double>>(world, 1));
    writer.add("cube", tensor_of_worlds<float>(world, 2));
    writer.set("iteration", 7);
    writer.add("dense one", tensor_of_worlds<std::complex<float>>(world, 3));
    writer.add("scalar", tensor_of_worlds<double>(world, 4));
    writer.commit();
}

void expect_mixed(const World& world, const std::string& path) {
    const CheckpointReader reader(world, path);
    expect_same(reader.read<double>("t2"), tensor_of_worlds<double>(world, 0));
    expect_same(reader.read<std::complex<double>>("pair"), tensor_of_worlds<std::complex<double>>(world, 1));
    expect_same(reader.read<float>("cube"), tensor_of_worlds<float>(world, 2));
    expect_same(reader.read<std::complex<float>>("dense one"), tensor_of_worlds<std::complex<float>>(world, 3));
    expect_same(reader.read<double>("scalar"), tensor_of_worlds<double>(world, 4));
    auto t2 = Tensor<double>(world, {7, 7, 5, 5}, "abij", "antisym(a,b) antisym(i,j)");
    reader.read_into("t2", t2);
    expect_same(t2, tensor_of_worlds<double>(world, 0));
    EXPECT_EQ(reader.value<double>("energy"), -76.25);
    EXPECT_EQ(reader.value<std::int64_t>("iteration"), 7);
}

TEST(Checkpoint, IsTheSameFileFromAnyNumberOfRanks) {
    const World all;
    const TemporaryFolder folder(all);
    for (std::int64_t writers = 1; writers <= all.size(); ++writers) {
        const auto path = folder / ("from_" + std::to_string(writers));
        FirstRanks(all, writers).run([&](const World& world) { write_mixed(world, path); });
        folder.files();  // waits for the others
        for (std::int64_t readers = 1; readers <= all.size(); ++readers)
            FirstRanks(all, readers).run([&](const World& world) { expect_mixed(world, path); });
        EXPECT_TRUE(TemporaryFolder::read(path) == TemporaryFolder::read(folder / "from_1")) << writers;
    }
}

TEST(Checkpoint, SaysWhatIsInIt) {
    const World world;
    const TemporaryFolder folder(world);
    write_mixed(world, folder / "c.h5");
    const CheckpointReader reader(world, folder / "c.h5");
    ASSERT_EQ(reader.tensors().size(), 5u);
    EXPECT_EQ(reader.tensors()[0].name, "cube");
    const auto& t2 = reader.tensor("t2");
    EXPECT_EQ(t2.element, ElementType::float64);
    EXPECT_EQ(t2.extents, (Numbers{7, 7, 5, 5}));
    EXPECT_EQ(t2.symmetry, Symmetry::parse("abij", "antisym(a,b) antisym(i,j)"));
    EXPECT_EQ(t2.packed_size, 21 * 10);
    EXPECT_EQ(to_string(reader.tensor("dense one").element), "complex64");
    EXPECT_TRUE(reader.has_tensor("pair") && reader.has_value("energy"));
    EXPECT_FALSE(reader.has_tensor("energy") || reader.has_value("pair"));
    EXPECT_EQ(reader.value_names(), (std::vector<std::string>{"energy", "iteration"}));
}

TEST(Checkpoint, KeepsValues) {
    const World world;
    const TemporaryFolder folder(world);
    const std::string long_text(100000, 'x');
    std::vector<double> many(20000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = 1.0 / static_cast<double>(i + 1);
    {
        CheckpointWriter writer(world, folder / "v.h5");
        writer.set("text", "ccsd(t) \xCE\xB1");
        writer.set("empty", "");
        writer.set("long", long_text);
        writer.set("most", INT64_MAX);
        writer.set("least", INT64_MIN);
        writer.set("tiny", 5e-324);
        writer.set("many", many);
        writer.set("none", std::vector<double>{});
        for (int i = 0; i < 30; ++i) writer.set("n" + std::to_string(i), i);
        writer.set("rank", world.rank());  // that of rank 0 counts
        writer.commit();
    }
    const CheckpointReader reader(world, folder / "v.h5");
    EXPECT_EQ(reader.value<std::string>("text"), "ccsd(t) \xCE\xB1");
    EXPECT_EQ(reader.value<std::string>("empty"), "");
    EXPECT_EQ(reader.value<std::string>("long"), long_text);
    EXPECT_EQ(reader.value<std::int64_t>("most"), INT64_MAX);
    EXPECT_EQ(reader.value<std::int64_t>("least"), INT64_MIN);
    EXPECT_EQ(reader.value<double>("tiny"), 5e-324);
    EXPECT_EQ(reader.value<std::vector<double>>("many"), many);
    EXPECT_EQ(reader.value<std::vector<double>>("none"), std::vector<double>{});
    EXPECT_EQ(reader.value<std::int64_t>("n29"), 29);
    EXPECT_EQ(reader.value<std::int64_t>("rank"), 0);
}

}  // namespace
}  // namespace arges

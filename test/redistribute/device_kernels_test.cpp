// The table of a device against the library's own: a real one with ARGES_DEVICE=cuda, else that of the tests. Arrays lie on either side.
#include "base/buffer.hpp"
#include "local/row_products.hpp"
#include "local/scalar.hpp"
#include "local/transfer.hpp"
#include "plan/product/pair_split.hpp"
#include "support/named_values.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace arges::test {
namespace {

/// Elements on the device, or on the host.
template <class T>
class Placed {
public:
    Placed(const std::vector<T>& elements, const MemorySpace* space) : array_(std::max<std::int64_t>(1, std::ssize(elements)), space) {
        copy_array(array_.data(), elements.data(), bytes(elements), space);
    }
    T* data() { return array_.data(); }
    std::vector<T> elements(std::size_t count) const {
        std::vector<T> result(count);
        copy_array(result.data(), array_.data(), bytes(result), array_.space());
        return result;
    }

private:
    static std::int64_t bytes(const std::vector<T>& elements) { return std::ssize(elements) * std::int64_t{sizeof(T)}; }
    Buffer<T> array_;
};

template <class T>
class DeviceKernels : public ::testing::Test {
protected:
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
    /// Small integers, whose sums and products are exact.
    std::vector<T> numbers(std::int64_t count) {
        std::vector<T> result;
        const auto part = [&] { return static_cast<real_of<T>>(below(9) - 4); };
        for (std::int64_t i = 0; i < count; ++i)
            if constexpr (local::is_complex<T>)
                result.emplace_back(part(), part());
            else
                result.push_back(part());
        return result;
    }
    /// One operand is on the device for sure.
    const MemorySpace* somewhere() { return below(3) > 0 ? device_->space : nullptr; }

    /// f(table, from, to) by both tables.
    template <class F>
    void compare(const std::vector<T>& from, const std::vector<T>& to, const std::string& what, F&& f) {
        auto expected = to;
        f(*host_, from.data(), expected.data());
        const bool first = below(2) == 0;
        Placed<T> source(from, first ? device_->space : somewhere()), target(to, first ? somewhere() : device_->space);
        f(*device_, static_cast<const T*>(source.data()), target.data());
        ASSERT_EQ(target.elements(to.size()), expected) << what;
    }

    /// Axes in a random order with dense strides on either side, some of them as lists.
    struct Transfers {
        std::vector<local::TransferAxis> axes;
        std::vector<std::vector<std::int64_t>> lists;
        std::vector<std::vector<std::uint8_t>> factors;
        std::int64_t from = 1, to = 1;
    };
    Transfers random_transfer(const std::vector<std::int64_t>& lengths, bool repeats) {
        Transfers t;
        for (auto length : lengths) t.axes.push_back({.count = length});
        std::vector<std::size_t> order(t.axes.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random_);
        for (const auto a : order) t.axes[a].from_stride = std::exchange(t.from, t.from * t.axes[a].count);
        std::shuffle(order.begin(), order.end(), random_);
        for (const auto a : order) {
            auto& axis = t.axes[a];
            if (repeats && below(2) == 0) continue;  // a sum over it
            axis.to_stride = std::exchange(t.to, t.to * axis.count);
        }
        for (auto& axis : t.axes) {
            if (below(3) > 0) continue;
            std::vector<std::int64_t> from, to;
            std::vector<std::uint8_t> factor;
            for (std::int64_t i = 0; i < axis.count; ++i) {
                from.push_back((axis.count - 1 - i) * axis.from_stride);
                to.push_back((repeats ? i / 3 : (i + 1) % axis.count) * axis.to_stride);
                factor.push_back(static_cast<std::uint8_t>(below(4)));
            }
            axis.from = t.lists.emplace_back(std::move(from)).data();
            axis.to = t.lists.emplace_back(std::move(to)).data();
            axis.factor = t.factors.emplace_back(std::move(factor)).data();
        }
        std::shuffle(t.axes.begin(), t.axes.end(), random_);
        return t;
    }

    const ElementKernels *host_ = &element_kernels<T>(), *device_ = &device_kernels<T>();
    std::mt19937_64 random_{11};
};
using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DeviceKernels, Types);

/// What is copied to the device may be changed on the host at once; copies follow each other and kernels.
TYPED_TEST(DeviceKernels, Copies) {
    const auto* const space = this->device_->space;
    for (int i = 0; i < 200; ++i) {
        const auto count = this->below(i % 3 == 0 ? 20 : 5000) + 1, first = this->below(count), size = this->below(count - first) + 1;
        const auto all = this->numbers(count), some = this->numbers(size);
        Buffer<TypeParam> there(count, space);
        auto given = all;
        copy_array(there.data(), given.data(), count * std::int64_t{sizeof(TypeParam)}, space);
        given = some;
        copy_array(there.data() + first, given.data(), size * std::int64_t{sizeof(TypeParam)}, space);
        given.assign(given.size(), TypeParam(7));
        auto expected = all;
        std::copy(some.begin(), some.end(), expected.begin() + first);
        if (this->below(2) == 0) {
            const TypeParam two(2);
            this->device_->scale(there.data(), count, &two);
            for (auto& x : expected) x = two * x;
        }
        std::vector<TypeParam> found(static_cast<std::size_t>(size)), whole(expected.size());
        copy_array(found.data(), there.data() + first, size * std::int64_t{sizeof(TypeParam)}, space);
        copy_array(whole.data(), there.data(), count * std::int64_t{sizeof(TypeParam)}, space);
        ASSERT_EQ(whole, expected) << count;
        ASSERT_TRUE(std::equal(found.begin(), found.end(), expected.begin() + first)) << count << ", " << first;
    }
}

TYPED_TEST(DeviceKernels, Transfer) {
    const std::vector<std::vector<std::int64_t>> shapes{{},          {1},    {7},           {5000}, {40, 70}, {3, 100}, {2, 3, 4, 5, 6},
                                                        {33, 2, 35}, {0, 3}, {16, 16, 5, 9}};
    for (int trial = 0; trial < 200; ++trial) {
        const bool accumulate = trial % 2 == 0;
        const auto t =
            this->random_transfer(shapes[static_cast<std::size_t>(this->below(std::ssize(shapes)))], accumulate && trial % 4 == 0);
        const auto alpha = this->numbers(1);
        const local::TransferMode mode{this->below(2) == 0, accumulate};
        this->compare(this->numbers(t.from), this->numbers(t.to), "trial " + std::to_string(trial), [&](auto& table, auto* from, auto* to) {
            table.transfer(t.axes, from, to, trial % 3 == 0 ? nullptr : alpha.data(), mode);
        });
    }
}

TYPED_TEST(DeviceKernels, TransferListed) {
    for (int trial = 0; trial < 60; ++trial) {
        const auto count = this->below(400);
        std::vector<std::int64_t> from(static_cast<std::size_t>(count)), to(from.size());
        std::vector<std::uint8_t> factors(from.size());
        for (auto& x : from) x = this->below(500);
        for (auto& x : factors) x = static_cast<std::uint8_t>(this->below(4));
        std::iota(to.begin(), to.end(), 3);
        const bool accumulate = trial % 2 == 0;
        if (accumulate)
            for (auto& x : to) x = x / 4;
        const local::ListedTransfer list{count, trial % 3 == 0 ? nullptr : from.data(), trial % 5 == 0 ? nullptr : to.data(),
                                         trial % 7 == 0 ? nullptr : factors.data(), static_cast<std::uint8_t>(this->below(4))};
        const auto alpha = this->numbers(1);
        this->compare(this->numbers(500), this->numbers(500), "trial " + std::to_string(trial),
                      [&](auto& table, auto* source, auto* target) {
                          table.transfer_listed(list, source, target, alpha.data(), {trial % 4 == 1, accumulate});
                      });
    }
}

/// Short lists stay on the device, by what is in them: the same call copies nothing, another list at the same place is another one.
TYPED_TEST(DeviceKernels, KeepLists) {
    if (this->device_ != &test_device_kernels<TypeParam>()) GTEST_SKIP() << "arrays are counted on the tests' device";
    const auto* const space = this->device_->space;
    std::vector<std::int64_t> places(700);
    const auto source = this->numbers(std::ssize(places));
    Placed<TypeParam> from(source, space), to(source, space);
    for (int round = 0; round < 600; ++round) {  // more lists than are kept
        std::iota(places.begin(), places.end(), std::int64_t{0});
        for (std::size_t i = places.size(); i-- > 1;)
            std::swap(places[i], places[static_cast<std::size_t>(this->below(static_cast<std::int64_t>(i) + 1))]);
        const local::ListedTransfer list{.count = std::ssize(places), .to = places.data()};
        auto expected = source;
        for (std::size_t i = 0; i < places.size(); ++i) expected[static_cast<std::size_t>(places[i])] = source[i];
        for (int again = 0; again < 2; ++again) {
            const auto before = TestDevice::allocations();
            this->device_->transfer_listed(list, from.data(), to.data(), nullptr, {});
            EXPECT_TRUE(again == 0 || TestDevice::allocations() == before);
            ASSERT_EQ(to.elements(expected.size()), expected);
        }
    }
}

TYPED_TEST(DeviceKernels, Contract) {
    using local::FoldAxis;
    const std::vector<std::vector<std::int64_t>> sizes{{40, 30, 20, 1}, {1, 1, 3000, 1}, {5, 1, 90, 7}, {64, 64, 1, 1},  {0, 3, 4, 1},
                                                       {3, 4, 0, 2},    {70, 1, 80, 1},  {9, 8, 30, 6}, {2, 2, 20000, 1}};
    for (int trial = 0; trial < 120; ++trial) {
        const auto& size = sizes[static_cast<std::size_t>(trial) % sizes.size()];
        local::FoldedContraction f;
        std::vector<FoldAxis*> axes;
        std::vector<FoldAxis>* const groups[] = {&f.m, &f.n, &f.k, &f.batch};
        for (std::size_t g = 0; g < 4; ++g) {
            const auto cut = size[g] > 1 && size[g] % 2 == 0 && this->below(2) == 0 ? 2 : 1;
            groups[g]->push_back({size[g] / cut});
            if (cut == 2) groups[g]->push_back({2});
        }
        const auto give = [&](std::int64_t FoldAxis::*stride, std::initializer_list<int> of) {
            axes.clear();
            for (const auto g : of)
                for (auto& axis : *groups[g]) axes.push_back(&axis);
            std::shuffle(axes.begin(), axes.end(), this->random_);
            std::int64_t all = 1;
            for (auto* axis : axes) axis->*stride = std::exchange(all, all * std::max<std::int64_t>(1, axis->size));
            return all;
        };
        const auto of_a = give(&FoldAxis::stride_a, {0, 2, 3}), of_b = give(&FoldAxis::stride_b, {1, 2, 3}),
                   of_c = give(&FoldAxis::stride_c, {0, 1, 3});
        const auto alpha = this->numbers(1), beta = this->numbers(1), b = this->numbers(of_b);
        Placed<TypeParam> there(b, this->somewhere());
        const auto text = "trial " + std::to_string(trial);
        this->compare(this->numbers(of_a), this->numbers(of_c), text, [&](auto& table, auto* from, auto* to) {
            table.contract(f, alpha.data(), from, &table == this->host_ ? b.data() : there.data(), beta.data(), to);
        });
        if (this->HasFatalFailure()) return;
        if (size[1] == 1)
            this->compare(this->numbers(of_a), this->numbers(of_c), "sum of " + text,
                          [&](auto& table, auto* from, auto* to) { table.reduce(f, alpha.data(), from, beta.data(), to); });
    }
}

TYPED_TEST(DeviceKernels, ProductsByZeroKeepWhatIsNotANumber) {
    using T = TypeParam;
    const local::FoldedContraction f{{{20, 1, 0, 1}}, {{20, 0, 20, 20}}, {{20, 20, 1, 0}}, {}};
    auto a = this->numbers(400);
    a[7] = std::numeric_limits<real_of<T>>::quiet_NaN();
    Placed<T> left(a, this->device_->space), right(this->numbers(400), this->device_->space),
        result(this->numbers(400), this->device_->space);
    const T zero = 0, two = 2;
    this->device_->contract(f, &zero, left.data(), right.data(), &two, result.data());
    const auto c = result.elements(400);
    for (std::size_t i = 0; i < 400; ++i) EXPECT_EQ(c[i] != c[i], i % 20 == 7) << i;
}

TYPED_TEST(DeviceKernels, ElementByElement) {
    using T = TypeParam;
    for (const std::int64_t count : {0, 1, 300, 5000}) {
        const auto value = this->numbers(1);
        auto divisor = this->numbers(count);
        for (auto& x : divisor) x = x == T(0) ? T(1) : T(2);
        const auto some = this->numbers(count);
        this->compare(divisor, some, "scale", [&](auto& table, auto*, auto* to) { table.scale(to, count, value.data()); });
        this->compare(divisor, some, "fill", [&](auto& table, auto*, auto* to) { table.fill(to, count, value.data()); });
        this->compare(divisor, some, "divide", [&](auto& table, auto* from, auto* to) { table.divide(to, from, count); });
        if (this->host_->make_real != nullptr)
            this->compare(divisor, some, "make_real", [&](auto& table, auto*, auto* to) { table.make_real(to, count); });
        const std::vector<double> weights{1, 2, 0, 3};
        const std::vector<std::int64_t> sizes{5, 4, 7}, strides{4, 1, 20};
        this->compare(divisor, this->numbers(140), "scale_along",
                      [&](auto& table, auto*, auto* to) { table.scale_along(sizes, strides, 1, weights, to); });
    }
}

TYPED_TEST(DeviceKernels, FunctionsOfElements) {
    using T = TypeParam;
    using R = real_of<T>;
    const R large = std::numeric_limits<R>::max(), infinity = std::numeric_limits<R>::infinity();
    std::vector<T> a{T(0), T(1), T(-1), T(-R(0)), T(R(0.5)), T(R(-2.5))}, b{T(2), T(0), T(-1), T(3), T(-R(0.5)), T(1)};
    if constexpr (local::is_complex<T>)
        for (const T x : {T(0, 1), T(0, -2), T(-1, R(0)), T(-1, -R(0)), T(3, 4), T(R(-1e-3), R(1e3))}) a.push_back(x);
    else
        for (const T x : {large, -large, infinity, -infinity, std::numeric_limits<R>::quiet_NaN()}) a.push_back(x);
    std::uniform_real_distribution<R> number(-3, 3);
    while (a.size() < 700) {
        if constexpr (local::is_complex<T>)
            a.emplace_back(number(this->random_), number(this->random_));
        else
            a.push_back(number(this->random_));
    }
    while (b.size() < a.size()) b.push_back(a[b.size() * 7 % a.size()] + T(1));
    const auto count = std::ssize(a);
    for (std::size_t k = 0; k < function_names.size(); ++k) {
        const auto f = static_cast<Function>(k);
        if (!runs_on_device(f, local::is_complex<T>)) continue;
        for (const int numbers : {0, 1, 2}) {  // which operand is one
            if (numbers > operands_of(f)) continue;
            Placed<T> first(a, this->device_->space), second(b, this->somewhere());
            Placed<T> target(a, this->somewhere());
            const std::vector<FunctionOperand> operands{numbers == 1 ? FunctionOperand{&a[4], true} : FunctionOperand{first.data(), false},
                                                        numbers == 2 ? FunctionOperand{&b[4], true}
                                                                     : FunctionOperand{second.data(), false}};
            this->device_->apply(f, {operands.data(), static_cast<std::size_t>(operands_of(f))}, target.data(), count);
            const auto found = target.elements(a.size());
            for (std::size_t i = 0; i < a.size(); ++i) {
                const T x = numbers == 1 ? a[4] : a[i], y = numbers == 2 ? b[4] : b[i];
                T wanted = named_value(f, x, y), is = found[i];
                if (local::is_complex<T> && f == Function::abs) is = T(reinterpret_cast<const R*>(found.data())[i]);
                EXPECT_TRUE(this->host_->agree(&is, &wanted, 8 * std::numeric_limits<R>::epsilon() * std::abs(wanted)))
                    << to_string(f) << " of " << x << ", " << y << ": " << is << " for " << wanted;
            }
        }
    }
}

TYPED_TEST(DeviceKernels, Convert) {
    using T = TypeParam;
    const auto check = [&]<class S>(S) {
        if constexpr (is_lossless<S, T> && !std::is_same_v<S, T>) {
            std::vector<S> from;
            for (int i = 0; i < 777; ++i) from.push_back(S(i % 2 == 0));
            std::vector<T> expected(777), found;
            local::convert_elements(typeid(S), *this->host_, from.data(), expected.data(), 777);
            constexpr bool on_device = std::is_floating_point_v<S> || local::is_complex<S>;
            Placed<S> source(from, on_device ? this->device_->space : nullptr);
            Placed<T> target(std::vector<T>(777), this->device_->space);
            this->device_->convert(typeid(S), source.data(), target.data(), 777);
            EXPECT_EQ(target.elements(777), expected);
        }
    };
    check(float());
    check(double());
    check(std::complex<float>());
    check(std::int16_t());
}

TYPED_TEST(DeviceKernels, Reductions) {
    using T = TypeParam;
    for (const std::int64_t count : {1, 5, 300, 70000}) {
        const auto a = this->numbers(3 * count), b = this->numbers(3 * count);
        std::vector<double> weights;
        for (std::int64_t i = 0; i < count; ++i) weights.push_back(static_cast<double>(this->below(3)));
        Placed<T> first(a, this->device_->space), second(b, this->somewhere());
        const auto &sums = *this->device_->reductions, &expected = *this->host_->reductions;
        for (const auto what : {local::RowSum::value, local::RowSum::cancelled, local::RowSum::real, local::RowSum::magnitude,
                                local::RowSum::square, local::RowSum::product, local::RowSum::real_product})
            for (const std::int64_t stride : {1, 3})
                for (const auto* w : {static_cast<const double*>(nullptr), static_cast<const double*>(weights.data())}) {
                    const local::ElementRow row{count, stride, w};
                    const auto found = sums.sum_row(what, row, first.data(), second.data(), 0).number;
                    const auto wanted = expected.sum_row(what, row, a.data(), b.data(), 0).number;
                    EXPECT_LE(std::abs(found - wanted), 1e-12 * std::abs(wanted)) << static_cast<int>(what) << " of " << count;
                    EXPECT_EQ(sums.sum_row(what, row, first.data(), second.data(), 0).number, found);
                }
        EXPECT_EQ(this->device_->count_nonzero(first.data(), 3, weights), this->host_->count_nonzero(a.data(), 3, weights));
        for (const auto what : {local::Best::least, local::Best::largest, local::Best::magnitude})
            EXPECT_EQ(sums.place_of_best(what, first.data(), 3 * count), expected.place_of_best(what, a.data(), 3 * count));
    }
}

TYPED_TEST(DeviceKernels, RowProducts) {
    for (int trial = 0; trial < 60; ++trial) {
        local::RowProduct x;
        const std::int64_t counts[][2] = {{6, 2}, {4, 3}, {12, 1}};
        x.columns = 1 + this->below(3);
        std::int64_t of_b = x.columns, result = x.columns;
        for (auto& child : x.child) {
            const auto& count = counts[this->below(3)];
            bool summed = this->below(2) == 0;
            for (std::size_t i = 0; i < 2; ++i, summed = !summed) {  // one factor is free, the other one summed
                child[i] = {count[i], std::exchange(summed ? of_b : result, (summed ? of_b : result) * count[i]), summed};
            }
        }
        x.strict = this->below(2) == 0;
        x.swapped = this->below(2) == 0 ? 1 : -1;
        x.once = this->below(3) == 0;
        x.row_step = 1 + this->below(3);
        x.first_row = this->below(3);
        x.rows = (11 - x.first_row) / x.row_step + 1;
        const auto alpha = this->numbers(1), b = this->numbers(of_b);
        Placed<TypeParam> there(b, this->somewhere());
        this->compare(
            this->numbers(x.elements()), this->numbers(result), "trial " + std::to_string(trial), [&](auto& table, auto* from, auto* to) {
                table.multiply_rows(x, alpha.data(), from, &table == this->host_ ? b.data() : there.data(), to, result, nullptr, 1);
            });
        if (this->HasFatalFailure()) return;
    }
}

TYPED_TEST(DeviceKernels, PairNodes) {
    const auto triangle = [](std::int64_t n) { return n * (n + 1) / 2; };
    for (int trial = 0; trial < 60; ++trial) {
        const auto alpha = this->numbers(1);
        const bool conjugate = this->below(2) == 0, accumulate = this->below(2) == 0;
        PairSplit split{.p = 1 + this->below(6), .q = 1 + this->below(6), .symmetric = trial % 2 == 0};
        split.stride_q = triangle(split.p);
        this->compare(this->numbers(triangle(split.p * split.q)), this->numbers(triangle(split.p) * triangle(split.q)), "a part",
                      [&](auto& table, auto* from, auto* to) { table.split_pair(split, from, to, alpha.data(), conjugate); });
        PairUnpack pair;
        pair.strict = this->below(2) == 0;
        pair.kind = pair.strict ? NodeKind::antisymmetric : this->below(2) == 0 ? NodeKind::symmetric : NodeKind::hermitian;
        const auto n = 2 + this->below(150);
        std::int64_t stride = 1;
        for (auto& child : pair.child) {
            const bool factors = this->below(2) == 0;
            for (std::int64_t i = 0; i < n; ++i) {
                child.from.push_back(trial % 3 == 0 ? i : (7 * i + 1) % n);
                child.to.push_back(i * stride);
                if (factors) child.factor.push_back(static_cast<std::uint8_t>(this->below(4)));
            }
            stride *= n;
        }
        this->compare(this->numbers(pair.strict ? triangle(n - 1) : triangle(n)), this->numbers(n * n), "a pair",
                      [&](auto& table, auto* from, auto* to) { table.unpack_pair(pair, from, to, alpha.data(), conjugate, accumulate); });
        if (this->HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace arges::test

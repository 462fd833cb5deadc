/// Random products for TAPP's functions, what they are by loops over all labels, and how they are executed.
#pragma once

#include "c/tapp_product.hpp"
#include "tapp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace arges::tapp::test {

using Wide = std::complex<long double>;
using Bytes = std::vector<unsigned char>;

inline constexpr std::size_t bytes_of[] = {4, 8, 8, 16};
inline bool is_complex(TAPP_datatype type) { return type == TAPP_C32 || type == TAPP_C64; }
inline bool is_double(TAPP_datatype type) { return type == TAPP_F64 || type == TAPP_C64; }

inline Wide read(TAPP_datatype type, const unsigned char* at) {
    const auto as = [&]<class T>(T value) {
        std::memcpy(&value, at, sizeof value);
        return Wide(value);
    };
    switch (type) {
    case TAPP_F32: return as(float{});
    case TAPP_F64: return as(double{});
    case TAPP_C32: return as(std::complex<float>{});
    default: return as(std::complex<double>{});
    }
}

inline void write(TAPP_datatype type, unsigned char* at, Wide value) {
    const auto as = [&](auto narrow) { std::memcpy(at, &narrow, sizeof narrow); };
    switch (type) {
    case TAPP_F32: return as(static_cast<float>(value.real()));
    case TAPP_F64: return as(static_cast<double>(value.real()));
    case TAPP_C32: return as(std::complex<float>(value));
    default: return as(std::complex<double>(value));
    }
}

/// A tensor in memory of its own: `start` is the element with index 0 everywhere.
struct Tensor {
    TAPP_datatype type = TAPP_F64;
    std::vector<std::int64_t> labels{}, extents{}, strides{};
    TAPP_element_op op = TAPP_IDENTITY;
    Bytes memory{};
    std::int64_t start = 0;

    unsigned char* at(std::int64_t offset) { return memory.data() + static_cast<std::size_t>(start + offset) * bytes_of[type]; }
    const unsigned char* at(std::int64_t offset) const { return const_cast<Tensor*>(this)->at(offset); }
    Wide value(std::int64_t offset) const {
        const Wide stored = read(type, at(offset));
        return op == TAPP_CONJUGATE && is_complex(type) ? std::conj(stored) : stored;
    }
};

/// A product with its operands, and in which way they share memory.
struct Case {
    std::vector<std::int64_t> extents{};  ///< of each label
    Tensor a{}, b{}, c{}, d{};
    Wide alpha = 1, beta = 1;
    TAPP_prectype precision = TAPP_DEFAULT_PREC;
    bool c_is_d = false;    ///< the same memory
    bool in_place = false;  ///< C is given as TAPP_IN_PLACE
};

/// What the random products of a test may have.
struct Wanted {
    int batch = 0, left = 2, right = 2, summed = 2;  ///< the most labels in A, B and D; in A and D; in B and D; in A and B
    int alone = 0;                                   ///< the most labels in A alone, likewise B
    int repeats = 0;                                 ///< the most modes of A whose label it has already, likewise B
    int repeats_d = 0;                               ///< likewise D
    std::int64_t smallest = 1, largest = 4;          ///< extents
    bool equal_extents = false;
    int negative = 0;  ///< of 4 strides so many are negative
    int zero = 0;      ///< of 4 strides of A and B so many are 0
    int gaps = 0;      ///< of 4 modes so many are parts of longer ones
    bool permuted = true, conjugates = false;
};

class Random {
public:
    explicit Random(std::mt19937_64& engine) : engine_(engine) {}
    std::int64_t integer(std::int64_t first, std::int64_t last) {
        return std::uniform_int_distribution<std::int64_t>(first, last)(engine_);
    }
    bool one_of_four(int yes) { return integer(0, 3) < yes; }
    /// Sixteenths between -4 and 4: most sums are exact in every type.
    Wide number(TAPP_datatype type) {
        const auto part = [&] { return static_cast<long double>(integer(-64, 64)) / 16; };
        return is_complex(type) ? Wide(part(), part()) : Wide(part());
    }
    template <class T>
    void shuffle(std::vector<T>& values) {
        std::ranges::shuffle(values, engine_);
    }

private:
    std::mt19937_64& engine_;
};

/// Strides and memory for the labels of a tensor, and random elements.
inline void lay_out(Tensor& t, const Case& x, const Wanted& w, bool zeros, Random& random) {
    t.extents.clear();
    for (const std::int64_t label : t.labels) t.extents.push_back(x.extents[static_cast<std::size_t>(label)]);
    std::vector<std::size_t> order(t.labels.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (w.permuted) random.shuffle(order);
    t.strides.assign(order.size(), 0);
    std::int64_t dense = random.one_of_four(w.gaps) ? random.integer(1, 3) : 1, first = 0, last = 0;
    for (const std::size_t i : order) {
        const std::int64_t extent = std::max<std::int64_t>(t.extents[i], 1);
        if (!(zeros && random.one_of_four(w.zero))) {
            t.strides[i] = random.one_of_four(w.negative) ? -dense : dense;
            dense *= extent + (random.one_of_four(w.gaps) ? random.integer(1, 3) : 0);
        }
        (t.strides[i] < 0 ? first : last) += (extent - 1) * t.strides[i];
    }
    t.start = -first + 2;
    t.memory.resize(static_cast<std::size_t>(last - first + 5) * bytes_of[t.type]);
    for (std::int64_t i = -t.start; i < last + 3; ++i) write(t.type, t.at(i), random.number(t.type));
    t.op = w.conjugates && random.integer(0, 1) == 1 ? TAPP_CONJUGATE : TAPP_IDENTITY;
}

inline Case random_case(const Wanted& w, std::array<TAPP_datatype, 4> types, Random& random) {
    Case x;
    const std::int64_t equal = random.integer(w.smallest, w.largest);
    const auto add = [&](int most, std::initializer_list<Tensor*> tensors) {
        for (std::int64_t count = random.integer(0, most); count > 0; --count) {
            for (Tensor* tensor : tensors) tensor->labels.push_back(static_cast<std::int64_t>(x.extents.size()));
            x.extents.push_back(w.equal_extents ? equal : random.integer(w.smallest, w.largest));
        }
    };
    add(w.batch, {&x.a, &x.b, &x.d});
    add(w.left, {&x.a, &x.d});
    add(w.right, {&x.b, &x.d});
    add(w.summed, {&x.a, &x.b});
    add(w.alone, {&x.a});
    add(w.alone, {&x.b});
    const auto repeat = [&](Tensor& tensor, int most) {
        const auto known = static_cast<std::int64_t>(tensor.labels.size());
        for (std::int64_t count = known == 0 ? 0 : random.integer(0, most); count > 0; --count)
            tensor.labels.push_back(tensor.labels[static_cast<std::size_t>(random.integer(0, known - 1))]);
        if (w.permuted) random.shuffle(tensor.labels);
    };
    repeat(x.a, w.repeats);
    repeat(x.b, w.repeats);
    repeat(x.d, w.repeats_d);
    x.c.labels = x.d.labels;
    x.a.type = types[0], x.b.type = types[1], x.c.type = types[2], x.d.type = types[3];
    for (Tensor* tensor : {&x.a, &x.b, &x.c, &x.d}) lay_out(*tensor, x, w, tensor == &x.a || tensor == &x.b, random);
    const auto factor = [&] { return random.integer(0, 5) == 0 ? Wide(random.integer(0, 1)) : random.number(x.d.type); };
    x.alpha = factor();
    x.beta = factor();
    return x;
}

/// The offset of a tensor at one combination of the entries of all labels.
inline std::int64_t offset(const Tensor& t, const std::vector<std::int64_t>& index) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < t.labels.size(); ++i) sum += t.strides[i] * index[static_cast<std::size_t>(t.labels[i])];
    return sum;
}

/// Calls f(index) for all entries of the labels for which `chosen` holds.
template <class F>
inline void for_entries(const Case& x, const std::vector<bool>& chosen, std::vector<std::int64_t>& index, std::size_t label, const F& f) {
    if (label == x.extents.size()) return f();
    if (!chosen[label]) return for_entries(x, chosen, index, label + 1, f);
    for (index[label] = 0; index[label] < x.extents[label]; ++index[label]) for_entries(x, chosen, index, label + 1, f);
    index[label] = 0;
}

/// The memory of D after the product, and for each element of it how much it may be off.
struct Expected {
    std::vector<Wide> values{};
    std::vector<long double> scale{};
};

inline Expected by_loops(const Case& x) {
    std::vector<bool> in_d(x.extents.size()), others(x.extents.size(), true);
    for (const std::int64_t label : x.d.labels) in_d[static_cast<std::size_t>(label)] = true;
    for (std::size_t i = 0; i < others.size(); ++i) others[i] = !in_d[i];
    Expected result;
    const auto count = static_cast<std::int64_t>(x.d.memory.size() / bytes_of[x.d.type]);
    for (std::int64_t i = 0; i < count; ++i) result.values.push_back(read(x.d.type, x.d.at(i - x.d.start)));
    result.scale.resize(static_cast<std::size_t>(count), 0);
    const Tensor& c = x.in_place ? x.d : x.c;
    std::vector<std::int64_t> index(x.extents.size());
    for_entries(x, in_d, index, 0, [&] {
        Wide sum = 0;
        long double scale = 0;
        for_entries(x, others, index, 0, [&] {
            const Wide product = x.a.value(offset(x.a, index)) * x.b.value(offset(x.b, index));
            sum += product;
            scale += std::abs(product);
        });
        Wide value = x.alpha == Wide(0) ? Wide(0) : x.alpha * sum;
        scale = x.alpha == Wide(0) ? 0 : scale * std::abs(x.alpha);
        if (x.beta != Wide(0)) {
            const Wide stored = read(c.type, c.at(offset(c, index)));
            const Wide old = x.beta * (x.c.op == TAPP_CONJUGATE ? std::conj(stored) : stored);
            value += old;
            scale += std::abs(old);
        }
        if (x.d.op == TAPP_CONJUGATE) value = std::conj(value);
        if (!is_complex(x.d.type)) value = value.real();
        const auto at = static_cast<std::size_t>(x.d.start + offset(x.d, index));
        result.values[at] = value;
        result.scale[at] = scale;
    });
    return result;
}

/// A description that destroys itself.
struct Info {
    explicit Info(const Tensor& t) {
        EXPECT_EQ(TAPP_create_tensor_info(&value, t.type, static_cast<int>(t.extents.size()), t.extents.data(), t.strides.data()), 0);
    }
    Info(const Info&) = delete;
    ~Info() { EXPECT_EQ(TAPP_destroy_tensor_info(value), 0); }
    TAPP_tensor_info value = 0;
};

struct Executor {
    Executor() { EXPECT_EQ(TAPP_create_executor(&value), 0); }
    Executor(const Executor&) = delete;
    ~Executor() { EXPECT_EQ(TAPP_destroy_executor(value), 0); }
    TAPP_executor value = 0;
};

/// A plan that destroys itself.
struct Plan {
    explicit Plan(const Case& x) {
        TAPP_handle handle = 0;
        EXPECT_EQ(TAPP_create_handle(&handle), 0);
        const Info a(x.a), b(x.b), c(x.c), d(x.d);
        error = TAPP_create_tensor_product(&value, handle, x.a.op, a.value, x.a.labels.data(), x.b.op, b.value, x.b.labels.data(), x.c.op,
                                           c.value, x.c.labels.data(), x.d.op, d.value, x.d.labels.data(), x.precision);
        EXPECT_EQ(TAPP_destroy_handle(handle), 0);
    }
    Plan(const Plan&) = delete;
    ~Plan() { EXPECT_EQ(TAPP_destroy_tensor_product(value), 0); }
    TAPP_tensor_product value = 0;
    TAPP_error error = 0;
};

inline TAPP_error execute(const Plan& plan, const Case& x, Tensor& d) {
    const Executor executor;
    unsigned char alpha[16], beta[16];
    write(x.d.type, alpha, x.alpha);
    write(x.d.type, beta, x.beta);
    TAPP_status status = -1;
    const void* const c = x.in_place ? TAPP_IN_PLACE : x.c_is_d ? d.at(0) : x.c.at(0);
    const TAPP_error error = TAPP_execute_product(plan.value, executor.value, &status, alpha, x.a.at(0), x.b.at(0), beta, c, d.at(0));
    EXPECT_EQ(status, 0);
    EXPECT_EQ(TAPP_destroy_status(status), 0);
    return error;
}

inline std::string text_of(const Case& x) {
    std::string text;
    const auto add = [&](const char* name, const auto& numbers) {
        text += name;
        for (const auto number : numbers) text += " " + std::to_string(number);
    };
    add("extents", x.extents);
    for (const auto& [name, t] : {std::pair{"A", &x.a}, {"B", &x.b}, {"C", &x.c}, {"D", &x.d}}) {
        add((std::string("; ") + name + " type " + std::to_string(t->type) + " op " + std::to_string(t->op) + " labels").c_str(),
            t->labels);
        add(", strides", t->strides);
    }
    return text;
}

inline void expect_near(const Case& x, const Tensor& d, const Expected& expected) {
    const bool in_double = x.precision == TAPP_DEFAULT_PREC ? is_double(x.a.type) || is_double(x.b.type) || is_double(x.d.type)
                                                            : x.precision == TAPP_F64F64_ACCUM_F64;
    const long double unit =
        in_double && is_double(d.type) ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
        const Wide actual = read(d.type, d.at(static_cast<std::int64_t>(i) - d.start));
        const long double error = std::abs(actual - expected.values[i]);
        ASSERT_LE(error, 16 * unit * expected.scale[i]) << "element " << i << " of D is " << actual << " and not " << expected.values[i];
    }
}

/// Executes a product by contractions, and by plain loops where it is small.
inline void expect_like_loops(const Case& x) {
    const Expected expected = by_loops(x);
    for (const std::int64_t listed : {std::int64_t{0}, largest_listed}) {
        SCOPED_TRACE(text_of(x) + (listed == 0 ? "; contracted" : "; listed"));
        set_listed_multiplications(listed);
        const Plan plan(x);
        ASSERT_EQ(plan.error, 0);
        Tensor d = x.d;
        ASSERT_EQ(execute(plan, x, d), 0);
        expect_near(x, d, expected);
    }
}

}  // namespace arges::tapp::test

// Executions of TAPP's products: copies of operands, C to D, the contraction.
#include "c/tapp_combine.hpp"
#include "c/tapp_error.hpp"
#include "c/tapp_product.hpp"

#include "base/buffer.hpp"
#include "local/scalar.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

namespace arges::tapp {
namespace {

const ElementKernels& kernels_of(TAPP_datatype type) {
    switch (type) {
    case TAPP_F32: return element_kernels<float>();
    case TAPP_F64: return element_kernels<double>();
    case TAPP_C32: return element_kernels<std::complex<float>>();
    default: return element_kernels<std::complex<double>>();
    }
}

std::ptrdiff_t bytes_of(TAPP_datatype type) {
    constexpr std::ptrdiff_t bytes[] = {sizeof(float), sizeof(double), sizeof(std::complex<float>), sizeof(std::complex<double>)};
    return bytes[type];
}

const std::byte* element(const void* data, std::int64_t offset, TAPP_datatype type) {
    return static_cast<const std::byte*>(data) + offset * bytes_of(type);
}
std::byte* element(void* data, std::int64_t offset, TAPP_datatype type) { return static_cast<std::byte*>(data) + offset * bytes_of(type); }

/// alpha or beta, conjugated if need be.
class Factor {
public:
    Factor(TAPP_datatype type, const void* given, bool conjugate) : type_(type) {
        std::memcpy(value_.data(), given, bytes_of(type));
        if (!conjugate) return;
        if (type == TAPP_C32) negate_imaginary<float>();
        if (type == TAPP_C64) negate_imaginary<double>();
    }
    const void* data() const { return value_.data(); }
    bool is_zero() const { return kernels_of(type_).is_zero(value_.data()); }
    std::complex<double> as_number() const { return number(type_, value_.data()); }
    template <class T>
    T as() const {
        T value;
        std::memcpy(&value, value_.data(), sizeof value);
        return value;
    }

private:
    template <class Real>
    void negate_imaginary() {
        const auto value = std::conj(as<std::complex<Real>>());
        std::memcpy(value_.data(), &value, sizeof value);
    }

    TAPP_datatype type_;
    alignas(std::complex<double>) std::array<std::byte, sizeof(std::complex<double>)> value_{};
};

}  // namespace

/// One execution.
struct Product::Run {
    const Product& plan;
    Factor alpha, beta;
    const void* c;  ///< null: beta is zero
    void* d;
    Buffer<std::byte> converted[2]{}, copies[2]{}, old{}, result{};

    const Place& place(Tensor tensor) const { return plan.places_[tensor]; }
    TAPP_datatype type(Tensor tensor) const { return place(tensor).type; }
    const ElementKernels& kernels() const { return kernels_of(plan.computed_); }
    std::byte* target() const { return element(d, place(tensor_d).start, type(tensor_d)); }

    /// Whether memory that a tensor reaches may be some that D reaches.
    bool overlaps_d(Tensor tensor, const void* data) const {
        const auto at = [](const void* base, std::int64_t offset, TAPP_datatype t) {
            return reinterpret_cast<std::intptr_t>(element(base, offset, t));
        };
        const Place &x = place(tensor), &y = place(tensor_d);
        return at(data, x.lowest, x.type) < at(d, y.highest + 1, y.type) && at(d, y.lowest, y.type) < at(data, x.highest + 1, x.type);
    }

    static std::byte* reserve(Buffer<std::byte>& buffer, std::int64_t entries, TAPP_datatype type) {
        return buffer.reserve(array_bytes(entries, bytes_of(type)));
    }

    /// The operand's first element for the contraction; `copied`: after it was copied.
    const void* input(Tensor tensor, const void* data, bool& copied) {
        const Input& in = plan.inputs_[tensor];
        const std::byte* from = element(data, place(tensor).start, type(tensor));
        const bool converts = type(tensor) != plan.computed_;
        if (converts) {
            std::byte* const to = reserve(converted[tensor], in.converted_entries, plan.computed_);
            std::vector<SumAxis> axes;
            for (std::size_t i = 0; i < plan.labels_.size(); ++i)
                if (place(tensor).strides[i] != 0)
                    axes.push_back({.count = plan.labels_[i].extent, .x = place(tensor).strides[i], .to = in.converted_strides[i]});
            combine(axes, {.type = type(tensor), .data = from, .conjugate = place(tensor).conjugate}, {}, plan.computed_, to);
            from = to;
        }
        copied = in.copied || (!converts && overlaps_d(tensor, data));
        if (!copied) return from;
        std::byte* const to = reserve(copies[tensor], in.copy_entries, plan.computed_);
        if (!in.sum.k.empty()) {
            kernels().reduce(in.sum, nullptr, from, kernels().zero, to);
            return to;
        }
        if (in.sums) std::memset(to, 0, in.copy_entries * bytes_of(plan.computed_));
        kernels().transfer(in.copy, from, to, nullptr, {.conjugate = in.place.conjugate, .accumulate = in.sums});
        return to;
    }

    /// Adds alpha * A * B to `factor` times what is there.
    void contract(const void* a, const void* b, const void* factor_ab, const void* factor, void* to) {
        bool copy_a = false, copy_b = false;
        const void* const first = input(tensor_a, a, copy_a);
        const void* const second = input(tensor_b, b, copy_b);
        contract_prepared(first, second, copy_a, copy_b, factor_ab, factor, to);
    }

    void contract_prepared(const void* a, const void* b, bool copy_a, bool copy_b, const void* factor_ab, const void* factor, void* to) {
        if (copy_a == plan.inputs_[tensor_a].copied && copy_b == plan.inputs_[tensor_b].copied)
            kernels().contract(plan.folded_, factor_ab, a, b, factor, to);
        else
            kernels().contract(plan.folded(copy_a, copy_b), factor_ab, a, b, factor, to);
    }

    /// Whether every element of C is where its element of D will be.
    bool c_in_place() const { return c == d && plan.c_like_d_; }

    /// The first element of C, and its strides: of a copy if C overlaps D in another way.
    std::pair<const void*, std::vector<std::int64_t>> old_elements() {
        const std::byte* const from = element(c, place(tensor_c).start, type(tensor_c));
        if (c_in_place() || !overlaps_d(tensor_c, c)) return {from, place(tensor_c).strides};
        std::int64_t dense = 1;
        std::vector<std::int64_t> strides(plan.labels_.size());
        std::vector<local::TransferAxis> axes;
        for (std::size_t i = 0; i < plan.labels_.size(); ++i) {
            if (!plan.labels_[i].in[tensor_d]) continue;
            axes.push_back({.count = plan.labels_[i].extent, .from_stride = place(tensor_c).strides[i], .to_stride = dense});
            strides[i] = dense;
            dense *= plan.labels_[i].extent;
        }
        std::byte* const to = reserve(old, dense, type(tensor_c));
        kernels_of(type(tensor_c)).transfer(axes, from, to, nullptr, {});
        return {to, std::move(strides)};
    }

    /// D = alpha * x + beta * C in any types; `x` null: no such term.
    void combine_with_c(const void* x) {
        Term old_term{.type = type(tensor_c), .factor = beta.as_number(), .conjugate = place(tensor_c).conjugate};
        std::vector<std::int64_t> strides(plan.labels_.size());
        if (c != nullptr) std::tie(old_term.data, strides) = old_elements();
        std::vector<SumAxis> axes;
        for (std::size_t i = 0; i < plan.labels_.size(); ++i)
            if (plan.labels_[i].in[tensor_d])
                axes.push_back({plan.labels_[i].extent, plan.result_strides_[i], strides[i], place(tensor_d).strides[i]});
        combine(axes, {.type = plan.computed_, .data = x, .factor = alpha.as_number()}, old_term, type(tensor_d), target());
    }

    /// D = beta * C.
    void scale_c() {
        if (c != nullptr && type(tensor_c) != type(tensor_d)) return combine_with_c(nullptr);
        const ElementKernels& same = kernels_of(type(tensor_d));
        std::vector<std::int64_t> strides(plan.labels_.size());
        const void* from = same.zero;
        if (c != nullptr) std::tie(from, strides) = old_elements();
        std::vector<local::TransferAxis> axes;
        for (std::size_t i = 0; i < plan.labels_.size(); ++i)
            if (plan.labels_[i].in[tensor_d])
                axes.push_back({.count = plan.labels_[i].extent, .from_stride = strides[i], .to_stride = place(tensor_d).strides[i]});
        same.transfer(axes, from, target(), c == nullptr ? nullptr : beta.data(), {.conjugate = c != nullptr && place(tensor_c).conjugate});
    }

    void run(const void* a, const void* b, bool without_product) {
        if (without_product) return scale_c();
        if (type(tensor_d) != plan.computed_) {
            std::byte* const to = reserve(result, plan.result_entries_, plan.computed_);
            contract(a, b, kernels().one, kernels().zero, to);
            return combine_with_c(to);
        }
        if (c == nullptr) return contract(a, b, alpha.data(), kernels().zero, target());
        if (c_in_place() && !place(tensor_c).conjugate) return contract(a, b, alpha.data(), beta.data(), target());
        bool copy_a = false, copy_b = false;
        const void* const first = input(tensor_a, a, copy_a);  // before D is written, which may share its memory
        const void* const second = input(tensor_b, b, copy_b);
        scale_c();
        contract_prepared(first, second, copy_a, copy_b, alpha.data(), kernels().one, target());
    }
};

template <class T>
void Product::run_listed(const Arguments& x) const {
    const TAPP_datatype type = places_[tensor_d].type;
    const T alpha = Factor(type, x.alpha, conjugate_numbers_).as<T>(), beta = Factor(type, x.beta, conjugate_numbers_).as<T>();
    const auto *const a = static_cast<const T*>(x.a), *const b = static_cast<const T*>(x.b), *const c = static_cast<const T*>(x.c);
    T results[largest_listed];  // D may share memory with the others
    const auto products = [&](auto read_a, auto read_b) {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const T *const from_a = a + rows_[i].a, *const from_b = b + rows_[i].b;
            T sum = 0;
            for (const Offsets& at : sums_) sum += local::multiply<T>(read_a(from_a[at.a]), read_b(from_b[at.b]));
            results[i] = local::multiply<T>(alpha, sum);
        }
    };
    const auto same = [](T value) { return value; };
    const auto conjugate = [](T value) { return local::conjugate(value); };
    const bool conjugate_a = places_[tensor_a].conjugate, conjugate_b = places_[tensor_b].conjugate;
    if (alpha == T(0))
        std::fill_n(results, rows_.size(), T(0));
    else if (!conjugate_a && !conjugate_b)
        products(same, same);
    else if (!conjugate_b)
        products(conjugate, same);
    else if (!conjugate_a)
        products(same, conjugate);
    else
        products(conjugate, conjugate);
    if (beta != T(0))
        for (std::size_t i = 0; i < rows_.size(); ++i)
            results[i] += local::multiply<T>(beta, places_[tensor_c].conjugate ? local::conjugate(c[rows_[i].c]) : c[rows_[i].c]);
    for (std::size_t i = 0; i < rows_.size(); ++i) static_cast<T*>(x.d)[rows_[i].d] = results[i];
}

void Product::execute(const Arguments& given) const {
    if (empty_result_) return;
    Arguments x = given;
    refuse_if(x.alpha == nullptr || x.beta == nullptr || x.d == nullptr, null_pointer);
    const ElementKernels& numbers = kernels_of(places_[tensor_d].type);
    const bool without_product = empty_sum_ || numbers.is_zero(x.alpha), without_c = numbers.is_zero(x.beta);
    refuse_if(!without_product && (x.a == nullptr || x.b == nullptr), null_pointer);
    refuse_if(!without_c && x.c == nullptr && !c_like_d_, missing_c);
    if (x.c == nullptr) x.c = x.d;
    if (listed_) {
        switch (computed_) {
        case TAPP_F32: return run_listed<float>(x);
        case TAPP_F64: return run_listed<double>(x);
        case TAPP_C32: return run_listed<std::complex<float>>(x);
        default: return run_listed<std::complex<double>>(x);
        }
    }
    const TAPP_datatype type = places_[tensor_d].type;
    Run run{*this, Factor(type, x.alpha, conjugate_numbers_), Factor(type, x.beta, conjugate_numbers_), without_c ? nullptr : x.c, x.d};
    run.run(x.a, x.b, without_product);
}

}  // namespace arges::tapp

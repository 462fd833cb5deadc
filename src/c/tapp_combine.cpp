// Sums of tensors of different element types, in pieces of rows that are converted to complex numbers and back.
#include "c/tapp_combine.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <type_traits>
#include <vector>

namespace arges::tapp {
namespace {

constexpr std::int64_t piece_entries = 256;
using Piece = std::array<std::complex<double>, piece_entries>;

/// Calls f with an element of the type.
template <class F>
decltype(auto) with_type(TAPP_datatype type, F&& f) {
    switch (type) {
    case TAPP_F32: return f(float{});
    case TAPP_F64: return f(double{});
    case TAPP_C32: return f(std::complex<float>{});
    default: return f(std::complex<double>{});
    }
}

/// Part of a row of a term, or of the result.
struct Row {
    std::int64_t start, stride, count;
};

void read(const Term& term, const Row& row, Piece& piece) {
    with_type(term.type, [&]<class T>(T) {
        const T* from = static_cast<const T*>(term.data) + row.start;
        for (std::int64_t i = 0; i < row.count; ++i) piece[i] = from[i * row.stride];
    });
    const auto used = std::span(piece).first(row.count);
    if (term.conjugate)
        for (auto& value : used) value = std::conj(value);
    if (term.factor == 1.0) return;
    const double re = term.factor.real(), im = term.factor.imag();
    if (im == 0)
        for (auto& value : used) value *= re;
    else
        for (auto& value : used) value = {re * value.real() - im * value.imag(), re * value.imag() + im * value.real()};
}

void write(const Piece& piece, const Row& row, TAPP_datatype type, void* to) {
    with_type(type, [&]<class T>(T) {
        T* const target = static_cast<T*>(to) + row.start;
        for (std::int64_t i = 0; i < row.count; ++i) {
            const std::complex<double>& value = piece[i];
            if constexpr (std::is_floating_point_v<T>)
                target[i * row.stride] = static_cast<T>(value.real());
            else
                target[i * row.stride] = static_cast<T>(value);
        }
    });
}

}  // namespace

void combine(std::span<const SumAxis> axes, const Term& x, const Term& y, TAPP_datatype type, void* to) {
    std::vector<SumAxis> loops(axes.begin(), axes.end());
    if (std::ranges::any_of(loops, [](const SumAxis& axis) { return axis.count == 0; })) return;
    std::ranges::stable_sort(loops, {}, [](const SumAxis& axis) { return std::abs(axis.to); });
    if (loops.empty()) loops.push_back({});
    const SumAxis row = loops.front();
    loops.erase(loops.begin());
    std::vector<std::int64_t> index(loops.size());
    SumAxis at;
    Piece first, second;
    for (std::size_t i = 0;;) {
        for (std::int64_t begin = 0; begin < row.count; begin += piece_entries) {
            const std::int64_t count = std::min(piece_entries, row.count - begin);
            first.fill(0.0);
            if (x.data != nullptr) read(x, {at.x + begin * row.x, row.x, count}, first);
            if (y.data != nullptr) {
                read(y, {at.y + begin * row.y, row.y, count}, second);
                for (std::int64_t j = 0; j < count; ++j) first[j] += second[j];
            }
            write(first, {at.to + begin * row.to, row.to, count}, type, to);
        }
        for (i = 0; i < loops.size(); ++i) {
            const SumAxis& axis = loops[i];
            const std::int64_t steps = ++index[i] < axis.count ? 1 : 1 - axis.count;
            at.x += steps * axis.x, at.y += steps * axis.y, at.to += steps * axis.to;
            if (steps == 1) break;
            index[i] = 0;
        }
        if (i == loops.size()) return;
    }
}

std::complex<double> number(TAPP_datatype type, const void* scalar) {
    return with_type(type, [&]<class T>(T) { return std::complex<double>(*static_cast<const T*>(scalar)); });
}

}  // namespace arges::tapp

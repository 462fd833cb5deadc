/// The table of kernels of an element type on a machine.
#pragma once

#include "device/elements.hpp"
#include "device/failure.hpp"
#include "device/nonzeros.hpp"
#include "device/products.hpp"
#include "device/reductions.hpp"
#include "device/sparse_loop.hpp"
#include "local/transfer.hpp"

namespace arges::device {

/// Functions of a table that run on machine M, or on the host where all arrays lie there.
template <class M, class T>
class Kernels {
public:
    /// That of the library with these functions; `host` must outlive it, and be the same in every call.
    static const ElementKernels& table(const ElementKernels& host) {
        host_ = &host;
        static const Reductions own = reductions(), guarded_own = guarded(own);
        static const ElementKernels made = with_functions(host, own), guarded_made = guarded(made, guarded_own);
        return guarded_made;
    }

private:
    using N = number_of<T>;

    static N number(const void* given) { return given == nullptr ? N(1) : *static_cast<const N*>(given); }
    template <class... Arrays>
    static bool on_host(const Arrays*... arrays) {
        return !(M::has(arrays) || ...);
    }

    /// The same functions for whoever must not be left by an exception, see failure.hpp.
    template <class Functions, const Functions** own>
    struct Guards {
        template <auto member, class Pointer>
        struct Guard;
        template <auto member, class R, class... Arguments>
        struct Guard<member, R (*Functions::*)(Arguments...)> {
            static R call(Arguments... arguments) {
                return Failure::the().guarded([&]() -> R { return ((*own)->*member)(arguments...); });
            }
        };
        template <auto... members>
        static void put(Functions& table) {
            ((table.*members = table.*members == nullptr ? nullptr : Guard<members, decltype(members)>::call), ...);
        }
    };
    static Reductions guarded(const Reductions& own) {
        reductions_ = &own;
        Reductions r = own;
        Guards<Reductions, &reductions_>::template put<&Reductions::sum_row, &Reductions::place_of_best>(r);
        return r;
    }
    static ElementKernels guarded(const ElementKernels& own, const Reductions& own_reductions) {
        using K = ElementKernels;
        kernels_ = &own;
        K k = own;
        k.reductions = &own_reductions;
        Guards<K, &kernels_>::template put<&K::fill, &K::scale, &K::divide, &K::make_real, &K::convert, &K::apply, &K::transfer,
                                           &K::transfer_listed, &K::contract, &K::reduce, &K::count_nonzero, &K::scale_along,
                                           &K::multiply_rows, &K::split_pair, &K::unpack_pair, &K::multiply_nonzeros, &K::sum_nonzeros,
                                           &K::fit_nonzeros, &K::derive_nonzeros>(k);
        return k;
    }

    static ElementKernels with_functions(ElementKernels k, const Reductions& own) {
        k.reductions = &own;
        k.space = &M::space();
        k.host = host_;
        k.fill = [](void* to, std::int64_t count, const void* value) {
            M::has(to) ? for_each<M>(count, Fill<N>{static_cast<N*>(to), number(value)}) : host_->fill(to, count, value);
        };
        k.scale = [](void* to, std::int64_t count, const void* beta) {
            if (!M::has(to)) return host_->scale(to, count, beta);
            if (beta != nullptr) change<M, N, Scale>(to, count, number(beta));
        };
        k.divide = [](void* to, const void* divisor, std::int64_t count) {
            if (on_host(to, divisor)) return host_->divide(to, divisor, count);
            if (count == 0) return;
            Reached<M, N> by(divisor, {0, count - 1});
            change<M, N, Divide>(to, count, static_cast<const N*>(by.data()));
        };
        if (k.make_real != nullptr)
            k.make_real = [](void* to, std::int64_t count) {
                M::has(to) ? change<M, N, MakeReal>(to, count) : host_->make_real(to, count);
            };
        k.convert = convert;
        k.apply = device::apply<M, N>;
        k.transfer = [](std::span<const local::TransferAxis> axes, const void* from, void* to, const void* alpha,
                        local::TransferMode mode) {
            if (on_host(from, to)) return host_->transfer(axes, from, to, alpha, mode);
            device::transfer<M>(axes, from, to, number(alpha), mode);
        };
        k.transfer_listed = [](const local::ListedTransfer& list, const void* from, void* to, const void* alpha, local::TransferMode mode) {
            if (on_host(from, to)) return host_->transfer_listed(list, from, to, alpha, mode);
            device::transfer_listed<M>(list, from, to, number(alpha), mode);
        };
        k.contract = [](const local::FoldedContraction& f, const void* alpha, const void* a, const void* b, const void* beta, void* c) {
            if (on_host(a, b, c)) return host_->contract(f, alpha, a, b, beta, c);
            device::contract<M, T>(f, number(alpha), a, b, number(beta), c);
        };
        k.reduce = [](const local::FoldedContraction& f, const void* alpha, const void* a, const void* beta, void* c) {
            if (on_host(a, c)) return host_->reduce(f, alpha, a, beta, c);
            device::contract<M, T>({f.m, {}, f.k, f.batch}, number(alpha), a, nullptr, number(beta), c);
        };
        add_others(k);
        return k;
    }

    static Reductions reductions() {
        Reductions r = *host_->reductions;
        r.sum_row = [](local::RowSum what, const local::ElementRow& row, const void* elements, const void* others, int exponent) {
            if (on_host(elements, others)) return host_->reductions->sum_row(what, row, elements, others, exponent);
            return device::sum_row<M, N>(what, row, elements, others, exponent);
        };
        r.place_of_best = [](local::Best what, const void* elements, std::int64_t count) {
            return M::has(elements) ? device::place_of_best<M, N>(what, elements, count)
                                    : host_->reductions->place_of_best(what, elements, count);
        };
        return r;
    }

    static void add_others(ElementKernels& k) {
        k.count_nonzero = [](const void* elements, std::int64_t stride, std::span<const double> weights) {
            return M::has(elements) ? device::count_nonzero<M, N>(elements, stride, weights)
                                    : host_->count_nonzero(elements, stride, weights);
        };
        k.scale_along = [](std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides, int axis,
                           std::span<const double> weights, void* data) {
            M::has(data) ? device::scale_along<M, N>(sizes, strides, axis, weights, data)
                         : host_->scale_along(sizes, strides, axis, weights, data);
        };
        k.multiply_rows = [](const local::RowProduct& product, const void* alpha, const void* a, const void* b, void* c,
                             std::int64_t result, void* copies, std::int64_t of_host) {
            if (on_host(a, b, c)) return host_->multiply_rows(product, alpha, a, b, c, result, copies, of_host);
            device::multiply_rows<M>(product, number(alpha), a, b, c, result);
        };
        k.split_pair = [](const PairSplit& split, const void* from, void* to, const void* alpha, bool conjugate) {
            if (on_host(from, to)) return host_->split_pair(split, from, to, alpha, conjugate);
            device::split_pair<M>(split, from, to, number(alpha), conjugate);
        };
        k.unpack_pair = [](const PairUnpack& pair, const void* from, void* to, const void* alpha, bool conjugate, bool accumulate) {
            if (on_host(from, to)) return host_->unpack_pair(pair, from, to, alpha, conjugate, accumulate);
            device::unpack_pair<M>(pair, from, to, number(alpha), conjugate, accumulate);
        };
        k.multiply_nonzeros = multiply_nonzeros<M, N>;
        if constexpr (!is_complex<N>) {
            k.sum_nonzeros = sum_nonzeros<M, N>;
            k.fit_nonzeros = fit_nonzeros<M, N>;
            k.derive_nonzeros = derive_nonzeros<M, N>;
        }
    }

    /// Elements of the host are converted there.
    static void convert(const std::type_info& type, const void* from, void* to, std::int64_t count) {
        if (count == 0) return;
        if (on_host(from)) {
            if (on_host(to)) return local::convert_elements(type, *host_, from, to, count);
            Buffer<T> converted(count);
            local::convert_elements(type, *host_, from, converted.data(), count);
            return copy_array(to, converted.data(), converted.bytes(), &M::space());
        }
        Reached<M, N> target(to, {0, count - 1}, false);
        const auto by = [&]<class S>(S) {
            if constexpr (is_lossless<S, T> && !std::is_same_v<S, T>)
                if (type == typeid(S))
                    return for_each<M>(count, Convert<number_of<S>, N>{static_cast<const number_of<S>*>(from), target.data()}), true;
            return false;
        };
        if (!by(float()) && !by(double()) && !by(std::complex<float>()))
            throw InvalidArgument("elements cannot be converted without loss; use a tensor of a wider type");
        target.write_back();
    }

    static inline const ElementKernels *host_ = nullptr, *kernels_ = nullptr;
    static inline const Reductions* reductions_ = nullptr;
};

}  // namespace arges::device

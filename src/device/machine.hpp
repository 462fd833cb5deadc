/// What kernels of a device stand on: where arrays lie, and three ways to run a function object in many threads.
///
/// A machine M has, as static functions,
///     const MemorySpace& space();                     // of its arrays
///     int queue();                                    // to which everything goes, see MemorySpace::use_queue
///     bool has(const void* array);                    // does it lie there? else on the host
///     void blocks(count, f);                          // f(block, thread) for all blocks and threads
///     void tiles<N>(count, f);                        // f.load(block, thread, tile), then f.store(block, thread, tile), of tile_elements
///     void trees(groups, f);                          // f.store(group, v), v the tree of f.partial(group, thread, threads)
///     void multiply<T>(const MatrixProducts<T>& x);   // strided batched matrix products
/// Calls run in their order, and may end after they return: who reads on the host does so through space().copy(). CUDA is one machine;
/// tests have one that runs the same functions in loops on the host.
#pragma once

#include "base/buffer.hpp"
#include "base/recent_map.hpp"
#include "device/number.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace arges::device {

inline constexpr int threads = 256;             ///< of a block
inline constexpr int tile_side = 32;            ///< entries of a tile along each of its axes
inline constexpr int tile_row = tile_side + 1;  ///< distance of its rows, so that columns do not share banks
inline constexpr int tile_elements = tile_side * tile_row;

/// C = alpha * op(A) * op(B) + beta * C for each entry of a batch, by columns as BLAS has them.
template <class T>
struct MatrixProducts {
    std::int64_t m, n, k, count;
    T alpha, beta;
    const T *a, *b;
    T* c;
    bool a_transposed, b_transposed;
    std::int64_t lda, ldb, ldc, step_a, step_b, step_c;  ///< steps: from one entry of the batch to the next
};

/// number % base, and the number divided by it; a division of 64 bits takes several times as long as one of 32.
ARGES_ON_DEVICE inline std::int64_t take_digit(std::int64_t& number, std::int64_t base) {
    if (((number | base) >> 32) == 0) {
        const auto small = static_cast<std::uint32_t>(number), by = static_cast<std::uint32_t>(base);
        number = small / by;
        return small % by;
    }
    const auto digit = number % base;
    number /= base;
    return digit;
}

/// f(i) for i = 0, ..., count - 1.
template <class F>
struct EachOf {
    F f;
    std::int64_t count;
    ARGES_ON_DEVICE void operator()(std::int64_t block, int thread) const {
        const std::int64_t i = block * threads + thread;
        if (i < count) f(i);
    }
};
template <class M, class F>
void for_each(std::int64_t count, const F& f) {
    if (count > 0) M::blocks((count + threads - 1) / threads, EachOf<F>{f, count});
}

/// One thread for each group.
template <class F>
struct SumAlone {
    F f;
    ARGES_ON_DEVICE void operator()(std::int64_t group) const { f.store(group, f.partial(group, 0, 1)); }
};
/// Terms in chunks, each of which is a group.
template <class F>
struct SumChunks {
    F f;
    std::int64_t chunks;
    typename F::Value* sums;
    using Value = typename F::Value;
    ARGES_ON_DEVICE Value partial(std::int64_t group, std::int64_t first, std::int64_t step) const {
        return f.partial(group / chunks, group % chunks * step + first, chunks * step);
    }
    ARGES_ON_DEVICE Value add(const Value& a, const Value& b) const { return f.add(a, b); }
    ARGES_ON_DEVICE void store(std::int64_t group, const Value& sum) const { sums[group] = sum; }
};
template <class F>
struct JoinChunks {
    SumChunks<F> of;
    using Value = typename F::Value;
    ARGES_ON_DEVICE Value partial(std::int64_t group, std::int64_t first, std::int64_t step) const {
        Value sum = of.f.none();
        for (auto i = first; i < of.chunks; i += step) sum = of.f.add(sum, of.sums[group * of.chunks + i]);
        return sum;
    }
    ARGES_ON_DEVICE Value add(const Value& a, const Value& b) const { return of.f.add(a, b); }
    ARGES_ON_DEVICE void store(std::int64_t group, const Value& sum) const { of.f.store(group, sum); }
};

/// Sums of `terms` terms for each of `groups` groups: f.partial(group, first, step) adds the terms first, first + step, ..., f.add() two
/// sums, f.none() is none, f.store(group, sum) takes the result. The order of the additions depends on the two numbers only.
template <class M, class F>
void sums(std::int64_t groups, std::int64_t terms, const F& f) {
    constexpr std::int64_t few_terms = 32, many_groups = 1 << 16, chunk = 1 << 14, most_chunks = 1 << 10;
    if (groups == 0) return;
    if (terms <= few_terms || (groups >= many_groups && terms <= 8 * few_terms)) return for_each<M>(groups, SumAlone<F>{f});
    const auto chunks = std::min((terms + chunk - 1) / chunk, std::max<std::int64_t>(1, most_chunks / groups));
    if (chunks == 1) return M::trees(groups, f);
    Buffer<typename F::Value> room(groups * chunks, &M::space());
    const SumChunks<F> in_chunks{f, chunks, room.data()};
    M::trees(groups * chunks, in_chunks);
    M::trees(groups, JoinChunks<F>{in_chunks});
}

/// A list of the host in the memory of machine M.
template <class M>
std::shared_ptr<const Buffer<std::byte>> list_there(const void* list, std::int64_t bytes) {
    const auto* const begin = static_cast<const std::byte*>(list);
    return std::make_shared<Buffer<std::byte>>(Buffer<std::byte>::copy_of({begin, begin + bytes}, &M::space()));
}

/// Short lists that a queue used last, by what is in them: statements have the same ones again and again, and to copy one takes longer than
/// many kernels. They stay until the process ends, at most 16 MiB for a queue.
template <class M>
class KeptLists {
public:
    static constexpr std::int64_t most_bytes = 1 << 16;  ///< of a list
    /// Those of the current queue: others need not have arrived.
    static KeptLists& the() {
        static auto* const kept = new std::array<KeptLists, 2>;
        return (*kept)[static_cast<std::size_t>(M::queue())];
    }
    std::shared_ptr<const Buffer<std::byte>> there(const void* list, std::int64_t bytes) {
        const std::string key(static_cast<const char*>(list), static_cast<std::size_t>(bytes));
        const std::lock_guard lock(mutex_);
        auto& kept = lists_.use(key);
        if (!kept) kept = list_there<M>(list, bytes);
        return kept;
    }

private:
    static constexpr std::size_t capacity = 256;
    std::mutex mutex_;
    RecentMap<std::shared_ptr<const Buffer<std::byte>>> lists_{capacity};
};

/// Lists of the host for a kernel; they are there as long as the object, at least.
template <class M>
class Lists {
public:
    template <class X>
    const X* put(const X* list, std::int64_t count) {
        if (list == nullptr || count == 0) return list;
        const auto bytes = count * std::int64_t{sizeof(X)};
        lists_.push_back(bytes <= KeptLists<M>::most_bytes ? KeptLists<M>::the().there(list, bytes) : list_there<M>(list, bytes));
        return reinterpret_cast<const X*>(lists_.back()->data());
    }
    template <class List>
    auto put(const List& list) {
        return put(std::data(list), std::ssize(list));
    }

private:
    std::vector<std::shared_ptr<const Buffer<std::byte>>> lists_;
};

/// Offsets that an operand is read or written at.
struct Range {
    std::int64_t first = 0, last = 0;
    void extend(std::int64_t low, std::int64_t high) {
        first += low;
        last += high;
    }
    /// By `count` entries at a distance.
    void stride(std::int64_t count, std::int64_t distance) {
        extend(std::min<std::int64_t>(0, (count - 1) * distance), std::max<std::int64_t>(0, (count - 1) * distance));
    }
    std::int64_t size() const { return last - first + 1; }
};

/// An array where kernels reach it: itself on the device, else a copy of the range that is used.
template <class M, class N>
class Reached {
public:
    /// @param read  the elements are needed, else all of the range is written
    Reached(const void* array, const Range& range, bool read = true) : given_(static_cast<const N*>(array)), range_(range) {
        if (array == nullptr || M::has(array)) return;
        copy_ = Buffer<N>(range.size(), &M::space());
        if (read) copy_array(copy_.data(), given_ + range.first, copy_.bytes(), &M::space());
    }
    N* data() { return copy_.size() > 0 ? copy_.data() - range_.first : const_cast<N*>(given_); }
    /// Brings what was written to the host's array.
    void write_back() {
        if (copy_.size() > 0) copy_array(const_cast<N*>(given_) + range_.first, copy_.data(), copy_.bytes(), &M::space());
    }

private:
    const N* given_;
    Range range_;
    Buffer<N> copy_;
};

}  // namespace arges::device

// Writing to sparse tensors, dense conversion, gathering and reductions.
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/sparse_state.hpp"
#include "interface/sparse_tensor_exchange.hpp"
#include "interface/sparse_tensor_merge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace arges {

namespace {

std::string product_text(const std::vector<std::int64_t>& lengths) {
    std::string text;
    for (auto n : lengths) text += (text.empty() ? "" : " x ") + std::to_string(n);
    return text;
}

template <class T>
void check_keys(const SparseTensor<T>& tensor, const std::string& title) {
    if (!tensor.has_keys())
        throw InvalidArgument(title + ": " + product_text(tensor.lengths()) +
                              " has more than 2^63 - 1 elements, so there are no 64-bit keys; use write_at() with index tuples");
}

void check_index(std::int64_t index, std::int64_t length, std::size_t mode, const std::string& title) {
    if (index < 0 || index >= length)
        throw InvalidArgument(title + ": index " + std::to_string(index) + " in mode " + std::to_string(mode + 1) + " of length " +
                              std::to_string(length) + "; indices run from 0");
}

template <class T>
void append(sparse::Nonzeros<T>& all, const sparse::Nonzeros<T>& more) {
    for (std::size_t m = 0; m < all.indices.size(); ++m)
        all.indices[m].insert(all.indices[m].end(), more.indices[m].begin(), more.indices[m].end());
    all.values.insert(all.values.end(), more.values.begin(), more.values.end());
}

/// Adds nonzeros, which any rank may have, to those of the tensor. Collective.
template <class T>
void add(SparseState<T>& state, sparse::Nonzeros<T> more, Duplicates duplicates) {
    const auto& comm = state.comm();
    std::vector<std::int32_t> to;
    sparse::Nonzeros<T> all;
    if (!state.at_home()) {
        comm.agree([&] {
            all = state.local();
            to = home_ranks(all, comm.size());
        });
        state.replace(route(comm, std::move(all), to), true);
    }
    comm.agree([&] { to = home_ranks(more, comm.size()); });
    more = route(comm, std::move(more), to);
    comm.agree([&] {
        all = state.local();
        append(all, more);
        more = {};
        const auto report = merge_local(all, duplicates);
        if (report.second >= 0)
            throw InvalidArgument(state.title() + ": element " + coordinate_text(report.where, 0) +
                                  (report.first < state.local().count() ? " is stored already" : " is given more than once") +
                                  "; give each element once, or ask for Duplicates::sum or Duplicates::keep_first");
    });
    state.replace(std::move(all), true);
}

}  // namespace

template <class T>
void SparseTensor<T>::write(std::span<const std::int64_t> keys, std::span<const T> values, Duplicates duplicates) {
    const CollectiveCall call(state_of(*this, "write").world->movement_communicator(), "SparseTensor::write", duplicates);
    auto& state = state_of(*this, "write");
    auto more = no_nonzeros<T>(lengths());
    state.world->agree([&] {
        check_keys(*this, state.title());
        if (keys.size() != values.size())
            throw InvalidArgument(state.title() + ": " + std::to_string(keys.size()) + " keys but " + std::to_string(values.size()) +
                                  " values; give one value per key");
        const auto size = std::accumulate(lengths().begin(), lengths().end(), std::int64_t{1}, std::multiplies<>());
        for (auto key : keys) {
            if (key < 0 || key >= size)
                throw InvalidArgument(state.title() + ": key " + std::to_string(key) + " is out of range; the tensor has " +
                                      std::to_string(size) + " elements, keys run from 0");
            for (std::size_t m = 0; m < lengths().size(); key /= lengths()[m++]) more.indices[m].push_back(key % lengths()[m]);
        }
        more.values.assign(values.begin(), values.end());
    });
    add(state, std::move(more), duplicates);
}

template <class T>
void SparseTensor<T>::write_at(std::span<const std::int64_t> tuples, std::span<const T> values, Duplicates duplicates) {
    const CollectiveCall call(state_of(*this, "write_at").world->movement_communicator(), "SparseTensor::write_at", duplicates);
    auto& state = state_of(*this, "write_at");
    auto more = no_nonzeros<T>(lengths());
    state.world->agree([&] {
        const auto n = lengths().size();
        if (tuples.size() != n * values.size())
            throw InvalidArgument(state.title() + ": " + std::to_string(tuples.size()) + " indices for " + std::to_string(values.size()) +
                                  " values; give " + std::to_string(n) + " for each");
        for (std::size_t i = 0; i < tuples.size(); ++i) {
            check_index(tuples[i], lengths()[i % n], i % n, state.title());
            more.indices[i % n].push_back(tuples[i]);
        }
        more.values.assign(values.begin(), values.end());
    });
    add(state, std::move(more), duplicates);
}

template <class T>
SparseTensor<T> SparseTensor<T>::from_entries(const World& world, std::vector<std::int64_t> lengths, const SparseEntries<T>& mine,
                                              Duplicates duplicates, std::string name) {
    const CollectiveCall call(ranks_of(world), "SparseTensor::from_entries", lengths, duplicates);
    SparseTensor result(world, std::move(lengths), std::move(name));
    auto& state = *result.state_;
    auto more = no_nonzeros<T>(result.lengths());
    state.world->agree([&] {
        if (mine.indices.size() != more.indices.size())
            throw InvalidArgument(state.title() + ": indices for " + std::to_string(mine.indices.size()) + " modes, but the tensor has " +
                                  std::to_string(more.indices.size()) + "; give one array of indices for each mode");
        for (std::size_t m = 0; m < mine.indices.size(); ++m) {
            if (mine.indices[m].size() != mine.values.size())
                throw InvalidArgument(state.title() + ": " + std::to_string(mine.indices[m].size()) + " indices in mode " +
                                      std::to_string(m + 1) + " for " + std::to_string(mine.values.size()) +
                                      " values; give an index in each mode for every value");
            for (auto index : mine.indices[m]) check_index(index, result.lengths()[m], m, state.title());
        }
        more.indices = mine.indices;
        more.values = mine.values;
    });
    add(state, std::move(more), duplicates);
    return result;
}

template <class T>
void SparseTensor<T>::fill(T value) {
    auto& values = state_of(*this, "fill").values();
    std::fill(values.begin(), values.end(), value);
}

template <class T>
void SparseTensor<T>::erase() {
    state_of(*this, "erase").take();
}

template <class T>
void SparseTensor<T>::drop(T cutoff) {
    auto& state = state_of(*this, "drop");
    const auto& old = state.local();
    auto kept = no_nonzeros<T>(lengths());
    state.comm().agree([&] {
        for (std::size_t i = 0; i < old.values.size(); ++i) {
            if (std::abs(old.values[i]) <= cutoff) continue;
            for (std::size_t m = 0; m < kept.indices.size(); ++m) kept.indices[m].push_back(old.indices[m][i]);
            kept.values.push_back(old.values[i]);
        }
    });
    state.replace(std::move(kept), state.at_home());
}

template <class T>
SparseTensor<T> SparseTensor<T>::from_dense(const Tensor<T>& dense, T cutoff) {
    const CollectiveCall call(ranks_of(dense.world()), "SparseTensor::from_dense", cutoff);
    SparseTensor result(dense.world(), dense.extents(), dense.name());
    auto entries = no_nonzeros<T>(dense.extents());
    const auto plain = dense.symmetry().trivial() ? nullptr : std::make_unique<Tensor<T>>(dense.with_symmetry(Symmetry()));
    result.state_->comm().agree([&] {
        const auto [keys, values] = (plain ? *plain : dense).local_pairs();
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (std::abs(values[i]) <= cutoff) continue;
            auto key = keys[i];
            for (std::size_t m = 0; m < entries.indices.size(); ++m) {
                entries.indices[m].push_back(key % entries.lengths[m]);
                key /= entries.lengths[m];
            }
            entries.values.push_back(values[i]);
        }
    });
    result.state_->replace(std::move(entries), false);
    return result;
}

template <class T>
Tensor<T> SparseTensor<T>::to_dense() const {
    const CollectiveCall call(state_of(*this, "to_dense").world->movement_communicator(), "SparseTensor::to_dense");
    const auto& state = state_of(*this, "to_dense");
    check_keys(*this, state.title());
    Tensor<T> dense(world(), lengths(), name());
    const auto& local = state.local();
    std::vector<std::int64_t> keys;
    state.comm().agree([&] {
        keys.resize(local.values.size(), 0);
        for (std::size_t m = local.indices.size(); m-- > 0;)
            for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = keys[i] * local.lengths[m] + local.indices[m][i];
    });
    dense.write(keys, local.values);
    return dense;
}

template <class T>
std::int64_t SparseTensor<T>::nonzeros() const {
    const CollectiveCall call(state_of(*this, "nonzeros").world->movement_communicator(), "SparseTensor::nonzeros");
    const auto& state = state_of(*this, "nonzeros");
    return state.comm().sum(state.local().count());
}

template <class T>
double SparseTensor<T>::density() const {
    double result = static_cast<double>(nonzeros());
    for (auto n : lengths()) result = n == 0 ? 0 : result / static_cast<double>(n);
    return result;
}

template <class T>
SparseEntries<T> SparseTensor<T>::gather() const {
    const CollectiveCall call(state_of(*this, "gather").world->movement_communicator(), "SparseTensor::gather");
    const auto& state = state_of(*this, "gather");
    const auto& comm = state.comm();
    SparseEntries<T> all;
    for (const auto& column : state.local().indices) all.indices.push_back(gathered(comm, column));
    all.values = gathered(comm, state.local().values);
    comm.agree([&] {
        std::vector<std::size_t> sequence(all.values.size());
        std::iota(sequence.begin(), sequence.end(), std::size_t{0});
        std::sort(sequence.begin(), sequence.end(), [&](auto a, auto b) {
            for (auto column = all.indices.rbegin(); column != all.indices.rend(); ++column)
                if ((*column)[a] != (*column)[b]) return (*column)[a] < (*column)[b];
            return false;
        });
        const auto arranged = [&](auto& column) {
            auto old = column;
            for (std::size_t i = 0; i < old.size(); ++i) column[i] = old[sequence[i]];
        };
        for (auto& column : all.indices) arranged(column);
        arranged(all.values);
    });
    return all;
}

template <class T>
double SparseTensor<T>::sum() const {
    const CollectiveCall call(state_of(*this, "sum").world->movement_communicator(), "SparseTensor::sum");
    const auto& state = state_of(*this, "sum");
    double total = 0;
    for (auto value : state.local().values) total += static_cast<double>(value);
    state.comm().sum(&total, 1);
    return total;
}

template <class T>
double SparseTensor<T>::norm() const {
    const CollectiveCall call(state_of(*this, "norm").world->movement_communicator(), "SparseTensor::norm");
    const auto& state = state_of(*this, "norm");
    double total = 0;
    for (auto value : state.local().values) total += static_cast<double>(value) * static_cast<double>(value);
    state.comm().sum(&total, 1);
    if (!must_be_scaled(total)) return std::sqrt(total);
    double largest = 0;
    for (auto value : state.local().values) largest = std::max(largest, std::abs(static_cast<double>(value)));
    // NaN has been excluded; bits of numbers that are not negative compare as integers.
    largest = std::bit_cast<double>(state.comm().maximum(std::bit_cast<std::int64_t>(largest)));
    if (largest == 0 || std::isinf(largest)) return largest;
    const int exponent = std::ilogb(largest);
    total = 0;
    for (auto value : state.local().values) {
        const double scaled = std::ldexp(static_cast<double>(value), -exponent);
        total += scaled * scaled;
    }
    state.comm().sum(&total, 1);
    return std::ldexp(std::sqrt(total), exponent);
}

// The other members are instantiated in sparse_tensor.cpp.
#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void SparseTensor<T>::write(std::span<const std::int64_t>, std::span<const T>, Duplicates);                                   \
    template void SparseTensor<T>::write_at(std::span<const std::int64_t>, std::span<const T>, Duplicates);                                \
    template void SparseTensor<T>::fill(T);                                                                                                \
    template void SparseTensor<T>::erase();                                                                                                \
    template void SparseTensor<T>::drop(T);                                                                                                \
    template SparseTensor<T> SparseTensor<T>::from_entries(const World&, std::vector<std::int64_t>, const SparseEntries<T>&, Duplicates,   \
                                                           std::string);                                                                   \
    template SparseTensor<T> SparseTensor<T>::from_dense(const Tensor<T>&, T);                                                             \
    template Tensor<T> SparseTensor<T>::to_dense() const;                                                                                  \
    template std::int64_t SparseTensor<T>::nonzeros() const;                                                                               \
    template double SparseTensor<T>::density() const;                                                                                      \
    template SparseEntries<T> SparseTensor<T>::gather() const;                                                                             \
    template double SparseTensor<T>::sum() const;                                                                                          \
    template double SparseTensor<T>::norm() const;
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)

}  // namespace arges

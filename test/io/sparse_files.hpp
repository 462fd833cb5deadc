/// Random sparse tensors, and texts of them, for the tests of files.
#pragma once

#include "arges/error.hpp"
#include "arges/sparse_io.hpp"
#include "base/splitmix.hpp"
#include "comm/communicator.hpp"

#include <zlib.h>

#include <cmath>
#include <string>
#include <vector>

namespace arges::test {

using Numbers = std::vector<std::int64_t>;

/// The same numbers on every rank.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed << 32) {}
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(splitmix(state_++) % static_cast<std::uint64_t>(n)); }
    double unit() { return unit_interval(splitmix(state_++)); }

private:
    std::uint64_t state_;
};

/// A tensor with `count` entries distributed over the ranks, values of any size.
template <class T>
SparseTensor<T> random_tensor(const World& world, std::uint64_t seed, const Numbers& lengths, std::int64_t count) {
    Random random(seed);
    SparseTensor<T> X(world, lengths, "X");
    Numbers tuples;
    std::vector<T> values;
    for (std::int64_t i = 0; i < count; ++i) {
        const bool mine = random.below(world.size()) == world.rank();
        for (auto n : lengths) {
            const auto index = random.below(n);
            if (mine) tuples.push_back(index);
        }
        const double value =
            std::ldexp(random.unit() - 0.5, static_cast<int>(random.below(sizeof(T) == 4 ? 200 : 2000)) - (sizeof(T) == 4 ? 140 : 1070));
        if (mine) values.push_back(static_cast<T>(value));
    }
    X.write_at(tuples, values, Duplicates::keep_first);
    return X;
}

/// Text as gzip, in members of `piece` bytes.
inline std::string zipped(const std::string& text, std::size_t piece = std::size_t{1} << 30) {
    std::string result;
    for (std::size_t begin = 0; begin == 0 || begin < text.size(); begin += piece) {
        auto part = text.substr(begin, piece);
        z_stream z{};
        deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
        std::string out(deflateBound(&z, part.size()), '\0');
        z.next_in = reinterpret_cast<Bytef*>(part.data());
        z.avail_in = static_cast<uInt>(part.size());
        z.next_out = reinterpret_cast<Bytef*>(out.data());
        z.avail_out = static_cast<uInt>(out.size());
        deflate(&z, Z_FINISH);
        result += out.substr(0, z.total_out);
        deflateEnd(&z);
    }
    return result;
}

/// The message of the InvalidArgument that reading throws on every rank; a note if it throws none, or not the same on all.
template <class T = double>
std::string message_of_reading(const World& world, const std::string& path, const SparseReadOptions& options = {}) {
    std::string message = "no exception";
    try {
        read_sparse<T>(world, path, options);
    } catch (const InvalidArgument& error) {
        message = error.what();
    }
    const Communicator comm(world.communicator());
    const auto hash = static_cast<std::int64_t>(std::hash<std::string>()(message) >> 1);
    return comm.maximum(hash) == comm.minimum(hash) ? message : "not the same on all ranks: " + message;
}

}  // namespace arges::test

// Parts of a tensor for the ranks that ask: ranges are told, then all data go in one exchange, from the
// copies that have the reader's coordinates.
#include "redistribute/part_reader.hpp"

#include "base/element_at.hpp"
#include "base/math.hpp"
#include "comm/values.hpp"

#include <algorithm>
#include <cstring>

namespace arges {

std::int64_t Part::size() const {
    std::int64_t product = 1;
    for (std::size_t d = 0; d < begin.size(); ++d) product *= std::max<std::int64_t>(0, end[d] - begin[d]);
    return product;
}

namespace {

/// What a coordinate holds of one dimension of a part: every `length`-th index.
struct Held {
    std::int64_t in_part = 0;  // of the first one, counted from the part's begin
    std::int64_t local = 0;    // index of the first one at the coordinate
    std::int64_t count = 0;
};

Held held_at(std::int64_t coordinate, std::int64_t length, std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin + ((coordinate - begin) % length + length) % length;
    if (first >= end) return {};
    return {first - begin, first / length, ceil_div(end - first, length)};
}

}  // namespace

PartReader::PartReader(const Communicator* comm, const Layout& layout, std::int64_t rank, const void* elements, std::int64_t element_bytes)
    : comm_(comm), layout_(layout), rank_(rank), elements_(elements), element_bytes_(element_bytes) {}

/// Coordinates of a rank, by slot; none for an idle rank, which holds nothing.
std::vector<std::int64_t> PartReader::coordinates_of(std::int64_t rank) const {
    std::vector<std::int64_t> coordinates;
    if (!layout_.grid().is_idle(rank))
        for (int s = 0; s < layout_.slots(); ++s) coordinates.push_back(layout_.coordinate(rank, s));
    return coordinates;
}

/// True if a rank that holds elements is the one of their copies that another rank asks.
bool PartReader::serves(std::int64_t server, std::int64_t rank) const {
    return !layout_.grid().is_idle(server) && layout_.copy_offset(server) == layout_.copy_offset(rank);
}

/// Calls f(offset in the part, distance in the part, offset at the coordinate, count) for each run along the first slot of what the
/// coordinates hold of a part; there the run is contiguous.
template <class F>
void PartReader::for_each_run(const Part& part, const std::vector<std::int64_t>& coordinates, F&& f) const {
    if (coordinates.size() != static_cast<std::size_t>(layout_.slots())) return;
    struct Loop {
        Held held;
        std::int64_t part_step, local_step;
    };
    std::vector<std::int64_t> part_stride(part.begin.size(), 1);
    for (std::size_t d = 1; d < part.begin.size(); ++d) part_stride[d] = part_stride[d - 1] * (part.end[d - 1] - part.begin[d - 1]);
    std::vector<Loop> loops;
    std::int64_t in_part = 0, local = 0, stride = 1;
    for (int s = 0; s < layout_.slots(); ++s) {
        const std::size_t d = layout_.slot_dimensions(s)[0];
        const std::int64_t coordinate = coordinates[s], steps = layout_.slot(s).grid_length();
        const Held held = held_at(coordinate, steps, part.begin[d], part.end[d]);
        if (held.count == 0) return;
        loops.push_back({held, steps * part_stride[d], stride});
        in_part += held.in_part * part_stride[d];
        local += held.local * stride;
        stride *= layout_.slot(s).local_size(coordinate);
    }
    if (loops.empty()) {
        f(std::int64_t{0}, std::int64_t{1}, std::int64_t{0}, std::int64_t{1});
        return;
    }
    const auto walk = [&](auto&& self, std::size_t s, std::int64_t at, std::int64_t from) -> void {
        if (s == 0) {
            f(at, loops[0].part_step, from, loops[0].held.count);
            return;
        }
        for (std::int64_t k = 0; k < loops[s].held.count; ++k)
            self(self, s - 1, at + k * loops[s].part_step, from + k * loops[s].local_step);
    };
    walk(walk, loops.size() - 1, in_part, local);
}

const void* PartReader::in_place(const Part& part) const {
    const auto coordinates = coordinates_of(rank_);
    if (coordinates.empty() && layout_.slots() > 0) return nullptr;
    std::int64_t offset = 0, stride = 1;
    bool one_piece = true;  // so far all indices of each slot are there; behind one where they are not there may be one only
    for (int s = 0; s < layout_.slots(); ++s) {
        const std::size_t d = layout_.slot_dimensions(s)[0];
        const std::int64_t extent = layout_.extents()[d], count = part.end[d] - part.begin[d];
        if (static_cast<int>(d) != s || layout_.slot(s).grid_length() != 1 || (!one_piece && count != 1)) return nullptr;
        offset += part.begin[d] * stride;
        stride *= extent;
        one_piece = one_piece && count == extent;
    }
    return element_at(elements_, offset, element_bytes_);
}

void PartReader::copy_own(const Part& part, void* to) const {
    for_each_run(part, coordinates_of(rank_), [&](std::int64_t at, std::int64_t step, std::int64_t from, std::int64_t count) {
        spread(element_at(elements_, from, element_bytes_), count, to, at, step);
    });
}

/// Puts neighbouring elements into an array, `step` apart.
void PartReader::spread(const std::byte* from, std::int64_t count, void* to, std::int64_t at, std::int64_t step) const {
    with_element_bytes(element_bytes_, [&](auto bytes) {
        for (std::int64_t k = 0; k < count; ++k) std::memcpy(element_at(to, at + k * step, bytes), from + k * bytes, bytes);
    });
}

/// Appends what this rank holds of a part.
void PartReader::pack(const Part& part, std::vector<std::byte>& to) const {
    const auto coordinates = coordinates_of(rank_);
    std::size_t bytes = 0;
    for_each_run(part, coordinates, [&](std::int64_t, std::int64_t, std::int64_t, std::int64_t count) { bytes += count * element_bytes_; });
    std::size_t at = to.size();
    to.resize(at + bytes);
    for_each_run(part, coordinates, [&](std::int64_t, std::int64_t, std::int64_t from, std::int64_t count) {
        std::memcpy(to.data() + at, element_at(elements_, from, element_bytes_), count * element_bytes_);
        at += count * element_bytes_;
    });
}

/// Puts what a rank has packed to its places; returns what is behind.
const std::byte* PartReader::unpack(const Part& part, std::int64_t server, const std::byte* from, void* to) const {
    for_each_run(part, coordinates_of(server), [&](std::int64_t at, std::int64_t step, std::int64_t, std::int64_t count) {
        spread(from, count, to, at, step);
        from += count * element_bytes_;
    });
    return from;
}

void PartReader::read(std::span<const Part> parts, std::span<void* const> to) const {
    if (comm_ == nullptr) {
        for (std::size_t p = 0; p < parts.size(); ++p) copy_own(parts[p], to[p]);
        return;
    }
    // The parts that each rank asks for: begins and ends.
    std::vector<std::int64_t> mine, lengths;
    for (const Part& part : parts) {
        mine.insert(mine.end(), part.begin.begin(), part.begin.end());
        mine.insert(mine.end(), part.end.begin(), part.end.end());
    }
    const auto all = gathered(*comm_, mine, &lengths);

    const std::ptrdiff_t order = layout_.order();
    std::vector<std::vector<std::byte>> packed(comm_->size());
    comm_->agree([&] {
        auto asked = all.begin();
        for (std::int64_t r = 0; r < comm_->size(); ++r) {
            const auto end = asked + lengths[r];
            if (r != rank_ && serves(rank_, r))
                for (auto part = asked; part < end; part += 2 * order)
                    pack({{part, part + order}, {part + order, part + 2 * order}}, packed[r]);
            asked = end;
        }
    });
    const auto received = comm_->all_to_all(packed);
    for (std::int64_t r = 0; r < comm_->size(); ++r) {
        if (!serves(r, rank_)) continue;
        const std::byte* from = received[r].data();
        for (std::size_t p = 0; p < parts.size(); ++p)
            if (r == rank_)
                copy_own(parts[p], to[p]);
            else
                from = unpack(parts[p], r, from, to[p]);
    }
}

}  // namespace arges

/// Whole parts of a distributed tensor, for each rank those that it asks for.
#pragma once

#include "comm/communicator.hpp"
#include "layout/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace arges {

/// The indices begin[d] <= x[d] < end[d] of a tensor.
struct Part {
    std::vector<std::int64_t> begin, end;

    std::int64_t size() const;
};

/// Reads parts of a tensor without symmetry. Where ranks hold copies, each rank asks those that have its own coordinates along
/// the torus dimensions of the copies, so that copies share the work.
class PartReader {
public:
    /// Local. @param comm null for one rank
    /// @param layout    without symmetry and without parts of sums; it and the elements must stay while they are read
    PartReader(const Communicator* comm, const Layout& layout, std::int64_t rank, const void* elements, std::int64_t element_bytes);

    /// The part's elements, first dimension fastest, where they lie on this rank in this order; else null. Local.
    const void* in_place(const Part& part) const;
    /// Copies parts to arrays of their sizes, first dimension fastest. Ranks may ask for different parts, and for none. All sent
    /// data are packed once: a rank takes as much memory for them as it sends and receives. Collective.
    /// @throws OutOfMemory on every rank
    void read(std::span<const Part> parts, std::span<void* const> to) const;

private:
    std::vector<std::int64_t> coordinates_of(std::int64_t rank) const;
    bool serves(std::int64_t server, std::int64_t rank) const;
    template <class F>
    void for_each_run(const Part& part, const std::vector<std::int64_t>& coordinates, F&& f) const;
    void pack(const Part& part, std::vector<std::byte>& to) const;
    const std::byte* unpack(const Part& part, std::int64_t server, const std::byte* from, void* to) const;
    void copy_own(const Part& part, void* to) const;
    void spread(const std::byte* from, std::int64_t count, void* to, std::int64_t at, std::int64_t step) const;

    const Communicator* comm_;
    const Layout& layout_;
    std::int64_t rank_;
    const void* elements_;
    std::int64_t element_bytes_;
};

}  // namespace arges

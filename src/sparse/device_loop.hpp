/// Products of nonzeros with dense factors on a device: the lists of a local::SparseLoop there, and its sums in pieces.
#pragma once

#include "arges/element_kernels.hpp"
#include "arges/sparse_loops.hpp"
#include "base/buffer.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace arges::sparse {

/// Dense factors and axes of a loop on a device at most.
inline constexpr int most_loop_factors = 8, most_loop_axes = 8;

/// How the runs of a loop are made on a device. Those of many nonzeros come last and are cut into pieces, at places that depend on the
/// numbers of nonzeros only, so that sums are the same to the bit however they are run. What fails there is kept, see device/failure.
class DeviceLoop {
public:
    /// May a device make it? It has few factors and axes, and no action.
    static bool is_possible(const local::SparseLoop& loop);

    /// Finds the runs that are cut; nothing is on the device. @param loop  with lists on the host, and axes
    /// @param most_kept  sums of pieces at a time, but for a single run, which has all of its own
    explicit DeviceLoop(const local::SparseLoop& loop, std::int64_t most_kept = 1 << 25);

    /// Copies the lists of the same loop there, where they are not. @throws OutOfMemory
    void copy_lists(const local::SparseLoop& loop, const MemorySpace* space);
    /// Gives them back.
    void drop_lists() { there_ = {}; }
    bool has_lists() const { return there_.start.size() > 0; }
    /// Of the lists on the device, be they there or not, and what copying them takes on the host.
    std::int64_t list_bytes() const { return list_bytes_; }
    std::int64_t copying_bytes() const;
    /// Sums of pieces that a run keeps on the device.
    std::int64_t kept_elements() const;

    /// Runs the loop, whose lists are there. @param loop  with values, factors and the result there, and axes
    /// @param kept  room for kept_elements() there
    void multiply(const ElementKernels& kernels, local::SparseLoop loop, void* kept) const;

private:
    struct Numbers {
        Buffer<std::uint32_t> narrow;
        Buffer<std::int64_t> wide;
        local::NonzeroNumbers numbers() const { return {narrow.data(), wide.data()}; }
    };
    struct Lists {
        Buffer<std::int64_t> start, target;            // short runs, then those that are cut
        Buffer<std::int64_t> pieces, parts, place_of;  // the first nonzero of each piece; parts_; where its sums lie in the batch
        Numbers places;
        std::vector<Numbers> offsets;
    };
    std::int64_t short_runs() const { return runs_ - std::ssize(cut_); }
    /// Where the cut runs end whose pieces are kept at the same time.
    std::int64_t batch_end(std::int64_t first) const;
    template <class X>
    std::vector<X> in_order(const local::SparseLoop& loop, const X* list) const;
    template <class X>
    void put_places(const local::SparseLoop& loop, Buffer<X>& there, const MemorySpace* space) const;
    bool is_narrow() const { return nonzeros_ <= std::numeric_limits<std::uint32_t>::max(); }
    Numbers numbers_there(const local::SparseLoop& loop, const local::NonzeroNumbers& numbers, const MemorySpace* space) const;

    std::int64_t runs_, nonzeros_, most_kept_, width_ = 1, list_bytes_;  // width: elements of the result for each run
    std::vector<std::int64_t> cut_, parts_{0};  // runs that are cut, and the number of the first piece of each, and the end
    Lists there_;
};

}  // namespace arges::sparse

/// The matricized tensor times Khatri-Rao product of a rank's nonzeros, in several formats.
#pragma once

#include "arges/element_kernels.hpp"
#include "base/memory_tally.hpp"
#include "sparse/nonzeros.hpp"
#include "sparse/row_matrix.hpp"

#include <memory>
#include <span>
#include <string>

namespace arges::sparse {

/// How nonzeros are stored.
enum class Format : std::uint8_t {
    automatic,    ///< chosen by choose_format()
    coordinates,  ///< index tuples
    csf_one,      ///< compressed sparse fibers, one tree for all modes
    csf_two,      ///< two trees: one with the shortest mode first, one with the longest
    csf_all,      ///< a tree for every mode, which is its root
    hicoo,        ///< blocks of coordinates with short offsets
    linear,       ///< one integer of interleaved index bits for each nonzero, as ALTO has it
    device        ///< sorted by each mode, in the memory of a device
};

std::string to_string(Format format);
/// @throws InvalidArgument for a name that to_string() does not give; the message lists those that there are
Format parse_format(const std::string& name);

/// Nonzeros made ready for MTTKRP.
template <class T>
class Mttkrp {
public:
    virtual ~Mttkrp() = default;

    /// out(i, r) = sum over the nonzeros x of slice i of `mode` of value(x) * product over the other modes m of factors[m](x_m, r).
    /// Rows without nonzeros become zero. factors[mode] is not read. All matrices have the same number of columns. Uses the threads
    /// that OpenMP gives; the same number of threads gives the same result to the bit.
    virtual void multiply(int mode, std::span<const RowMatrix<const T>> factors, RowMatrix<T> out) = 0;

    /// The factor of a mode has other elements than in the last call of multiply(), where its address is the same; a device has copies.
    virtual void factor_changes(int /*mode*/) {}

    virtual Format format() const = 0;
    /// Memory that the format takes, without the buffers of multiply(); that of a device where the nonzeros are there.
    virtual std::int64_t bytes() const = 0;
};

/// Makes nonzeros ready. `modes` are those that multiply() will be called with. Coordinates must be distinct.
/// @param device  table that has sum_nonzeros, for Format::device; what fails there is kept, see device/failure
template <class T>
std::unique_ptr<Mttkrp<T>> make_mttkrp(const LocalNonzeros<T>& nonzeros, Format format, std::span<const int> modes,
                                       const ElementKernels* device = nullptr);

/// The format that `automatic` stands for, for so many nonzeros with these numbers of rows. The rules and the measurements behind them:
/// docs/sparse_formats.md. Pure.
Format choose_format(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, std::span<const int> modes);

/// Memory of make_mttkrp() beside the nonzeros, an upper bound; what it holds at the end is the format. Pure.
/// @param rows as LocalNonzeros::rows @param format not automatic
MemoryTally mttkrp_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, Format format,
                          std::span<const int> modes);
/// Memory of the buffers that multiply() keeps for threads other than the first, an upper bound. Pure.
std::int64_t thread_buffer_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, Format format,
                                  std::span<const int> modes, int columns, int threads);

}  // namespace arges::sparse

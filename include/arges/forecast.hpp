/// @file forecast.hpp
/// What decompositions of tensors in files take of memory, told from headers and samples of the files before anything is read.
#pragma once

#include "arges/complete.hpp"
#include "arges/cpd.hpp"
#include "arges/sparse_io.hpp"
#include "arges/tucker.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace arges {

/// @cond
namespace io {
struct SparseOutline;
}
class Layout;
/// @endcond

/// The file of a sparse tensor: its header, or for text what samples of it let expect. Bytes are upper bounds, on a rank that has its even
/// share and a tenth more, without what the process takes for itself (code, MPI, BLAS). They are the same on every rank.
class SparseFileForecast {
public:
    /// Looks at the header of a binary or MatrixMarket file, or at 64 places of a text (of compressed text, at its first MiB). What is
    /// wrong with the file is left for read_sparse() to say. Element type and options are those that it will be given. Collective.
    /// @throws InvalidArgument on every rank if the file cannot be opened
    SparseFileForecast(const World& world, const std::string& path, ElementType element, const SparseReadOptions& options = {});

    /// The number of values and the lengths were found; without them there are no bytes to tell.
    bool is_known() const;
    /// They are those of a header, which says how indices count, too; of a symmetric matrix the most that it can have.
    bool is_exact() const;
    /// The values in the file are float32.
    bool is_single() const;
    /// By its form, no element is in the file twice.
    bool is_distinct() const;

    /// Bytes of read_sparse(), the tensor included. Local; so are the next three.
    std::int64_t bytes() const;
    /// Bytes of cp_decompose() of the tensor, which it may take apart, the tensor included.
    std::int64_t bytes(const CpOptions& options) const;
    /// Likewise of tucker_decompose(); 0 where there is not one rank for each mode.
    std::int64_t bytes(const TuckerOptions& options) const;
    /// Likewise of complete().
    std::int64_t bytes(const CompletionOptions& options) const;
    /// Bytes that read_sparse() has taken at most, on the rank that took most. Collective.
    std::int64_t bytes_taken(const AnyTensor& tensor, const ReadReport& report) const;

private:
    std::shared_ptr<const io::SparseOutline> outline_;
};

/// The file of a dense tensor. Bytes are upper bounds on this rank, without what the process takes for itself.
class DenseFileForecast {
public:
    /// Collective. @throws InvalidArgument on every rank as read_tensor() does
    DenseFileForecast(const World& world, const std::string& path, ElementType element);

    /// Bytes of read_tensor(), the tensor included. Local; so are the next four.
    std::int64_t bytes() const { return reading_; }
    /// Bytes of cp_decompose(), the tensor included; 0 for a tensor that it refuses.
    std::int64_t bytes(const CpOptions& options) const;
    /// Bytes of tucker_decompose() and relative_error(), the tensor included.
    /// @throws InvalidArgument for options that are not for such a tensor
    std::int64_t bytes(const TuckerOptions& options) const;
    /// Bytes of read_known_elements(), the sparse tensor included.
    std::int64_t known_bytes() const;
    /// Bytes of complete() of that, the tensor included, if no element is missing.
    std::int64_t bytes(const CompletionOptions& options) const;

private:
    World world_;
    std::string title_;
    ElementType element_;
    std::shared_ptr<const Layout> layout_;
    std::int64_t reading_ = 0;
};

}  // namespace arges

/// Binary forms of sparse tensors: our own (.atns), and SPLATT's .bin, which is only read. See docs/sparse_files.md.
#pragma once

#include "arges/sparse_io.hpp"
#include "io/file/parallel_file.hpp"
#include "io/sparse/text_reader.hpp"

#include <cstddef>
#include <span>

namespace arges::io {

/// True if a file that begins with these bytes is in our binary form.
bool is_own_binary(std::span<const std::byte> beginning);
/// True if a file that begins with these bytes is in SPLATT's coordinate form.
bool is_splatt_binary(std::span<const std::byte> beginning);

/// What the header of a binary file says: no lengths where it says nothing.
struct BinaryShape {
    std::vector<std::int64_t> lengths{};
    std::int64_t count = 0;
    std::int64_t value_bytes = 0;
};
/// Of our form. Local. @throws InvalidArgument if the header is wrong
BinaryShape own_binary_shape(const InputFile& file);
/// Of SPLATT's form. Local. @throws InvalidArgument if the header is wrong
BinaryShape splatt_shape(const InputFile& file);

/// Reads our form as float or double. Collective. @throws InvalidArgument or OutOfMemory on every rank
ReadNonzeros read_own_binary(const InputFile& file, ElementType type, std::int64_t room);
/// Reads SPLATT's form likewise. Collective. @throws InvalidArgument or OutOfMemory on every rank
ReadNonzeros read_splatt_binary(const InputFile& file, ElementType type, std::int64_t room);

/// Writes our form of float or double. Collective. @throws InvalidArgument on every rank
void write_own_binary(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, const SparseValues& values,
                      const std::string& path);

}  // namespace arges::io

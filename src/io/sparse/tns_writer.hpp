/// Writing sparse tensors as text, plain or compressed.
#pragma once

#include "interface/sparse/sparse_values.hpp"
#include "io/file/element_text.hpp"
#include "io/file/parallel_file.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace arges::io {

/// Hands over the text of this rank in pieces; called twice for plain text, and must give the same then.
using TextProducer = std::function<void(const std::function<void(std::string_view)>& take)>;

/// Writes the texts of all ranks one after the other; compressed as one gzip member from each rank that has text. The file does not have
/// its name yet: see OutputFile::publish(). Collective.
std::unique_ptr<OutputFile> prepare_text(const Communicator& comm, const std::string& path, bool compressed, const TextProducer& produce);

/// Writes a heading, then nonzeros as lines of indices, counted from `base`, and value. Collective.
void write_lines(const Communicator& comm, const ElementText& text, const std::string& heading, const sparse::NonzeroIndices& nonzeros,
                 const SparseValues& values, const std::string& path, bool compressed, std::int64_t base);

}  // namespace arges::io

// The library's messages in the words of the package.
#include "python/bindings.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace arges::python {

namespace {

using Words = std::pair<std::string_view, std::string_view>;

/// What stands in messages, and what does in Python's; earlier ones first.
constexpr std::array words{
    Words{"World::set_memory_limit", "world.memory_limit"},
    Words{"--memory, ARGES_MEMORY_LIMIT", "world.memory_limit, ARGES_MEMORY_LIMIT"},
    Words{"World::dry_run", "World.dry_run()"},
    Words{"Duplicates::refuse, Duplicates::keep_first or Duplicates::keep_last", "duplicates=\"refuse\", \"keep_first\" or \"keep_last\""},
    Words{"Duplicates::sum, Duplicates::keep_first or Duplicates::keep_last", "duplicates=\"sum\", \"keep_first\" or \"keep_last\""},
    Words{", or set EighOptions::symmetric to use the part below the diagonal", ""},
    Words{"set SvdOptions::method to SvdMethod::randomized", "give randomized=True"},
    Words{"svd() with SvdMethod::randomized", "svd(randomized=True)"},
    Words{"set SvdOptions::rank", "give rank="},
    Words{"SparseTensor::from_dense()", "to_sparse()"},
    Words{"label one by Tensor::operator[]", "label one as in A[\"ij\"]"},
    Words{"Tensor::with_symmetry()", "with_symmetry()"},
    Words{"with_symmetry({})", "with_symmetry(None)"},
    Words{"no 64-bit keys; use write_at() with index tuples", "no 64-bit keys; use arges.sparse() with arrays of indices"},
    Words{"or write elements by write_at()", "or write elements by write()"},
    Words{"leave out --restart", "leave out restart=True"},
    Words{"let ARGES_MACHINE or --output name", "let ARGES_MACHINE name"},
    Words{"with read_tensor()", "with arges.read()"},
    Words{"; explain_cp() does without", ""},
    Words{"; use least_squares()", "; use arges.linalg.lstsq()"},
    Words{"use eigh(), or", "use arges.linalg.eigh(), or"},
    Words{"; convert its tensors first", "; convert its tensors first by A.astype()"},
    Words{"; convert one of them first", "; convert one of them first by A.astype()"},
    Words{"over<...>()", "arges.over()"},
    Words{"over<...>", "arges.over()"},
    Words{"is divided by update() or map()", "is divided by arges.apply()"},
    Words{"map(...)", "apply(...)"},
    Words{"::", "."},
};

}  // namespace

std::string in_words_of_python(std::string text) {
    for (const auto& [old, other] : words)
        for (auto at = text.find(old); at != std::string::npos; at = text.find(old, at + other.size())) text.replace(at, old.size(), other);
    return text;
}

}  // namespace arges::python

/// Files that are no text, by their first bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace arges::io {

/// What a file is that begins so and is no text, and what to do with it; empty if it may be text.
std::string foreign_form(std::span<const std::byte> beginning);

}  // namespace arges::io

/// Nonzeros from the lines of a text, whatever their form.
#pragma once

#include "comm/communicator.hpp"
#include "interface/sparse/sparse_values.hpp"
#include "io/file/element_text.hpp"
#include "io/file/parallel_file.hpp"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace arges::io {

/// Collects the nonzeros of blocks of lines.
class LineParser {
public:
    /// @param keep_lines whether take_lines() is wanted
    LineParser(std::size_t order, const ElementText& text, bool keep_lines)
        : text_(text), kernels_(text.kernels()), keep_lines_(keep_lines), order_(order) {
        nonzeros_.indices.resize(order);
        nonzeros_.values = SparseValues(kernels_, 0);
    }
    virtual ~LineParser() = default;
    LineParser(const LineParser&) = delete;
    LineParser& operator=(const LineParser&) = delete;

    /// Reads whole lines, each with its end; `first_line` is the number of the first. After an error nothing more is read. Local.
    virtual void parse(std::string_view block, std::int64_t lines, std::int64_t first_line) = 0;
    /// Makes the indices of this rank those of the whole text, when all ranks have read without an error. Collective.
    virtual void settle(const Communicator& /*comm*/) {}
    /// Bytes that are held beside the nonzeros.
    virtual std::int64_t other_bytes() const { return 0; }

    /// Makes room for so many nonzeros in all.
    void reserve(std::int64_t count);
    std::int64_t count() const { return used_; }
    /// Nonzeros that there is room for.
    std::int64_t room() const { return nonzeros_.values.count(); }
    /// Gives the nonzeros away, without lengths; when all is read.
    AnyNonzeros take();
    /// Gives away, by nonzero, the number of its line; empty unless wanted.
    std::vector<std::int64_t> take_lines() { return std::move(lines_); }
    const LineError& error() const { return error_; }

protected:
    /// Makes room for a block of so many lines.
    void make_room(std::int64_t lines);
    /// Where the value of the next nonzero goes.
    std::byte* next_value() { return element_at(nonzeros_.values.data(), used_, kernels_.size); }

    const ElementText& text_;
    const ElementKernels& kernels_;
    bool keep_lines_;
    std::size_t order_;
    std::int64_t used_ = 0;
    AnyNonzeros nonzeros_;
    std::vector<std::int64_t> lines_;
    LineError error_;
};

}  // namespace arges::io

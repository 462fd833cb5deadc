// Reading and writing sparse tensors in the form that the file or its name has.
#include "arges/error.hpp"
#include "arges/sparse_io.hpp"
#include "base/memory_tally.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/sparse/sparse_tensor_merge.hpp"
#include "interface/sparse/sparse_tensor_slices.hpp"
#include "interface/world/call_arguments.hpp"
#include "interface/world/world_state.hpp"
#include "io/file/element_text.hpp"
#include "io/file/foreign_form.hpp"
#include "io/file/gz.hpp"
#include "io/sparse/file_duplicates.hpp"
#include "io/sparse/mtx_reader.hpp"
#include "io/sparse/sparse_binary.hpp"
#include "io/sparse/text_reader.hpp"
#include "io/sparse/tns_writer.hpp"

#include <array>
#include <memory>
#include <utility>

namespace arges {

namespace {

using namespace io;

enum class Form { text, compressed, matrix, compressed_matrix, own_binary, splatt_binary };

bool has_binary(ElementType type) { return type == ElementType::float32 || type == ElementType::float64; }

/// The form of a file, by its first bytes. Collective.
Form form_of(const InputFile& file) {
    return from_first_rank(file.comm(), [&] {
        std::array<std::byte, 20> bytes;
        const auto beginning = std::span<const std::byte>(bytes).first(file.read(0, bytes.data(), bytes.size()));
        if (is_own_binary(beginning)) return Form::own_binary;
        if (is_splatt_binary(beginning)) return Form::splatt_binary;
        if (file.path().ends_with(".atns"))
            throw InvalidArgument(file.path() +
                                  ": the file does not begin as a binary one, which it is by its name (.atns); it is damaged or " +
                                  "of another form: copy it again, or give it the name of its form");
        if (const auto foreign = foreign_form(beginning); !foreign.empty())
            throw InvalidArgument(file.path() + ": the file is " + foreign + "; sparse tensors are read from text (.tns, .mtx, also .gz) " +
                                  "and from binary files (.atns, SPLATT's)");
        if (is_gzip(beginning)) return is_matrix_market(file, true) ? Form::compressed_matrix : Form::compressed;
        return is_matrix_market(file, false) ? Form::matrix : Form::text;
    });
}

/// The form that a name asks for.
Form form_for(const std::string& path) {
    if (path.ends_with(".atns")) return Form::own_binary;
    if (path.ends_with(".mtx")) return Form::matrix;
    if (path.ends_with(".mtx.gz")) return Form::compressed_matrix;
    if (path.ends_with(".gz")) return Form::compressed;
    if (path.ends_with(".tns") || path.ends_with(".txt")) return Form::text;
    throw InvalidArgument(path + ": the name does not say in which form to write; end it with .tns or .tns.gz (text), .atns "
                                 "(binary) or .mtx (MatrixMarket)");
}

void check_lengths(const InputFile& file, const std::vector<std::int64_t>& demanded, const std::vector<std::int64_t>& found) {
    if (demanded.empty() || demanded == found) return;
    throw InvalidArgument(file.path() + ": the tensor is " + joined(found, " x ") + ", but " + joined(demanded, " x ") +
                          " is demanded; correct the lengths, or read another file");
}

ReadNonzeros read_form(const InputFile& file, const ElementText& text, const SparseReadOptions& options, std::int64_t room) {
    const auto form = form_of(file);
    switch (form) {
    case Form::text: return read_tns(file, text, options, false, room);
    case Form::compressed: return read_tns(file, text, options, true, room);
    case Form::matrix: return read_matrix_market(file, text, options, false, room);
    case Form::compressed_matrix: return read_matrix_market(file, text, options, true, room);
    default:
        if (!has_binary(text.type))
            throw InvalidArgument(file.path() + ": a binary file has values of float or double; read it as one of them");
        return form == Form::own_binary ? read_own_binary(file, text.type, room) : read_splatt_binary(file, text.type, room);
    }
}

/// What stands before the entries of a MatrixMarket file.
std::string matrix_heading(const SparseState& state, const std::string& path, IndexBase base) {
    if (state.order() != 2)
        throw InvalidArgument(path + ": " + state.title() + " has " + std::to_string(state.order()) +
                              " modes, and a MatrixMarket file has a matrix; write another form (.tns or .atns)");
    if (base == IndexBase::zero)
        throw InvalidArgument(path + ": in a MatrixMarket file indices count from 1; leave the base out, or write another form (.tns)");
    const auto sizes = state.lengths();
    const std::string field = !state.kernels->is_field ? "integer" : state.kernels->is_complex ? "complex" : "real";
    return "%%MatrixMarket matrix coordinate " + field + " general\n" + std::to_string(sizes[0]) + " " + std::to_string(sizes[1]) + " ";
}

/// Memory of compacted() on a rank, an upper bound; what it holds at the end are the nonzeros and the maps. Pure.
MemoryTally compacting_memory(std::int64_t ranks, std::int64_t count, std::int64_t value_bytes, const std::vector<std::int64_t>& lengths) {
    MemoryTally tally;
    tally.hold(count * value_bytes);
    for (auto length : lengths) {
        const auto list = slice_list_memory(ranks, count, length);
        tally.add(list);
        tally.add(renumbering_memory(ranks, count, length));
        tally.hold(-list.held() / 2);  // the counts
    }
    return tally;
}

std::string name_of(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

AnyTensor read_sparse(ElementType type, const World& world, const std::string& path, const SparseReadOptions& options, ReadReport& report) {
    const CollectiveCall call(ranks_of(world), "read_sparse", path, options.base, options.lengths, options.duplicates);
    const auto name = options.name.empty() ? name_of(path) : options.name;
    const auto& comm = communicator_of(world, path);
    const auto& text = element_text(type, path);
    const auto made = [&](const std::vector<std::int64_t>& lengths) {
        return std::make_shared<SparseState>(text.kernels(), world, lengths, Symmetry(), name);
    };
    check_policy(text.kernels(), options.duplicates, path, true);
    if (!options.lengths.empty()) made(options.lengths);  // refuses wrong lengths
    const InputFile file(comm, path);
    auto read = read_form(file, text, options, world.memory_limit() - world.memory_in_use());
    check_lengths(file, options.lengths, read.report.lengths);
    auto& nonzeros = read.nonzeros;
    if (!read.distinct) {
        const auto base = read.report.index_base;
        merge_duplicates({comm, path, [&](const auto& where) { return coordinate_text(where, base); }}, type, options.duplicates,
                         std::move(read.lines), nonzeros, read.report);
    }
    if (read.symmetry != MatrixSymmetry::general) {
        const auto before = nonzeros.count();
        file.comm().agree([&] { expand(nonzeros, read.symmetry, text); });
        read.report.entries += file.comm().sum(nonzeros.count() - before);
    }
    auto result = made(read.report.lengths);
    report = read.report;
    for (const auto& column : nonzeros.indices) report.nonempty_slices.push_back(nonempty_slices(file.comm(), column).total());
    result->replace(std::move(nonzeros), SparsePattern::Place::anywhere);
    return AnyTensor(std::move(result));
}

void write_sparse(const AnyTensor& tensor, const std::string& path, IndexBase base) {
    const CollectiveCall call(ranks_of(tensor.world()), "write_sparse", tensor, path, base);
    const auto whole = whole_state_of(tensor, "write_sparse");
    const auto& state = *whole;
    const auto type = element_type_of(*state.kernels);
    if (!type) throw InvalidArgument(path + ": elements of type " + readable_type(state.kernels->name) + " are not written to files");
    const auto& text = element_text(*type, path);
    const auto& pattern = *state.pattern();
    const auto& comm = state.comm();
    const auto form = form_for(path);
    const bool compressed = form == Form::compressed || form == Form::compressed_matrix;
    if (form == Form::matrix || form == Form::compressed_matrix) {
        const auto heading = matrix_heading(state, path, base) + std::to_string(comm.sum(state.count())) + "\n";
        write_lines(comm, text, heading, pattern, state.values(), path, compressed, 1);
        return;
    }
    if (state.kernels->is_complex) throw InvalidArgument(path + ": complex values are written to MatrixMarket files only (.mtx, .mtx.gz)");
    if (form != Form::own_binary) {
        // A file may not be empty, so a tensor without nonzeros is a comment.
        const auto note = comm.sum(state.count()) == 0 ? "# no nonzeros, " + joined(pattern.lengths, " x ") + "\n" : "";
        write_lines(comm, text, note, pattern, state.values(), path, compressed, base == IndexBase::zero ? 0 : 1);
        return;
    }
    if (!has_binary(*type)) throw InvalidArgument(path + ": a binary file has values of float or double; write .tns, .tns.gz or .mtx");
    write_own_binary(comm, pattern, state.values(), path);
}

AnyTensor compacted(const AnyTensor& tensor, std::vector<std::vector<std::int64_t>>& maps) {
    const CollectiveCall call(ranks_of(tensor.world()), "compacted", tensor);
    const auto whole = whole_state_of(tensor, "compacted");
    const auto& old = *whole->pattern();
    const auto& comm = whole->comm();
    const auto bytes = comm.maximum(compacting_memory(comm.size(), old.count(), whole->kernels->size, old.lengths).peak()),
               room = whole->world->least_free_bytes();
    if (bytes > room)
        throw OutOfMemory(whole->title() + ": to remove empty slices takes " + std::to_string(bytes) +
                          " bytes on a rank, but the memory limit leaves " + std::to_string(room) +
                          "; use more ranks or raise the limit (--memory, ARGES_MEMORY_LIMIT)");
    AnyNonzeros nonzeros;
    comm.agree([&] { nonzeros.values = whole->values().copy(); });
    for (const auto& indices : old.indices) {
        auto slices = nonempty_slices(comm, indices);
        nonzeros.indices.push_back(renumbered(comm, slices, indices));
        nonzeros.lengths.push_back(slices.total());
        maps.push_back(std::move(slices.mine));
    }
    auto result = std::make_shared<SparseState>(*whole->kernels, whole->world_handle, nonzeros.lengths, Symmetry(), whole->name);
    result->replace(std::move(nonzeros), SparsePattern::Place::anywhere);
    return AnyTensor(std::move(result));
}

void check_sparse_name(const std::string& path) { form_for(path); }

void write_map(const World& world, const std::vector<std::int64_t>& map, const std::string& path, IndexBase base) {
    const CollectiveCall call(ranks_of(world), "write_map", path, base);
    const auto produce = [&](const std::function<void(std::string_view)>& take) {
        std::string text;
        for (auto index : map) {
            append_number(text, index + (base == IndexBase::zero ? 0 : 1));
            text += '\n';
        }
        take(text);
    };
    prepare_text(communicator_of(world, path), path, false, produce)->publish();
}

}  // namespace arges

// Reading and writing sparse tensors in the form that the file or its name has.
#include "arges/error.hpp"
#include "arges/sparse_io.hpp"
#include "base/memory_tally.hpp"
#include "base/release.hpp"
#include "comm/collective_call.hpp"
#include "interface/real_world.hpp"
#include "interface/sparse_state.hpp"
#include "interface/sparse_tensor_merge.hpp"
#include "interface/sparse_tensor_slices.hpp"
#include "io/file/gz.hpp"
#include "io/sparse/sparse_binary.hpp"
#include "io/sparse/tns_reader.hpp"
#include "io/sparse/tns_writer.hpp"

#include <array>
#include <numeric>

namespace arges {

namespace {

using namespace io;

enum class Form { text, compressed, own_binary, splatt_binary };

/// The form of a file, by its first bytes. Every rank looks for itself: they see the same file.
Form form_of(const InputFile& file) {
    std::array<std::byte, 20> bytes;
    Form form = Form::text;
    file.comm().agree([&] {
        const auto beginning = std::span<const std::byte>(bytes).first(file.read(0, bytes.data(), bytes.size()));
        if (is_own_binary(beginning))
            form = Form::own_binary;
        else if (is_splatt_binary(beginning))
            form = Form::splatt_binary;
        else if (is_gzip(beginning))
            form = Form::compressed;
    });
    return form;
}

/// The form that a name asks for.
Form form_for(const std::string& path) {
    if (path.ends_with(".atns")) return Form::own_binary;
    if (path.ends_with(".gz")) return Form::compressed;
    if (path.ends_with(".tns") || path.ends_with(".txt")) return Form::text;
    throw InvalidArgument(path + ": the name does not say in which form to write; end it with .tns or .tns.gz (text) or .atns "
                                 "(binary)");
}

void check_lengths(const InputFile& file, const std::vector<std::int64_t>& demanded, const std::vector<std::int64_t>& found) {
    if (demanded.empty() || demanded == found) return;
    const auto text = [](const std::vector<std::int64_t>& lengths) {
        std::string result;
        for (auto n : lengths) result += (result.empty() ? "" : " x ") + std::to_string(n);
        return result;
    };
    throw InvalidArgument(file.path() + ": the tensor is " + text(found) + ", but " + text(demanded) +
                          " is demanded; correct the lengths, or read another file");
}

template <class T>
ReadNonzeros<T> read_form(const InputFile& file, const SparseReadOptions& options, std::int64_t room) {
    switch (form_of(file)) {
    case Form::text: return read_tns<T>(file, options, false, room);
    case Form::compressed: return read_tns<T>(file, options, true, room);
    case Form::own_binary: return read_own_binary<T>(file, room);
    default: return read_splatt_binary<T>(file, room);
    }
}

/// Merges duplicates as the options say. Collective.
template <class T>
void merge_duplicates(const InputFile& file, Duplicates duplicates, ReadNonzeros<T>& read) {
    if (read.distinct) return;
    const auto& comm = file.comm();
    auto& nonzeros = read.nonzeros;
    const bool by_line = duplicates == Duplicates::refuse && read.report.lines > 0;
    if (!by_line) {
        const auto first = sum_before(comm, nonzeros.count()) + 1;
        comm.agree([&] {
            read.lines.resize(nonzeros.values.size());
            std::iota(read.lines.begin(), read.lines.end(), first);
        });
    }
    const auto merged = merge_in_place(comm, nonzeros, duplicates, read.lines);
    read.report.duplicates = merged.duplicates;
    if (merged.second < 0) return;
    const std::string unit = by_line ? "line " : "nonzero ";
    throw InvalidArgument(file.path() + ", " + unit + std::to_string(merged.second) + ": a second value for element " +
                          coordinate_text(merged.where, read.report.index_base) + ", which " + unit + std::to_string(merged.first) +
                          " has; remove one, or have duplicates summed");
}

/// Memory of compacted() on a rank, an upper bound; what it holds at the end are the nonzeros and the maps. Pure.
template <class T>
MemoryTally compacting_memory(std::int64_t ranks, std::int64_t count, const std::vector<std::int64_t>& lengths) {
    MemoryTally tally;
    tally.hold(count * static_cast<std::int64_t>(sizeof(T)));
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

template <class T>
SparseFile<T> read_sparse(const World& world, const std::string& path, const SparseReadOptions& options) {
    const CollectiveCall call(ranks_of(world), "read_sparse", path, options.base, options.lengths, options.duplicates);
    const auto name = options.name.empty() ? name_of(path) : options.name;
    const auto& comm = communicator_of(world, path);
    if (!options.lengths.empty()) SparseTensor<T>(world, options.lengths, name);  // refuses wrong lengths
    const InputFile file(comm, path);
    auto read = read_form<T>(file, options, world.memory_limit() - world.memory_in_use());
    check_lengths(file, options.lengths, read.report.lengths);
    merge_duplicates(file, options.duplicates, read);
    SparseFile<T> result{SparseTensor<T>(world, read.report.lengths, name), read.report};
    release(read.lines);
    for (const auto& column : read.nonzeros.indices) result.report.nonempty_slices.push_back(nonempty_slices(file.comm(), column).total());
    result.tensor.state()->replace(std::move(read.nonzeros), SparsePattern::Place::anywhere);
    return result;
}

template <class T>
void write_sparse(const SparseTensor<T>& tensor, const std::string& path, IndexBase base) {
    const CollectiveCall call(ranks_of(tensor.world()), "write_sparse", path, base);
    const auto& state = state_of(tensor, "write_sparse");
    const auto form = form_for(path);
    if (form == Form::own_binary)
        write_own_binary(state.comm(), *state.pattern(), tensor.local_values(), path);
    else
        write_tns(state.comm(), *state.pattern(), tensor.local_values(), path, form == Form::compressed, base == IndexBase::zero ? 0 : 1);
}

template <class T>
CompactTensor<T> compacted(const SparseTensor<T>& tensor) {
    const CollectiveCall call(ranks_of(tensor.world()), "compacted");
    const auto& state = state_of(tensor, "compacted");
    const auto& old = *state.pattern();
    const auto& comm = state.comm();
    const auto bytes = comm.maximum(compacting_memory<T>(comm.size(), old.count(), old.lengths).peak()),
               room = state.world->least_free_bytes();
    if (bytes > room)
        throw OutOfMemory(state.title() + ": to remove empty slices takes " + std::to_string(bytes) +
                          " bytes on a rank, but the memory limit leaves " + std::to_string(room) +
                          "; use more ranks or raise the limit (--memory, ARGES_MEMORY_LIMIT)");
    CompactTensor<T> result;
    sparse::Nonzeros<T> nonzeros;
    const auto values = tensor.local_values();
    comm.agree([&] { nonzeros.values.assign(values.begin(), values.end()); });
    for (const auto& indices : old.indices) {
        auto slices = nonempty_slices(comm, indices);
        nonzeros.indices.push_back(renumbered(comm, slices, indices));
        nonzeros.lengths.push_back(slices.total());
        result.maps.push_back(std::move(slices.mine));
    }
    result.tensor = SparseTensor<T>(tensor.world(), nonzeros.lengths, tensor.name());
    result.tensor.state()->replace(std::move(nonzeros), SparsePattern::Place::anywhere);
    return result;
}

void check_sparse_name(const std::string& path) { form_for(path); }

void write_map(const World& world, const std::vector<std::int64_t>& map, const std::string& path, IndexBase base) {
    const CollectiveCall call(ranks_of(world), "write_map", path, base);
    write_text(communicator_of(world, path), path, false, [&](const std::function<void(std::string_view)>& take) {
        std::string text;
        for (auto index : map) {
            append_number(text, index + (base == IndexBase::zero ? 0 : 1));
            text += '\n';
        }
        take(text);
    });
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template SparseFile<T> read_sparse(const World&, const std::string&, const SparseReadOptions&);                                        \
    template void write_sparse(const SparseTensor<T>&, const std::string&, IndexBase);                                                     \
    template CompactTensor<T> compacted(const SparseTensor<T>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)

}  // namespace arges

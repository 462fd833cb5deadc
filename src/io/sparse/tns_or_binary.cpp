// Reading and writing sparse tensors in the form that the file or its name has.
#include "arges/error.hpp"
#include "arges/sparse_io.hpp"
#include "base/memory_tally.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/call_arguments.hpp"
#include "interface/sparse_state.hpp"
#include "interface/sparse_tensor_merge.hpp"
#include "interface/sparse_tensor_slices.hpp"
#include "interface/world_state.hpp"
#include "io/file/gz.hpp"
#include "io/sparse/mtx_reader.hpp"
#include "io/sparse/sparse_binary.hpp"
#include "io/sparse/text_reader.hpp"
#include "io/sparse/tns_writer.hpp"

#include <array>
#include <complex>
#include <memory>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace arges {

namespace {

using namespace io;

enum class Form { text, compressed, matrix, compressed_matrix, own_binary, splatt_binary };

template <class T>
constexpr bool has_binary = std::is_floating_point_v<T>;

/// What a file is that begins like no form of a sparse tensor; empty if it may be text.
std::string foreign_form(std::span<const std::byte> beginning) {
    using namespace std::string_view_literals;
    static constexpr std::pair<std::string_view, std::string_view> signatures[] = {
        {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file (a model, a checkpoint, or integrals in TREXIO?)"},
        {"\x93NUMPY"sv, "an array of NumPy; write its nonzeros as text, or hand it to SparseTensor in Python"},
        {"PK\x03\x04"sv, "a zip archive; unpack it, and write its nonzeros as text"},
        {"BZh"sv, "compressed by bzip2; unpack it (bunzip2), or pack it by gzip"},
        {"\xfd\x37zXZ\0"sv, "compressed by xz; unpack it (unxz), or pack it by gzip"},
        {"\x28\xb5\x2f\xfd"sv, "compressed by zstd; unpack it (unzstd), or pack it by gzip"},
        {"\xff\xfe"sv, "text in UTF-16; write it in UTF-8 (iconv -f UTF-16 -t UTF-8)"},
        {"\xfe\xff"sv, "text in UTF-16; write it in UTF-8 (iconv -f UTF-16 -t UTF-8)"},
        {"%PDF"sv, "a PDF document"},
    };
    const std::string_view text(reinterpret_cast<const char*>(beginning.data()), beginning.size());
    for (const auto& [signature, form] : signatures)
        if (text.starts_with(signature)) return std::string(form);
    return {};
}

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
    const auto text = [](const std::vector<std::int64_t>& lengths) {
        std::string result;
        for (auto n : lengths) result += (result.empty() ? "" : " x ") + std::to_string(n);
        return result;
    };
    throw InvalidArgument(file.path() + ": the tensor is " + text(found) + ", but " + text(demanded) +
                          " is demanded; correct the lengths, or read another file");
}

template <class T>
ReadNonzeros<Parsed<T>> read_form(const InputFile& file, const SparseReadOptions& options, std::int64_t room) {
    const auto form = form_of(file);
    switch (form) {
    case Form::text: return read_tns<Parsed<T>>(file, options, false, room);
    case Form::compressed: return read_tns<Parsed<T>>(file, options, true, room);
    case Form::matrix: return read_matrix_market<Parsed<T>>(file, options, false, room);
    case Form::compressed_matrix: return read_matrix_market<Parsed<T>>(file, options, true, room);
    default:
        if constexpr (has_binary<T>)
            return form == Form::own_binary ? read_own_binary<T>(file, room) : read_splatt_binary<T>(file, room);
        else
            throw InvalidArgument(file.path() + ": a binary file has values of float or double; read it as one of them");
    }
}

/// Nonzeros whose type is known at run time; those of float and double are not copied.
template <class T>
AnyNonzeros of_any_type(sparse::Nonzeros<Parsed<T>> nonzeros) {
    if constexpr (std::is_floating_point_v<T>) {
        return AnyNonzeros(std::move(nonzeros));
    } else {
        SparseValues values(element_kernels<T>(), nonzeros.values.data(), nonzeros.count());
        return {std::move(nonzeros), std::move(values)};
    }
}

/// Keeps the mean of the values of an element, with sums in double.
template <class T>
Join mean_of_values() {
    using Sum = std::conditional_t<kernels::is_complex<T>, std::complex<double>, double>;
    struct Values {
        Sum sum;
        std::int64_t count;
    };
    return [kept_values = std::make_shared<std::unordered_map<const std::byte*, Values>>()](std::byte* kept, const std::byte* second) {
        T first, value;
        copy_element(reinterpret_cast<std::byte*>(&first), kept, sizeof first);
        copy_element(reinterpret_cast<std::byte*>(&value), second, sizeof value);
        auto& all = kept_values->try_emplace(kept, Values{Sum(first), 1}).first->second;
        all.sum += Sum(value);
        first = static_cast<T>(all.sum / static_cast<double>(++all.count));
        copy_element(kept, reinterpret_cast<const std::byte*>(&first), sizeof first);
    };
}

template <class T>
Join join_for_file(const InputFile& file, Duplicates duplicates) {
    if (duplicates != Duplicates::mean) return join_for(element_kernels<T>(), duplicates);
    if constexpr (std::is_integral_v<T>)
        throw InvalidArgument(file.path() + ": whole numbers have no mean of the same type; read the file as double");
    else
        return mean_of_values<T>();
}

/// Merges duplicates as the options say. Collective.
/// @param lines  of the nonzeros, where they are to be refused in text
void merge_duplicates(const InputFile& file, const Join& join, std::vector<std::int64_t> lines, AnyNonzeros& nonzeros, ReadReport& report) {
    const auto& comm = file.comm();
    const bool by_line = !join && report.lines > 0;
    if (!by_line) {
        const auto first = sum_before(comm, nonzeros.count()) + 1;
        comm.agree([&] {
            lines.resize(nonzeros.count());
            std::iota(lines.begin(), lines.end(), first);
        });
    }
    const auto merged = merge_in_place(comm, nonzeros, join, lines);
    report.duplicates = merged.duplicates;
    if (merged.second < 0) return;
    const std::string unit = by_line ? "line " : "nonzero ";
    throw InvalidArgument(file.path() + ", " + unit + std::to_string(merged.second) + ": a second value for element " +
                          coordinate_text(merged.where, report.index_base) + ", which " + unit + std::to_string(merged.first) +
                          " has; remove one, or say what to do with several (--duplicates sum, mean, first or last)");
}

/// What stands before the entries of a MatrixMarket file.
template <class T>
std::string matrix_heading(const SparseState& state, const std::string& path, IndexBase base) {
    if (state.order() != 2)
        throw InvalidArgument(path + ": " + state.title() + " has " + std::to_string(state.order()) +
                              " modes, and a MatrixMarket file has a matrix; write another form (.tns or .atns)");
    if (base == IndexBase::zero)
        throw InvalidArgument(path + ": in a MatrixMarket file indices count from 1; leave the base out, or write another form (.tns)");
    const auto sizes = state.lengths();
    const std::string field = std::is_integral_v<T> ? "integer" : kernels::is_complex<T> ? "complex" : "real";
    return "%%MatrixMarket matrix coordinate " + field + " general\n" + std::to_string(sizes[0]) + " " + std::to_string(sizes[1]) + " ";
}

/// Memory of compacted() on a rank, an upper bound; what it holds at the end are the nonzeros and the maps. Pure.
template <class T>
MemoryTally compacting_memory(std::int64_t ranks, std::int64_t count, const std::vector<std::int64_t>& lengths) {
    MemoryTally tally;
    tally.hold(count * std::int64_t{sizeof(T)});
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
    check_policy(element_kernels<T>(), options.duplicates, path, true);
    if (!options.lengths.empty()) SparseTensor<T>(world, options.lengths, name);  // refuses wrong lengths
    const InputFile file(comm, path);
    auto read = read_form<T>(file, options, world.memory_limit() - world.memory_in_use());
    check_lengths(file, options.lengths, read.report.lengths);
    AnyNonzeros nonzeros;
    file.comm().agree([&] { nonzeros = of_any_type<T>(std::move(read.nonzeros)); });
    if (!read.distinct) merge_duplicates(file, join_for_file<T>(file, options.duplicates), std::move(read.lines), nonzeros, read.report);
    if (read.symmetry != MatrixSymmetry::general) {
        const auto before = nonzeros.count();
        file.comm().agree([&] { expand<T>(nonzeros, read.symmetry); });
        read.report.entries += file.comm().sum(nonzeros.count() - before);
    }
    SparseFile<T> result{SparseTensor<T>(world, read.report.lengths, name), read.report};
    for (const auto& column : nonzeros.indices) result.report.nonempty_slices.push_back(nonempty_slices(file.comm(), column).total());
    result.tensor.state()->replace(std::move(nonzeros), SparsePattern::Place::anywhere);
    return result;
}

template <class T>
void write_sparse(const SparseTensor<T>& tensor, const std::string& path, IndexBase base) {
    const CollectiveCall call(ranks_of(tensor.world()), "write_sparse", tensor, path, base);
    const auto& state = state_of(tensor, "write_sparse");
    if (!state.symmetry.trivial()) return write_sparse(tensor.with_symmetry({}), path, base);
    const auto& pattern = *state.pattern();
    const auto values = tensor.local_values();
    const auto& comm = state.comm();
    const auto form = form_for(path);
    const bool compressed = form == Form::compressed || form == Form::compressed_matrix;
    if (form == Form::matrix || form == Form::compressed_matrix) {
        const auto heading = matrix_heading<T>(state, path, base) + std::to_string(comm.sum(state.count())) + "\n";
        write_lines(comm, heading, pattern, values, path, compressed, 1);
        return;
    }
    if constexpr (kernels::is_complex<T>) {
        throw InvalidArgument(path + ": complex values are written to MatrixMarket files only (.mtx, .mtx.gz)");
    } else {
        if (form != Form::own_binary)
            write_lines(comm, comm.sum(state.count()) == 0 ? empty_note(pattern) : "", pattern, values, path, compressed,
                        base == IndexBase::zero ? 0 : 1);
        else if constexpr (has_binary<T>)
            write_own_binary(comm, pattern, values, path);
        else
            throw InvalidArgument(path + ": a binary file has values of float or double; write .tns, .tns.gz or .mtx");
    }
}

template <class T>
CompactTensor<T> compacted(const SparseTensor<T>& tensor) {
    const CollectiveCall call(ranks_of(tensor.world()), "compacted", tensor);
    const auto& state = state_of(tensor, "compacted");
    if (!state.symmetry.trivial()) return compacted(tensor.with_symmetry({}));
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
    template void write_sparse(const SparseTensor<T>&, const std::string&, IndexBase);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
ARGES_INSTANTIATE(std::complex<double>)
ARGES_INSTANTIATE(std::int64_t)
ARGES_INSTANTIATE(bool)
#undef ARGES_INSTANTIATE

template CompactTensor<float> compacted(const SparseTensor<float>&);
template CompactTensor<double> compacted(const SparseTensor<double>&);

}  // namespace arges

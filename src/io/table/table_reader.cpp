// Tables as sparse tensors: rank 0 looks at the first lines, all parse rows, ids are numbered over all ranks, duplicates are merged.
#include "arges/error.hpp"
#include "arges/table_io.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/sparse/sparse_tensor_merge.hpp"
#include "interface/sparse/sparse_tensor_slices.hpp"
#include "interface/world/call_arguments.hpp"
#include "interface/world/world_state.hpp"
#include "io/sparse/file_duplicates.hpp"
#include "io/sparse/text_reader.hpp"
#include "io/table/table_parse.hpp"
#include "io/table/table_source.hpp"

#include <algorithm>
#include <memory>

namespace arges {

namespace {

using namespace io;

/// The ids of an element, of which each rank has a part. Collective.
std::string ids_text(const Communicator& comm, const std::vector<ModeIds>& ids, const std::vector<std::int64_t>& where) {
    std::vector<std::string> names;
    for (std::size_t m = 0; m < ids.size(); ++m) {
        const auto place = where[m] - sum_before(comm, std::ssize(ids[m].mine));
        const bool is_mine = place >= 0 && place < std::ssize(ids[m].mine);
        auto name = is_mine ? ids[m].mine[place] : "";
        comm.broadcast(name, comm.maximum(is_mine ? comm.rank() : -1));
        names.push_back(name);
    }
    return "(" + joined(names) + ")";
}

/// Refuses options that do not fit together.
void check_options(const std::string& path, const TableOptions& options) {
    if (options.columns.empty()) throw InvalidArgument(path + ": no columns are given that make modes; name at least one");
    if (std::ssize(options.columns) > max_sparse_order)
        throw InvalidArgument(path + ": " + std::to_string(options.columns.size()) + " columns; a tensor has at most " +
                              std::to_string(max_sparse_order) + " modes");
}

}  // namespace

AnyTensor read_table(ElementType type, const World& world, const std::string& path, const TableOptions& options, TableReport& report,
                     std::vector<ModeIds>& ids) {
    const CollectiveCall call(ranks_of(world), "read_table", path, options.columns, options.value, options.duplicates, options.delimiter,
                              options.header, options.has_quotes, options.skips_empty);
    const auto& comm = communicator_of(world, path);
    const auto& text = element_text(type, path);
    check_options(path, options);
    check_policy(text.kernels(), options.duplicates, path, true);
    TableSource source(comm, path);
    const auto layout = from_first_rank(comm, [&] { return table_layout(source.name(), source.beginning(), options); });
    const bool keeps_lines = options.duplicates == Duplicates::refuse, is_stream = source.plain_file() == nullptr;
    const auto order = static_cast<int>(layout.modes.size());
    TableParser parser(source.name(), layout, text, options.skips_empty, keeps_lines);
    TextInput input{comm, source.name(), source.plain_file()};
    input.stream = [&] { return source.stream_from(layout.header.bytes); };
    input.header = layout.header;
    input.quote = layout.quote;
    const ReadingShape shape{comm.size(), order, reading_bytes(text), source.bytes(), true, is_stream, keeps_lines, false, {}};
    auto parsed = parse_blocks(input, parser, {world.memory_limit() - world.memory_in_use(), shape, 1, options.progress});
    auto& nonzeros = parsed.nonzeros;
    ids = parser.take_ids();
    for (const auto& mode : ids) nonzeros.lengths.push_back(mode.count);
    report = {};
    report.form = source.form();
    report.bytes = source.bytes();
    report.lines = parsed.lines;
    report.entries = comm.sum(nonzeros.count());
    report.lengths = nonzeros.lengths;
    report.delimiter = layout.delimiter == '\t' ? "tab" : std::string(1, layout.delimiter);
    report.has_header = layout.has_header;
    report.skipped = comm.sum(parser.skipped());
    for (const auto& mode : layout.modes) report.columns.push_back(mode.name);
    if (report.entries == 0)
        throw InvalidArgument(source.name() + ": there is no row" + (report.skipped > 0 ? " without empty fields" : "") +
                              " behind the names of the columns; check how the table was made");
    const auto element = [&](const auto& where) { return ids_text(comm, ids, where); };
    merge_duplicates({comm, source.name(), element}, type, options.duplicates, std::move(parsed.numbers), nonzeros, report);
    for (const auto& column : nonzeros.indices) report.nonempty_slices.push_back(nonempty_slices(comm, column).total());
    auto result = std::make_shared<SparseState>(text.kernels(), world, nonzeros.lengths, Symmetry(), source.name());
    result->replace(std::move(nonzeros), SparsePattern::Place::anywhere);
    return AnyTensor(std::move(result));
}

TableOutline table_outline(const World& world, const std::string& path) {
    const CollectiveCall call(ranks_of(world), "table_outline", path);
    const auto& comm = communicator_of(world, path);
    const TableSource source(comm, path);
    const auto rows = from_first_rank(comm, [&] { return first_rows(path, source.beginning(), {}).rows; });
    return {rows[0], rows.size() > 1 ? rows[1] : std::vector<std::string>()};
}

bool is_table_name(const std::string& path) {
    const auto name = path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path;
    return name.ends_with(".csv") || name.ends_with(".tsv");
}

bool is_time(const std::string& text) { return parse_time(text).has_value(); }

}  // namespace arges

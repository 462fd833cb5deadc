// Elements of models at given indices, and those of the lines of a text.
#include "arges/predict.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "decompose/completion/model_elements.hpp"
#include "decompose/completion/predict_memory.hpp"
#include "decompose/model_arguments.hpp"
#include "interface/world/world_state.hpp"
#include "io/file/element_text.hpp"
#include "io/file/foreign_form.hpp"
#include "io/file/gz.hpp"
#include "io/file/text_lines.hpp"
#include "io/file/text_number.hpp"
#include "io/sparse/reading_memory.hpp"
#include "io/sparse/text_reader.hpp"
#include "io/sparse/tns_writer.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace arges {

namespace {

/// The first index outside, as a message with its place; none: all are inside. Local.
std::optional<std::pair<std::size_t, std::string>> index_outside(const std::vector<std::int64_t>& lengths,
                                                                 const std::vector<std::vector<std::int64_t>>& indices, std::int64_t base) {
    const auto count = indices.empty() ? 0 : indices[0].size();
    for (std::size_t x = 0; x < count; ++x)
        for (std::size_t m = 0; m < lengths.size(); ++m)
            if (indices[m][x] < 0 || indices[m][x] >= lengths[m])
                return std::pair(x, "index " + std::to_string(indices[m][x] + base) + " in mode " + std::to_string(m + 1) +
                                        " of a model whose indices are " + std::to_string(base) + " to " +
                                        std::to_string(lengths[m] - 1 + base) + " there");
    return {};
}

/// The lines of a rank's part of a text.
struct QueryLines {
    std::vector<std::vector<std::int64_t>> indices;  ///< by mode, as they stand in the text
    std::vector<double> values{};
    std::vector<std::int64_t> numbers{};  ///< of the lines, from 1 in this part
    std::int64_t lines = 0;
    std::size_t columns = 0;  ///< of the first line
    io::LineError error{};
};

/// Takes a line with indices; returns what is wrong with it.
std::string take_line(std::string_view line, QueryLines& to) {
    const auto words = io::words_of(io::without_comment(line, '#'));
    if (words.empty()) return "";
    const auto order = to.indices.size();
    if (words.size() != order && words.size() != order + 1)
        return std::to_string(words.size()) + " columns; a line has " + std::to_string(order) +
               " indices, as many as the model has modes, and may have a value behind them";
    if (to.columns == 0) to.columns = words.size();
    if (words.size() != to.columns)
        return std::to_string(words.size()) + " columns, and another line has " + std::to_string(to.columns) +
               "; give a value on all lines, or on none";
    for (std::size_t m = 0; m < order; ++m) {
        std::int64_t index = 0;
        if (io::careful_value(words[m], index) != io::ValueKind::fine || index < 0)
            return io::quoted(words[m]) + " is no index; an index is a whole number, 0 or larger";
        to.indices[m].push_back(index);
    }
    to.numbers.push_back(to.lines);
    if (words.size() == order) return "";
    double value = 0;
    if (io::careful_value(words[order], value) != io::ValueKind::fine) return io::quoted(words[order]) + " is no finite number";
    to.values.push_back(value);
    return "";
}

/// This rank's lines; of compressed text rank 0 has all. Local.
QueryLines read_lines(const io::InputFile& file, bool is_compressed, std::size_t order) {
    QueryLines found{.indices = std::vector<std::vector<std::int64_t>>(order)};
    std::unique_ptr<io::ByteSource> source;
    if (!is_compressed) source = std::make_unique<io::FileLines>(io::FileLines::part_of(file));
    if (is_compressed && file.comm().rank() == 0) source = io::text_source(file, true);
    if (!source) return found;
    io::LineBlocks blocks(*source, io::LineReader::block_bytes);
    for (auto block = blocks.next(); !block.empty(); block = blocks.next())
        while (!block.empty()) {
            const auto end = block.find('\n');
            ++found.lines;
            if (found.error.line == io::LineError::none)
                if (auto wrong = take_line(block.substr(0, end), found); !wrong.empty()) found.error = {found.lines, std::move(wrong)};
            block.remove_prefix(end + 1);
        }
    return found;
}

/// Whether the text is compressed, as rank 0 sees it. Collective. @throws InvalidArgument on every rank if it is no text
bool is_compressed_text(const io::InputFile& file) {
    return from_first_rank(file.comm(), [&] {
        std::vector<std::byte> beginning(static_cast<std::size_t>(std::min<std::int64_t>(file.size(), 64)));
        file.read(0, beginning.data(), beginning.size());
        if (const auto foreign = io::foreign_form(beginning); !foreign.empty())
            throw InvalidArgument(file.path() + ": the file is " + foreign + "; indices are read from text, also compressed by gzip");
        return io::is_gzip(beginning);
    });
}

/// All lines, their numbers those of the text, with the same number of columns on all ranks. Collective.
QueryLines read_queries(const Communicator& comm, const std::string& path, std::size_t order, PredictionReport& report) {
    const io::InputFile file(comm, path);
    const bool is_compressed = is_compressed_text(file);
    QueryLines found;
    comm.agree([&] { found = read_lines(file, is_compressed, order); });
    const auto before = io::sum_before(comm, found.lines, &report.lines);
    for (auto& number : found.numbers) number += before;
    if (found.error.line != io::LineError::none) found.error.line += before;
    const auto columns = gathered(comm, std::vector<std::size_t>{found.columns});
    const auto known = std::find_if(columns.begin(), columns.end(), [](auto c) { return c > 0; });
    if (known != columns.end() && found.columns > 0 && found.columns != *known && !found.numbers.empty() &&
        found.numbers[0] < found.error.line)
        found.error = {found.numbers[0], std::to_string(found.columns) + " columns, and another line has " + std::to_string(*known) +
                                             "; give a value on all lines, or on none"};
    io::throw_first(comm, path, found.error);
    if (known == columns.end()) throw InvalidArgument(path + ": there is no line with indices; give a line for each prediction");
    report.has_values = *known == order + 1;
    return found;
}

/// Makes indices count from 0, and refuses those outside. Collective.
template <class T>
void settle_base(const Communicator& comm, const std::string& path, const CpModel<T>& model, IndexBase base, QueryLines& lines,
                 PredictionReport& report) {
    std::int64_t zeros = 0;
    for (const auto& mode : lines.indices) zeros += std::count(mode.begin(), mode.end(), 0);
    report.index_base = base == IndexBase::zero || (base == IndexBase::detect && comm.sum(zeros) > 0) ? 0 : 1;
    for (auto& mode : lines.indices)
        for (auto& index : mode) index -= report.index_base;
    io::LineError error;
    if (const auto outside = index_outside(model.lengths(), lines.indices, report.index_base))
        error = {lines.numbers[outside->first], outside->second + "; give indices as the tensor had them (--base says how they count)"};
    io::throw_first(comm, path, error);
}

}  // namespace

template <class T>
std::vector<double> predict(const CpModel<T>& model, const std::vector<std::vector<std::int64_t>>& indices) {
    const CollectiveCall call(ranks_of(model.world()), "predict", ModelArgument{&model});
    const auto& comm = communicator_of(model.world(), "predict");
    comm.agree([&] {
        if (model.order() == 0) throw InvalidArgument("predict: the model has no modes");
        if (std::ssize(indices) != model.order())
            throw InvalidArgument("predict: indices of " + std::to_string(indices.size()) + " modes for a model of " +
                                  std::to_string(model.order()) + "; give a list for each mode");
        for (const auto& mode : indices)
            if (mode.size() != indices[0].size())
                throw InvalidArgument("predict: " + std::to_string(mode.size()) + " indices in a mode and " +
                                      std::to_string(indices[0].size()) + " in another one; give as many for each");
        if (const auto outside = index_outside(model.lengths(), indices, 0)) throw InvalidArgument("predict: " + outside->second);
    });
    std::int64_t unknown = 0;
    return decompose::elements_at(comm, model, indices, unknown);
}

template <class T>
PredictionReport predict_file(const CpModel<T>& model, const std::string& path, const std::string& output, IndexBase base) {
    const CollectiveCall call(ranks_of(model.world()), "predict_file", ModelArgument{&model}, path, output, base);
    const auto& comm = communicator_of(model.world(), "predict_file");
    comm.agree([&] {
        if (model.order() == 0) throw InvalidArgument("predict_file: the model has no modes");
    });
    PredictionReport report;
    auto lines = read_queries(comm, path, model.lengths().size(), report);
    settle_base(comm, path, model, base, lines, report);
    std::int64_t unknown = 0;
    const auto found = decompose::elements_at(comm, model, lines.indices, unknown);
    report.predictions = comm.sum(std::ssize(found));
    report.unknown = comm.sum(unknown);
    if (report.has_values) report.rmse = decompose::root_mean_square(comm, lines.values.data(), found);
    decompose::write_predictions(
        comm, output, "", std::ssize(found),
        [&](std::string& text, std::int64_t x) {
            for (const auto& mode : lines.indices) text += std::to_string(mode[x] + report.index_base) + ' ';
            decompose::append_element(text, found[x]);
        },
        report);
    return report;
}

template <class T>
std::int64_t prediction_bytes(const CpModel<T>& model, const std::string& path, const std::string& output) {
    const CollectiveCall call(ranks_of(model.world()), "prediction_bytes", ModelArgument{&model}, path, output);
    const auto& comm = communicator_of(model.world(), "prediction_bytes");
    const auto outline = io::sparse_outline(comm, path, {}, sizeof(double));
    if (outline.entries == 0) return 0;
    constexpr std::int64_t letters = 12;  // of an index in compressed text, which rank 0 reads
    const bool is_compressed = outline.shape.is_compressed;
    const auto of_line = is_compressed ? letters * (model.order() + 1) : outline.shape.file_bytes / outline.entries + 1;
    return decompose::prediction_memory(decompose::shape_of(comm, model), outline.entries,
                                        is_compressed ? outline.entries : outline.entries_of_rank(), of_line, output.empty())
        .peak();
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template std::vector<double> predict(const CpModel<T>&, const std::vector<std::vector<std::int64_t>>&);                                \
    template PredictionReport predict_file(const CpModel<T>&, const std::string&, const std::string&, IndexBase);                          \
    template std::int64_t prediction_bytes(const CpModel<T>&, const std::string&, const std::string&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges

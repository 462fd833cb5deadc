// Sparse text by all ranks: plain text is formatted twice, for the lengths and at its place;
// compressed text is one gzip member from each rank.
#include "io/sparse/tns_writer.hpp"

#include "base/element_at.hpp"
#include "io/file/gz.hpp"

namespace arges::io {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 18;

void produce_lines(const ElementText& element, const sparse::NonzeroIndices& x, const SparseValues& values, std::int64_t base,
                   const std::function<void(std::string_view)>& take) {
    std::string text;
    for (std::int64_t i = 0; i < values.count(); ++i) {
        for (const auto& column : x.indices) {
            append_number(text, column[i] + base);
            text += ' ';
        }
        element.append(text, element_at(values.data(), i, values.element_bytes()));
        text += '\n';
        if (text.size() < piece_bytes) continue;
        take(text);
        text.clear();
    }
    take(text);
}

}  // namespace

std::unique_ptr<OutputFile> prepare_text(const Communicator& comm, const std::string& path, bool compressed, const TextProducer& produce) {
    std::vector<char> member;
    std::int64_t bytes = 0;
    comm.agree([&] {
        if (!compressed) {
            produce([&](std::string_view text) { bytes += std::ssize(text); });
            return;
        }
        GzipMember gzip;
        bool has_text = false;
        produce([&](std::string_view text) {
            gzip.add(text);
            has_text = has_text || !text.empty();
        });
        if (has_text) member = gzip.finish();
        bytes = std::ssize(member);
    });
    auto offset = sum_before(comm, bytes);
    auto file = std::make_unique<OutputFile>(comm, path);
    comm.agree([&] {
        if (compressed) {
            file->write(offset, member.data(), member.size());
            return;
        }
        produce([&](std::string_view text) {
            file->write(offset, text.data(), text.size());
            offset += std::ssize(text);
        });
    });
    file->complete();
    return file;
}

void write_lines(const Communicator& comm, const ElementText& text, const std::string& heading, const sparse::NonzeroIndices& nonzeros,
                 const SparseValues& values, const std::string& path, bool compressed, std::int64_t base) {
    const auto produce = [&](const std::function<void(std::string_view)>& take) {
        if (!heading.empty() && comm.rank() == 0) take(heading);
        produce_lines(text, nonzeros, values, base, take);
    };
    prepare_text(comm, path, compressed, produce)->publish();
}

}  // namespace arges::io

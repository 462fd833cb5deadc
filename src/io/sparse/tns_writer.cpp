// Sparse text by all ranks: plain text is formatted twice, for the lengths and at its place;
// compressed text is one gzip member from each rank.
#include "io/sparse/tns_writer.hpp"

#include "io/file/gz.hpp"

#include <charconv>

namespace arges::io {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 18;

template <class V>
void append_shortest(std::string& text, V value) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text.append(digits, end);
}

template <class T>
void produce_lines(const sparse::NonzeroIndices& x, std::span<const T> values, std::int64_t base,
                   const std::function<void(std::string_view)>& take) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (const auto& column : x.indices) {
            append_number(text, column[i] + base);
            text += ' ';
        }
        if constexpr (std::is_integral_v<T>)
            append_number(text, std::int64_t{values[i]});
        else
            append_number(text, values[i]);
        text += '\n';
        if (text.size() < piece_bytes) continue;
        take(text);
        text.clear();
    }
    take(text);
}

}  // namespace

void append_number(std::string& text, std::int64_t value) { append_shortest(text, value); }
void append_number(std::string& text, float value) { append_shortest(text, value); }
void append_number(std::string& text, double value) { append_shortest(text, value); }
void append_number(std::string& text, const std::complex<double>& value) {
    append_shortest(text, value.real());
    text += ' ';
    append_shortest(text, value.imag());
}

std::string empty_note(const sparse::NonzeroIndices& x) {
    std::string lengths;
    for (auto n : x.lengths) lengths += (lengths.empty() ? "" : " x ") + std::to_string(n);
    return "# no nonzeros, " + lengths + "\n";
}

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

void write_text(const Communicator& comm, const std::string& path, bool compressed, const TextProducer& produce) {
    prepare_text(comm, path, compressed, produce)->publish();
}

template <class T>
void write_lines(const Communicator& comm, const std::string& heading, const sparse::NonzeroIndices& nonzeros, std::span<const T> values,
                 const std::string& path, bool compressed, std::int64_t base) {
    write_text(comm, path, compressed, [&](const std::function<void(std::string_view)>& take) {
        if (!heading.empty() && comm.rank() == 0) take(heading);
        produce_lines(nonzeros, values, base, take);
    });
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void write_lines(const Communicator&, const std::string&, const sparse::NonzeroIndices&, std::span<const T>,                  \
                              const std::string&, bool, std::int64_t);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
ARGES_INSTANTIATE(std::complex<double>)
ARGES_INSTANTIATE(std::int64_t)
ARGES_INSTANTIATE(bool)
#undef ARGES_INSTANTIATE

}  // namespace arges::io

// MTTKRP in the format that is asked for, or that memory suggests: fiber trees for all modes up to three times that of coordinates, else
// linear keys (measured).
#include "sparse/mttkrp.hpp"

#include "arges/error.hpp"
#include "sparse/fiber_tree.hpp"
#include "sparse/mttkrp_formats.hpp"

#include <utility>

namespace arges::sparse {

namespace {

constexpr std::array<std::pair<Format, const char*>, 8> format_names{{{Format::automatic, "auto"},
                                                                      {Format::coordinates, "coo"},
                                                                      {Format::csf_one, "csf-one"},
                                                                      {Format::csf_two, "csf-two"},
                                                                      {Format::csf_all, "csf-all"},
                                                                      {Format::hicoo, "hicoo"},
                                                                      {Format::linear, "linear"},
                                                                      {Format::device, "device"}}};

/// Format::csf_all is chosen up to this multiple of the memory of coordinates.
constexpr double most_memory = 3;

/// A bound on the bytes that a fiber tree with this root takes for each nonzero. A level has at most as many nodes as there are
/// nonzeros, and as index tuples.
double tree_bytes(std::int64_t element_bytes, std::span<const std::int64_t> rows, double count, int root) {
    constexpr double node_bytes = sizeof(std::uint32_t) + sizeof(std::int64_t);
    const auto modes = modes_from(root, rows);
    double tuples = 1, bytes = element_bytes;
    bool is_level = true;
    for (std::size_t p = 0; p < modes.size(); ++p) {
        tuples *= rows[modes[p]];
        const double nodes = std::min(count, tuples);
        is_level = p == 0 || (is_level && p + 1 < modes.size() && count >= FiberTree<double>::default_least_fill * nodes);
        bytes += is_level ? node_bytes * nodes / count : sizeof(std::uint32_t);
    }
    return bytes;
}

template <class T>
void check_nonzeros(const LocalNonzeros<T>& nonzeros, std::span<const int> modes) {
    if (nonzeros.order() < 1 || nonzeros.indices.size() != nonzeros.rows.size())
        throw InvalidArgument("sparse MTTKRP: " + std::to_string(nonzeros.rows.size()) + " lengths for indices of " +
                              std::to_string(nonzeros.indices.size()) + " modes; give one length and one index array for each mode");
    for (std::size_t m = 0; m < nonzeros.rows.size(); ++m) {
        const auto where = "sparse MTTKRP, mode " + std::to_string(m) + ": ";
        if (nonzeros.rows[m] < 0 || nonzeros.rows[m] > std::int64_t{1} << 32)
            throw InvalidArgument(where + std::to_string(nonzeros.rows[m]) + " rows; a rank can have 0 to 2^32, use more ranks");
        if (nonzeros.indices[m].size() != nonzeros.values.size())
            throw InvalidArgument(where + std::to_string(nonzeros.indices[m].size()) + " indices for " +
                                  std::to_string(nonzeros.values.size()) + " values; give one index for each value");
        for (auto index : nonzeros.indices[m])
            if (index >= nonzeros.rows[m])
                throw InvalidArgument(where + "index " + std::to_string(index) + " is not below the number of rows, " +
                                      std::to_string(nonzeros.rows[m]));
    }
    for (int mode : modes)
        if (mode < 0 || mode >= nonzeros.order())
            throw InvalidArgument("sparse MTTKRP: mode " + std::to_string(mode) + " of a tensor of order " +
                                  std::to_string(nonzeros.order()) + "; modes count from 0");
}

}  // namespace

std::string to_string(Format format) {
    for (const auto& [value, name] : format_names)
        if (value == format) return name;
    throw InvalidArgument("no format has the number " + std::to_string(static_cast<int>(format)));
}

Format parse_format(const std::string& name) {
    std::string known;
    for (const auto& [value, text] : format_names) {
        if (name == text) return value;
        known += std::string(known.empty() ? "" : ", ") + text;
    }
    throw InvalidArgument("unknown sparse format '" + name + "'; use one of " + known);
}

Format choose_format(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, std::span<const int> modes) {
    if (count == 0) return Format::coordinates;
    double bytes = 0;
    for (int mode : modes) bytes += tree_bytes(element_bytes, rows, static_cast<double>(count), mode);
    const double coordinates = static_cast<double>(element_bytes) + 4.0 * static_cast<double>(rows.size());
    return bytes <= most_memory * coordinates ? Format::csf_all : Format::linear;
}

template <class T>
FormatBase<T>::FormatBase(const LocalNonzeros<T>& nonzeros, std::span<const int> modes)
    : rows_(nonzeros.rows), count_(nonzeros.count()), called_with_(rows_.size(), false), thread_rows_(rows_.size()) {
    for (int mode : modes) called_with_[mode] = true;
}

template <class T>
void FormatBase<T>::multiply(int mode, std::span<const RowMatrix<const T>> factors, RowMatrix<T> out) {
    const std::size_t m = mode;
    const auto where = [&] { return "sparse MTTKRP, mode " + std::to_string(mode) + ": "; };
    if (mode < 0 || m >= rows_.size() || !called_with_[m])
        throw InvalidArgument(where() + "the format was not made for this mode; name it among the modes of make_mttkrp()");
    if (factors.size() != rows_.size())
        throw InvalidArgument(where() + std::to_string(factors.size()) + " factors for a tensor of order " + std::to_string(rows_.size()));
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        const RowMatrix<const T> matrix = k == m ? RowMatrix<const T>(out) : factors[k];
        if (matrix.rows < rows_[k] || matrix.columns != out.columns || matrix.stride < matrix.columns)
            throw InvalidArgument(where() + "the " + (k == m ? "result" : "factor " + std::to_string(k)) + " has " +
                                  std::to_string(matrix.rows) + " rows, " + std::to_string(matrix.columns) + " columns, stride " +
                                  std::to_string(matrix.stride) + "; needed: " + std::to_string(rows_[k]) + " rows, " +
                                  std::to_string(out.columns) + " columns and a stride of at least that");
    }
    out.rows = rows_[m];
    multiply_checked(mode, factors, out);
}

template <class T>
ThreadRows<T>& FormatBase<T>::thread_rows(int mode, const typename ThreadRows<T>::EachRow& each_row) {
    auto& kept = thread_rows_[mode];
    if (!kept || kept->parts() != parts()) kept = std::make_unique<ThreadRows<T>>(parts(), rows_[mode], each_row);
    return *kept;
}

template <class T>
std::unique_ptr<Mttkrp<T>> make_mttkrp(const LocalNonzeros<T>& nonzeros, Format format, std::span<const int> modes,
                                       const ElementKernels* device) {
    check_nonzeros(nonzeros, modes);
    if (format == Format::automatic) format = choose_format(sizeof(T), nonzeros.rows, nonzeros.count(), modes);
    switch (format) {
    case Format::coordinates: return make_coordinates(nonzeros, modes);
    case Format::hicoo: return make_hicoo(nonzeros, modes);
    case Format::linear: return make_linear(nonzeros, modes);
    case Format::device:
        if (device == nullptr || device->sum_nonzeros == nullptr)
            throw InvalidArgument("sparse MTTKRP: the format 'device' without a device; choose one, or another format");
        return make_device(nonzeros, modes, *device);
    default: return make_csf(nonzeros, format, modes);
    }
}

MemoryTally mttkrp_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, Format format,
                          std::span<const int> modes) {
    switch (format) {
    case Format::coordinates: return coordinates_memory(element_bytes, rows, count);
    case Format::hicoo: return hicoo_memory(element_bytes, rows, count);
    case Format::linear: return linear_memory(element_bytes, rows, count);
    case Format::device: return device_memory(element_bytes, rows, count, modes);
    default: return csf_memory(element_bytes, rows, count, format, modes);
    }
}

std::int64_t thread_buffer_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, Format format,
                                  std::span<const int> modes, int columns, int threads) {
    const auto parts = std::clamp<std::int64_t>(count, 1, threads);
    std::int64_t sum = 0;
    if (format == Format::device) return sum;
    for (int mode : modes)
        if (!is_csf_root(rows, format, modes, mode))
            sum += thread_rows_memory(element_bytes, parts, rows[mode], count, std::min(columns, max_lane_columns));
    return sum;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template class FormatBase<T>;                                                                                                          \
    template std::unique_ptr<Mttkrp<T>> make_mttkrp(const LocalNonzeros<T>&, Format, std::span<const int>, const ElementKernels*);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::sparse

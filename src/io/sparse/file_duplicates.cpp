#include "io/sparse/file_duplicates.hpp"

#include "arges/error.hpp"
#include "base/element_at.hpp"
#include "base/text.hpp"
#include "interface/sparse/sparse_tensor_merge.hpp"
#include "io/file/number_type.hpp"
#include "io/file/parallel_file.hpp"

#include <complex>
#include <memory>
#include <numeric>
#include <unordered_map>

namespace arges::io {

namespace {

/// Keeps the mean of the values of an element, with sums in double.
Join mean_of_values(ElementType type) {
    struct Values {
        std::complex<double> sum;
        std::int64_t count;
    };
    return [type, &kernels = element_kernels(type),
            kept_values = std::make_shared<std::unordered_map<const std::byte*, Values>>()](std::byte* kept, const std::byte* second) {
        ElementValue first(kept, kernels.size), value(second, kernels.size);
        auto& all = kept_values->try_emplace(kept, Values{kernels.as_number(first.data()), 1}).first->second;
        all.sum += kernels.as_number(value.data());
        auto mean = all.sum / static_cast<double>(++all.count);
        convert_numbers(kernels.is_complex ? NumberType{'c', 16} : NumberType{'f', 8}, reinterpret_cast<std::byte*>(&mean), 1, type,
                        first.data());
        copy_element(kept, first.data(), kernels.size);
    };
}

Join join_for_file(const std::string& path, ElementType type, Duplicates duplicates) {
    if (duplicates != Duplicates::mean) return join_for(element_kernels(type), duplicates);
    if (type > ElementType::complex128)
        throw InvalidArgument(path + ": whole numbers have no mean of the same type; read the file as double");
    return mean_of_values(type);
}

}  // namespace

void merge_duplicates(const DuplicatesFile& file, ElementType type, Duplicates duplicates, std::vector<std::int64_t> lines,
                      AnyNonzeros& nonzeros, ReadReport& report) {
    const auto& comm = file.comm;
    const auto join = join_for_file(file.path, type, duplicates);
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
    throw InvalidArgument(file.path + ", " + unit + std::to_string(merged.second) + ": a second value for element " +
                          file.element(merged.where) + ", which " + unit + std::to_string(merged.first) + " has" +
                          (merged.duplicates > 1 ? ", the first of " + with_commas(merged.duplicates) + " such values" : "") +
                          "; remove one, or say what to do with several (--duplicates sum, mean, first or last)");
}

}  // namespace arges::io

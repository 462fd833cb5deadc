#include "io/file/foreign_form.hpp"

#include <string_view>
#include <utility>

namespace arges::io {

std::string foreign_form(std::span<const std::byte> beginning) {
    using namespace std::string_view_literals;
    static constexpr std::pair<std::string_view, std::string_view> signatures[] = {
        {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file (a model, a checkpoint, or integrals in TREXIO?)"},
        {"\x93NUMPY"sv, "an array of NumPy; write its nonzeros as text, or hand it to SparseTensor in Python"},
        {"PK\x03\x04"sv, "a zip archive, as those of spreadsheets; unpack it, or save the sheet as text"},
        {"PAR1"sv, "a Parquet file; write it as a table in text (in Python: pandas.read_parquet(IN).to_csv(OUT, index=False))"},
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

}  // namespace arges::io

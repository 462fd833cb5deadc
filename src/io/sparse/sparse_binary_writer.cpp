// The binary form of sparse tensors: ranks write blocks of nonzeros with checksums at places that follow from the counts of all.
#include "base/element_at.hpp"
#include "base/text.hpp"
#include "comm/values.hpp"
#include "io/file/checksum.hpp"
#include "io/sparse/sparse_binary.hpp"

#include <algorithm>
#include <string>

namespace arges::io {

namespace {

/// The header, without its checksum.
std::string packed(const BinaryHeader& header, const std::vector<std::int64_t>& table) {
    std::string bytes(BinaryHeader::magic, 8);
    for (auto number : {BinaryHeader::version, header.order, header.index_bytes, header.value_bytes}) append_bytes(bytes, number);
    for (auto number : {header.count, header.blocks}) append_bytes(bytes, number);
    for (const auto* numbers : {&header.lengths, &table})
        for (auto number : *numbers) append_bytes(bytes, number);
    return bytes;
}

/// Nonzeros [begin, end) as a block, without its checksum.
std::string packed(const sparse::NonzeroIndices& x, const SparseValues& values, std::int64_t begin, std::int64_t end,
                   const BinaryHeader& header) {
    std::string bytes;
    bytes.reserve(header.block_bytes(end - begin));
    for (const auto& column : x.indices)
        for (auto i = begin; i < end; ++i) bytes.append(reinterpret_cast<const char*>(&column[i]), header.index_bytes);
    const auto* const first = reinterpret_cast<const char*>(element_at(values.data(), begin, header.value_bytes));
    return bytes.append(first, (end - begin) * header.value_bytes);
}

}  // namespace

void write_own_binary(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, const SparseValues& values,
                      const std::string& path) {
    constexpr auto most = BinaryHeader::block_nonzeros;
    BinaryHeader header;
    header.order = nonzeros.order();
    header.lengths = nonzeros.lengths;
    const auto longest = *std::max_element(header.lengths.begin(), header.lengths.end());
    header.index_bytes = longest <= std::int64_t{1} << 32 ? 4 : 8;
    header.value_bytes = values.element_bytes();
    const auto count = nonzeros.count();
    std::vector<std::int64_t> own(count / most, most);
    if (count % most > 0) own.push_back(count % most);
    const auto table = gathered(comm, own);
    header.blocks = std::ssize(table);
    const auto before = sum_before(comm, count, &header.count);
    auto offset = header.bytes() + before * header.nonzero_bytes() + 4 * sum_before(comm, std::ssize(own));
    OutputFile file(comm, path);
    comm.agree([&] {
        const auto write = [&](std::int64_t at, std::string bytes) {
            append_bytes(bytes, checksum_of(bytes));
            file.write(at, bytes.data(), bytes.size());
            return std::ssize(bytes);
        };
        if (comm.rank() == 0) write(0, packed(header, table));
        for (std::int64_t begin = 0; begin < count; begin += most) {
            const auto end = std::min(begin + most, count);
            offset += write(offset, packed(nonzeros, values, begin, end, header));
        }
    });
    file.commit();
}

}  // namespace arges::io

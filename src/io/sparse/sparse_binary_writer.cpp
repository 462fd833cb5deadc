// The binary form of sparse tensors: ranks write blocks of nonzeros with checksums at places that follow from the counts of all.
#include "base/element_at.hpp"
#include "comm/values.hpp"
#include "io/file/checksum.hpp"
#include "io/sparse/sparse_binary.hpp"
#include "io/sparse/sparse_binary_layout.hpp"

#include <algorithm>
#include <cstring>

namespace arges::io {

namespace {

/// Fills bytes one number after the other.
class Packer {
public:
    explicit Packer(std::int64_t bytes) : bytes_(bytes) {}
    template <class V>
    void put(const V& value) {
        put(&value, sizeof(V));
    }
    void put(const void* data, std::size_t bytes) {
        std::memcpy(bytes_.data() + used_, data, bytes);
        used_ += bytes;
    }
    /// Adds the checksum of what is there, and returns all.
    const std::vector<char>& finish() {
        put(checksum_of(std::span<const char>(bytes_).first(used_)));
        return bytes_;
    }

private:
    std::vector<char> bytes_;
    std::size_t used_ = 0;
};

Packer packed(const BinaryHeader& header, const std::vector<std::int64_t>& table) {
    Packer packer(header.bytes());
    for (int i = 0; i < 8; ++i) packer.put(BinaryHeader::magic[i]);
    packer.put(BinaryHeader::version);
    packer.put(header.order);
    packer.put(header.index_bytes);
    packer.put(header.value_bytes);
    packer.put(header.count);
    packer.put(header.blocks);
    for (auto n : header.lengths) packer.put(n);
    for (auto n : table) packer.put(n);
    return packer;
}

/// Nonzeros [begin, end) as a block.
Packer packed(const sparse::NonzeroIndices& x, const SparseValues& values, std::size_t begin, std::size_t end, const BinaryHeader& header) {
    Packer packer(header.block_bytes(end - begin));
    for (const auto& column : x.indices)
        for (auto i = begin; i < end; ++i) {
            if (header.index_bytes == 4)
                packer.put(static_cast<std::uint32_t>(column[i]));
            else
                packer.put(column[i]);
        }
    packer.put(element_at(values.data(), begin, header.value_bytes), (end - begin) * header.value_bytes);
    return packer;
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
        const auto write = [&](std::int64_t at, Packer packer) {
            const auto& bytes = packer.finish();
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

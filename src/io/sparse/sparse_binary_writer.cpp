// The binary form of sparse tensors: ranks write blocks of nonzeros with checksums at places that follow from the counts of all.
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
        std::memcpy(bytes_.data() + used_, &value, sizeof(V));
        used_ += sizeof(V);
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
template <class T>
Packer packed(const sparse::NonzeroIndices& x, std::span<const T> values, std::size_t begin, std::size_t end, const BinaryHeader& header) {
    Packer packer(header.block_bytes(end - begin));
    for (const auto& column : x.indices)
        for (auto i = begin; i < end; ++i) {
            if (header.index_bytes == 4)
                packer.put(static_cast<std::uint32_t>(column[i]));
            else
                packer.put(column[i]);
        }
    for (auto i = begin; i < end; ++i) packer.put(values[i]);
    return packer;
}

}  // namespace

template <class T>
void write_own_binary(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, std::span<const T> values,
                      const std::string& path) {
    constexpr auto most = BinaryHeader::block_nonzeros;
    BinaryHeader header;
    header.order = nonzeros.order();
    header.lengths = nonzeros.lengths;
    const auto longest = *std::max_element(header.lengths.begin(), header.lengths.end());
    header.index_bytes = longest <= std::int64_t{1} << 32 ? 4 : 8;
    header.value_bytes = sizeof(T);
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

template void write_own_binary(const Communicator&, const sparse::NonzeroIndices&, std::span<const float>, const std::string&);
template void write_own_binary(const Communicator&, const sparse::NonzeroIndices&, std::span<const double>, const std::string&);

}  // namespace arges::io

#include "io/checkpoint/checkpoint_contents.hpp"

#include "io/dense/tensor_files.hpp"

#include <cstring>

namespace arges::io {

namespace {

class Packer {
public:
    void put(std::int64_t number) { put_bytes(&number, sizeof number); }
    void put(double number) { put_bytes(&number, sizeof number); }
    void put(const std::string& text) { put_array(text.data(), text.size(), 1); }
    template <class V>
    void put(const std::vector<V>& numbers) {
        put_array(numbers.data(), numbers.size(), sizeof(V));
    }
    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    void put_bytes(const void* data, std::size_t bytes) {
        const auto* first = static_cast<const std::byte*>(data);
        bytes_.insert(bytes_.end(), first, first + bytes);
    }
    void put_array(const void* data, std::size_t count, std::size_t element_bytes) {
        put(static_cast<std::int64_t>(count));
        put_bytes(data, count * element_bytes);
    }

    std::vector<std::byte> bytes_;
};

/// Takes out what a Packer has put in.
class Unpacker {
public:
    explicit Unpacker(const std::vector<std::byte>& bytes) : at_(bytes.data()) {}

    void get(std::int64_t& number) { get_bytes(&number, sizeof number); }
    void get(double& number) { get_bytes(&number, sizeof number); }
    void get(std::string& text) {
        text.resize(count());
        get_bytes(text.data(), text.size());
    }
    template <class V>
    void get(std::vector<V>& numbers) {
        numbers.resize(count());
        get_bytes(numbers.data(), numbers.size() * sizeof(V));
    }
    template <class V>
    V next() {
        V value{};
        get(value);
        return value;
    }
    std::size_t count() { return next<std::int64_t>(); }

private:
    void get_bytes(void* data, std::size_t bytes) {
        if (bytes > 0) std::memcpy(data, at_, bytes);
        at_ += bytes;
    }

    const std::byte* at_;
};

CheckpointValue next_value(Unpacker& unpacker) {
    switch (unpacker.next<std::int64_t>()) {
    case 0: return unpacker.next<std::int64_t>();
    case 1: return unpacker.next<double>();
    case 2: return unpacker.next<std::string>();
    default: return unpacker.next<std::vector<double>>();
    }
}

}  // namespace

std::vector<std::byte> CheckpointContents::bytes() const {
    Packer packer;
    packer.put(std::ssize(tensors));
    for (const auto& [name, tensor] : tensors) {
        packer.put(name);
        packer.put(static_cast<std::int64_t>(tensor.shape.element));
        packer.put(tensor.shape.extents);
        packer.put(symmetry_text(tensor.shape.symmetry));
        packer.put(tensor.shape.packed_size);
        packer.put(static_cast<std::int64_t>(tensor.checksum));
        packer.put(tensor.offset);
    }
    packer.put(std::ssize(values));
    for (const auto& [name, value] : values) {
        packer.put(name);
        packer.put(static_cast<std::int64_t>(value.index()));
        std::visit([&](const auto& v) { packer.put(v); }, value);
    }
    return packer.take();
}

CheckpointContents CheckpointContents::from_bytes(const std::vector<std::byte>& bytes) {
    CheckpointContents contents;
    Unpacker unpacker(bytes);
    for (auto left = unpacker.count(); left > 0; --left) {
        StoredTensor tensor;
        unpacker.get(tensor.shape.name);
        tensor.shape.element = static_cast<ElementType>(unpacker.next<std::int64_t>());
        unpacker.get(tensor.shape.extents);
        tensor.shape.symmetry = symmetry_of_text(unpacker.next<std::string>(), tensor.shape.extents.size());
        unpacker.get(tensor.shape.packed_size);
        tensor.checksum = unpacker.next<std::int64_t>();
        unpacker.get(tensor.offset);
        contents.tensors[tensor.shape.name] = tensor;
    }
    for (auto left = unpacker.count(); left > 0; --left) {
        const auto name = unpacker.next<std::string>();
        contents.values[name] = next_value(unpacker);
    }
    return contents;
}

}  // namespace arges::io

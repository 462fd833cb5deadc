// What the handles of ctf.hpp hold.
#pragma once

#include "arges/any_tensor.hpp"
#include "arges/world.hpp"
#include "cyclops/ctf.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace CTF_int {

class WorldBody {
public:
    arges::World world;
    std::uint64_t fills = 0;  ///< seeds that random() has used
};

/// Elements as bytes, and room for them.
class Values {
public:
    explicit Values(const arges::ElementKernels& kernels);
    arges::ElementRoom room();
    char* data() { return bytes_.data(); }
    char* at(std::int64_t i) { return bytes_.data() + i * size_; }
    std::int64_t count() const { return std::ssize(bytes_) / size_; }
    void resize(std::int64_t count) { bytes_.resize(count * size_); }
    /// Element `to` becomes element `from`.
    void copy(std::int64_t to, std::int64_t from) { std::copy(at(from), at(from) + size_, at(to)); }

private:
    std::int64_t size_;
    std::vector<char> bytes_;
};

/// Keys with their values.
struct Pairs {
    std::vector<std::int64_t> keys{};
    Values values;

    /// Keeps the pairs for whose place stays(place) is true.
    template <class Stays>
    void keep(const Stays& stays) {
        std::int64_t kept = 0;
        for (std::int64_t i = 0; i < std::ssize(keys); ++i) {
            if (!stays(i)) continue;
            keys[kept] = keys[i];
            values.copy(kept++, i);
        }
        keys.resize(kept);
        values.resize(kept);
    }
};

class Body {
public:
    arges::AnyTensor tensor;
    std::vector<int> parts{};    ///< ranks that each dimension of `raw` is dealt out to; empty: elements as they are stored
    std::optional<Pairs> raw{};  ///< elements that the program has an address of
    bool is_given = false;       ///< it may have changed them
};

/// A tensor with a byte for each of its dimensions.
struct Operand {
    std::shared_ptr<Body> body;
    std::string labels;
};

/// factor * product of operands.
struct Product {
    arges::Number factor = std::int64_t{1};
    std::vector<Operand> operands{};
};

/// A function of elements of products of one tensor each.
struct Call {
    arges::ElementType result;
    std::vector<Product> operands;
    Loop loop;
};

/// A sum, or a call.
class Formula {
public:
    std::vector<Product> sum{};
    std::optional<Call> call{};
};

/// The elements, with what the program has changed by address. Collective where it has an address.
/// @throws InvalidArgument for a tensor that is default-constructed
arges::AnyTensor& of(const tensor& handle);
/// Elements become what the program has made of them by address. Collective.
void take_back(Body& body);

/// The indices of one element after the other, and what the symmetry says of it.
class Indices {
public:
    explicit Indices(const arges::AnyTensor& tensor) : tensor_(tensor), index_(tensor.order()) {}
    /// Valid until the next call. @throws InvalidArgument for a key that is out of range
    const std::vector<std::int64_t>& of(std::int64_t key);
    /// Is the element of the last key zero by symmetry?
    bool is_zero() const;
    /// Is it stored?
    bool is_stored() const;

private:
    const arges::AnyTensor& tensor_;
    std::vector<std::int64_t> index_;
};

/// What the key grows by from one index to the next, by dimension.
std::vector<std::int64_t> strides_of(const arges::AnyTensor& tensor);
/// The elements that this rank stores. Local.
Pairs pairs_of(const arges::AnyTensor& tensor);
/// The elements that a new tensor of this shape has on this rank: the same ones for all tensors of the shape, wherever statements have left
/// theirs. Collective.
Pairs pairs_as_new(const arges::AnyTensor& tensor);
/// Elements with these keys become these values. Collective.
void put_back(arges::AnyTensor& tensor, Pairs& pairs);
/// Values of elements. Collective.
Values read(const arges::AnyTensor& tensor, std::span<const std::int64_t> keys);
/// The elements of all dimensions unpacked. Collective.
arges::AnyTensor unpacked(arges::AnyTensor tensor);
/// left = (right) * sign + (beta) * left.
void assign(const Operand& left, const Formula& right, const arges::Number& beta, int sign);
/// Changes the elements of the last operand.
void change(const std::vector<Product>& operands, const Loop& loop);
/// The sum over all labels. Collective.
arges::Number number_of_terms(const Formula& formula);
/// The labels as Arges has them.
arges::Labels names_of(const std::string& labels);
/// A factor as a number.
arges::Number number_of(const void* value, arges::ElementType type);

}  // namespace CTF_int

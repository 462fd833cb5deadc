// What the handles of ctf.hpp hold.
#pragma once

#include "arges/any_tensor.hpp"
#include "arges/element_functions.hpp"
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

class Body;

/// A tensor with a byte for each of its dimensions.
struct Operand {
    std::shared_ptr<Body> body;
    std::string labels;
};

/// @throws InvalidArgument for a tensor that is default-constructed
const arges::AnyTensor& tensor_of(const Operand& operand);

/// factor * product of operands.
struct Product {
    arges::Number factor = std::int64_t{1};
    std::vector<Operand> operands{};
    std::vector<char> element{};  ///< a factor that is no number, as the program has it
};

/// A function of elements of products of one tensor each.
struct Call {
    const arges::ElementKernels* result;
    std::vector<Product> operands;
    Loop loop;
    bool intersects;  ///< is not called for elements that a sparse operand does not store
};

/// A sum, or a call.
class Formula {
public:
    std::vector<Product> sum{};
    std::optional<Call> call{};
};

/// The tables of an algebra: that of the library for plus and times of its types, else one of operations that the program has.
const arges::ElementKernels& kernels_of(const algstrct& algebra);
/// A copy of the algebra of a table that lives as long as the program.
algstrct* algebra_of(const arges::ElementKernels& kernels);
/// Does the program have the operations?
bool is_own(const arges::ElementKernels& kernels);
/// Makes the operations those that the tables of the program call until the next time: before each call of the library.
void use(const arges::ElementKernels& kernels);
/// Bytes of an element in the program, at most those in tensors.
std::int64_t program_bytes(const arges::ElementKernels& kernels);
/// A number as an element. @throws InvalidArgument if the type does not have it
arges::ElementValue element_of(const arges::Number& number, const arges::ElementKernels& kernels);
/// The elements, with what the program has changed by address; their algebra is used from now on. Collective where it has an address.
/// @throws InvalidArgument for a tensor that is default-constructed
arges::AnyTensor& of(const tensor& handle);
/// Elements become what the program has made of them by address. Collective.
void take_back(Body& body);
/// A new tensor without symmetry. Collective.
arges::AnyTensor made(const arges::ElementKernels& kernels, arges::Storage storage, const arges::World& world,
                      std::vector<std::int64_t> extents);
/// All elements as a dense tensor, and as a sparse one that stores all. Collective.
arges::AnyTensor to_dense(const arges::AnyTensor& tensor);
arges::AnyTensor to_sparse(const arges::AnyTensor& tensor);
/// Elements as bytes, and room for them.
class Values {
public:
    explicit Values(const arges::ElementKernels& kernels) : kernels_(&kernels), size_(kernels.size) {}
    /// Elements as the program has them.
    Values(const arges::ElementKernels& kernels, const void* program, std::int64_t count);
    /// Likewise to the program.
    void give(void* program) const;
    arges::ElementRoom room();
    char* data() { return bytes_.data(); }
    const char* data() const { return bytes_.data(); }
    char* at(std::int64_t i) { return bytes_.data() + i * size_; }
    std::int64_t count() const { return std::ssize(bytes_) / size_; }
    void resize(std::int64_t count) { bytes_.resize(count * size_); }
    /// Element `to` becomes element `from`.
    void copy(std::int64_t to, std::int64_t from) { std::copy(at(from), at(from) + size_, at(to)); }
    /// Adds a copy of an element.
    void add(const void* element) {
        const auto* const bytes = static_cast<const char*>(element);
        bytes_.insert(bytes_.end(), bytes, bytes + size_);
    }
    /// Adds a copy of element i of others.
    void take(Values& others, std::int64_t i) { bytes_.insert(bytes_.end(), others.at(i), others.at(i) + size_); }

private:
    const arges::ElementKernels* kernels_;
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
    CTF_int::tensor* handle = nullptr;  ///< shows the number of stored elements to the program
    std::vector<int> parts{};           ///< ranks that each dimension of `raw` is dealt out to; empty: elements as they are stored
    std::optional<Pairs> raw{};         ///< elements that the program has an address of
    bool is_given = false;              ///< it may have changed them
};

/// What a handle holds of a tensor.
inline std::shared_ptr<Body> held(arges::AnyTensor tensor) { return std::make_shared<Body>(Body{std::move(tensor)}); }

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
/// element = beta * element + alpha * (sum of its values); what a symmetry makes zero is dropped. Collective.
void put_stored(arges::AnyTensor& own, std::span<const std::int64_t> keys, const void* values, const void* alpha, const void* beta);
/// The elements of all dimensions unpacked. Collective.
arges::AnyTensor unpacked(arges::AnyTensor tensor);
/// Does a label occur twice?
bool is_repeated(const std::string& labels);
/// The labels of some operands, each once, after others.
std::string all_labels(const std::string& first, const std::vector<Operand>& operands);
/// Lengths of labels in operands.
std::vector<std::int64_t> extents_of(const std::string& labels, const std::vector<Operand>& operands);
/// A function for elements as tensors have them, which is called by one thread at a time.
arges::statements::BulkFunction bulk(const Call& call, const std::vector<Operand>& operands);
/// Where the elements of a sparse tensor are that are stored. Collective.
arges::AnyTensor stored_places(const arges::AnyTensor& tensor);
/// The results of a function with sparse operands, which have no symmetry, as a tensor with all labels. Collective.
Operand values_of(const Call& call, const std::vector<Operand>& operands);
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

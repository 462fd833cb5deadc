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

class Body {
public:
    arges::AnyTensor tensor;
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

/// @throws InvalidArgument for a tensor that is default-constructed
arges::AnyTensor& of(const tensor& handle);
/// Elements as bytes, and room for them.
class Values {
public:
    explicit Values(arges::ElementType type);
    arges::ElementRoom room();
    char* data() { return bytes_.data(); }
    char* at(std::int64_t i) { return bytes_.data() + i * size_; }
    std::int64_t count() const { return std::ssize(bytes_) / size_; }
    /// Adds a copy of element i of others.
    void take(Values& others, std::int64_t i) { bytes_.insert(bytes_.end(), others.at(i), others.at(i) + size_); }

private:
    std::int64_t size_;
    std::vector<char> bytes_;
};

/// Keys with their values.
struct Pairs {
    std::vector<std::int64_t> keys{};
    Values values;
};

/// The elements that this rank stores. Local.
Pairs pairs_of(const arges::AnyTensor& tensor);
/// Values of elements. Collective.
Values read(const arges::AnyTensor& tensor, std::span<const std::int64_t> keys);
/// The elements of all dimensions unpacked. Collective.
arges::AnyTensor unpacked(const arges::AnyTensor& tensor);
/// The symmetry of a vector of STRUCTUREs, of which the last is not looked at; null means none.
arges::Symmetry symmetry_of(int order, const int* relations);
/// left = (right) * sign + (beta) * left.
void assign(const Operand& left, const Formula& right, const arges::Number& beta, int sign);
/// Changes the elements of the last operand.
void change(const std::vector<Product>& operands, const Loop& loop);
/// The labels as Arges has them.
arges::Labels names_of(const std::string& labels);

}  // namespace CTF_int

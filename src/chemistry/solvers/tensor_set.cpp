#include "arges/chemistry/tensor_set.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace arges::chemistry {

namespace {

/// A different letter for each dimension.
std::string letters_of(const Tensor<double>& tensor) {
    std::string letters;
    for (int d = 0; d < tensor.order(); ++d) letters += static_cast<char>('a' + d);
    return letters;
}

void check_sizes(const TensorSet& a, const TensorSet& b) {
    if (a.members().size() != b.members().size())
        throw InvalidArgument("sets of " + std::to_string(a.members().size()) + " and " + std::to_string(b.members().size()) +
                              " tensors are not vectors of the same space; both need the same tensors in the same order");
}

}  // namespace

TensorSet::TensorSet(std::vector<std::pair<std::string, Tensor<double>>> members) {
    for (auto& [name, tensor] : members) {
        if (contains(name)) throw InvalidArgument("a set of tensors has two with the name '" + name + "'; give each its own name");
        members_.push_back(std::move(tensor));
        members_.back().set_name(name);
    }
}

TensorSet::TensorSet(const TensorSet& other) { *this = other; }

TensorSet& TensorSet::operator=(const TensorSet& other) {
    members_ = other.members_;
    for (std::size_t k = 0; k < members_.size(); ++k) members_[k].set_name(other.members_[k].name());
    return *this;
}

bool TensorSet::contains(std::string_view name) const {
    return std::any_of(members_.begin(), members_.end(), [&](const Tensor<double>& member) { return member.name() == name; });
}

const Tensor<double>& TensorSet::operator[](std::string_view name) const {
    for (const Tensor<double>& member : members_)
        if (member.name() == name) return member;
    std::string names;
    for (const Tensor<double>& member : members_) names += (names.empty() ? "'" : ", '") + member.name() + "'";
    throw InvalidArgument("there is no tensor '" + std::string(name) + "' in a set with the names " + (names.empty() ? "(none)" : names));
}

Tensor<double>& TensorSet::operator[](std::string_view name) { return const_cast<Tensor<double>&>(std::as_const(*this)[name]); }

double TensorSet::dot(const TensorSet& other) const {
    check_sizes(*this, other);
    double sum = 0;
    for (std::size_t k = 0; k < members_.size(); ++k) sum += members_[k].dot(other.members_[k]);
    return sum;
}

double TensorSet::norm() const {
    const double squares = dot(*this);
    if (!must_be_scaled(squares)) return std::sqrt(squares);
    double norm = 0;
    for (const Tensor<double>& member : members_) norm = std::hypot(norm, member.norm());
    return norm;
}

void TensorSet::scale(double factor) {
    for (Tensor<double>& member : members_) member[letters_of(member)] *= factor;
}

void TensorSet::add(double factor, const TensorSet& other) {
    check_sizes(*this, other);
    for (std::size_t k = 0; k < members_.size(); ++k) {
        const std::string letters = letters_of(members_[k]);
        members_[k][letters] += factor * other.members_[k][letters];
    }
}

}  // namespace arges::chemistry

/// Statements with sparse tensors, whose values are on the host, where dense tensors lie in another memory.
#pragma once

#include "arges/expression.hpp"
#include "interface/dense/tensor_state.hpp"

#include <memory>
#include <vector>

namespace arges {

/// A statement on the host: tensors that lie in another memory are replaced by copies.
class OnHost {
public:
    /// Collective. @throws OutOfMemory
    OnHost(const Factor& left, const std::vector<Term>& right);
    OnHost(const OnHost&) = delete;
    OnHost& operator=(const OnHost&) = delete;

    const Factor& left() const { return left_; }
    const std::vector<Term>& right() const { return right_; }
    /// What takes the place of a tensor: a copy, or itself.
    std::shared_ptr<TensorState> here(const std::shared_ptr<TensorState>& tensor) const;
    /// Copies the left-hand side back to where it lies, which is as it was if that fails. Collective. @throws OutOfMemory
    void finish();

private:
    struct Copy {
        std::shared_ptr<TensorState> original, here;
    };
    void replace(Factor& factor);

    Factor left_;
    std::vector<Term> right_;
    std::vector<Copy> copies_;
};

}  // namespace arges

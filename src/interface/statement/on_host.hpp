/// Statements with sparse tensors, whose values are on the host, where dense tensors lie in another memory.
#pragma once

#include "arges/expression.hpp"
#include "interface/dense/tensor_state.hpp"

#include <list>
#include <memory>
#include <vector>

namespace arges {

/// A statement on the host: tensors that lie in another memory are replaced by copies, and tables of kernels by the same ones for the host.
class OnHost {
public:
    /// Collective. @throws OutOfMemory
    OnHost(const Factor& left, const std::vector<Term>& right, const ElementKernels& algebra);
    OnHost(const OnHost&) = delete;
    OnHost& operator=(const OnHost&) = delete;

    const Factor& left() const { return left_; }
    const std::vector<Term>& right() const { return right_; }
    const ElementKernels& algebra() const { return *algebra_; }
    /// Copies the left-hand side back to where it lies. Local.
    void finish();

private:
    struct Copy {
        std::shared_ptr<TensorState> original, here;
    };
    const ElementKernels& table(const ElementKernels& kernels);
    void replace(Factor& factor);

    std::list<ElementKernels> tables_;  // of kernels, without a space of their own
    std::vector<const ElementKernels*> tables_of_;
    Factor left_;
    std::vector<Term> right_;
    const ElementKernels* algebra_;
    std::vector<Copy> copies_;
};

}  // namespace arges

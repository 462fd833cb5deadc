#include "execute/local_chain.hpp"

#include "base/math.hpp"
#include "local/contract.hpp"
#include "local/fold.hpp"

#include <algorithm>
#include <complex>
#include <vector>

namespace arges {

namespace {

/// An operand on the first rank, which no other has more of, in one window.
local::OperandBlock block_of(const ProductPlan& plan, std::size_t o) {
    const auto& operand = plan.operands[o];
    local::OperandBlock block{operand.axes, operand.layout.local_sizes(0), operand.layout.strides(0)};
    std::int64_t stride = 1;
    for (std::size_t s = 0; s < block.axes.size(); ++s) {
        block.sizes[s] = ceil_div(block.sizes[s], windows_of(plan.windows, block.axes[s]));
        if (!operand.in_place) block.strides[s] = stride;
        stride *= block.sizes[s];
    }
    return block;
}

std::int64_t contract_memory(const local::FoldedContraction& f, std::int64_t element_bytes) {
    if (element_bytes == sizeof(float)) return local::contract_memory<float>(f);
    if (element_bytes == sizeof(std::complex<double>)) return local::contract_memory<std::complex<double>>(f);
    return local::contract_memory<double>(f);
}

}  // namespace

std::int64_t copied_bytes(const ProductPlan& plan) {
    if (plan.rows) return 0;  // none to speak of
    std::vector<local::OperandBlock> nodes;
    std::vector<std::int64_t> length(plan.axes.size(), 1);
    for (std::size_t o = 0; o < plan.result(); ++o) {
        nodes.push_back(block_of(plan, o));
        for (std::size_t s = 0; s < nodes[o].axes.size(); ++s) length[nodes[o].axes[s]] = nodes[o].sizes[s];
    }
    std::int64_t most = 0;
    for (const auto& product : plan.chain) {
        nodes.push_back(product.buffer < 0 ? block_of(plan, plan.result()) : local::dense_block(product.axes, length));
        const auto node = [&](int n) { return &nodes[n]; };
        const auto fold =
            local::folded(*node(product.first), product.second == LocalProduct::no_second ? nullptr : node(product.second), nodes.back());
        most = std::max(most, contract_memory(fold, plan.spec.element_bytes));
    }
    return most;
}

}  // namespace arges

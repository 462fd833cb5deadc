/// What the steps of a statement report to the world's trace.
#pragma once

#include "interface/statement/prepared_term.hpp"

#include <chrono>
#include <cstdint>

namespace arges {

/// Measures one step from its construction to finish(). Does nothing in a world without a trace.
class StepTrace {
public:
    /// @param product  of the statement, for the names
    StepTrace(const WorldState& world, const PreparedTerm& term, const Product& product, std::size_t step);
    /// Hands the record to the world's trace. Local.
    void finish() const {
        if (world_.trace() != nullptr) add();
    }

private:
    void add() const;

    const WorldState& world_;
    const PreparedTerm& term_;
    const Product& product_;
    std::size_t step_;
    std::chrono::steady_clock::time_point start_;
    std::chrono::system_clock::time_point date_;
    Traffic before_;
};

}  // namespace arges

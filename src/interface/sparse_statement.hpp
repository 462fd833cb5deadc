/// An index-string statement with sparse tensors on either side.
#pragma once

#include "arges/expression.hpp"
#include "execute/sparse_match.hpp"
#include "execute/sparse_step_run.hpp"
#include "interface/sparse_symmetry.hpp"
#include "interface/tensor_state.hpp"
#include "plan/product/product.hpp"
#include "plan/sparse/sparse_order.hpp"

#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace arges {

/// What was found out about nonzeros, kept for the next time that the same ones meet.
class PreparedSparseStep {
public:
    using Run = std::variant<std::unique_ptr<SparseStepRun>, std::unique_ptr<SparseMatch>, std::unique_ptr<SparseProjection>>;

    /// @param most_bytes  of lists on the rank that has most
    PreparedSparseStep(WorldState& world, Run run, std::int64_t most_bytes) : run_(std::move(run)), world_(world), held_(most_bytes) {
        world_.hold(held_);
    }
    ~PreparedSparseStep() { world_.hold(-held_); }
    PreparedSparseStep(const PreparedSparseStep&) = delete;
    PreparedSparseStep& operator=(const PreparedSparseStep&) = delete;

    const SparseStepRun& product() const { return *std::get<std::unique_ptr<SparseStepRun>>(run_); }
    const SparseMatch& match() const { return *std::get<std::unique_ptr<SparseMatch>>(run_); }
    const SparseProjection& projection() const { return *std::get<std::unique_ptr<SparseProjection>>(run_); }
    std::int64_t bytes() const { return held_; }
    /// The pattern of a sparse result: as long as a tensor has it, or, of an intermediate result, as long as the step is kept.
    std::weak_ptr<const SparsePattern> result;
    std::shared_ptr<const SparsePattern> intermediate;

private:
    Run run_;
    WorldState& world_;  // which holds it
    std::int64_t held_;
};

/// Numbers as parts of a text that something is kept by.
inline void append(std::string& key, std::int64_t number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    key.append(bytes, sizeof number);
}
inline void append(std::string& key, const std::vector<int>& labels) {
    append(key, std::ssize(labels));
    for (int label : labels) append(key, label);
}

/// left = right + beta * left where a tensor is sparse. The left-hand side is changed when all terms have been computed.
class SparseStatement {
public:
    /// @param beta     null stands for one
    /// @param algebra  of all elements
    SparseStatement(const Factor& left, const std::vector<Term>& right, const void* beta, const ElementKernels& algebra);
    /// Collective.
    void run();
    /// The plans as text, by expected counts, and what inspections have found. Local. @param ranks  other ones than there are
    std::string explain(std::optional<std::int64_t> ranks = {});

    /// Is a tensor of the statement sparse?
    static bool is_meant(const Factor& left, const std::vector<Term>& right);

private:
    /// A factor with its elements; no tensor, of what is not computed yet.
    struct Operand : OrderedFactor {
        std::shared_ptr<SparseState> sparse{};
        std::shared_ptr<TensorState> dense{};
        std::string name{};
        bool conjugated = false;
        bool is_given = false;               ///< a result that is an operand itself, which others have
        std::shared_ptr<SparseState> own{};  ///< the user's tensor, if its nonzeros may be put elsewhere
    };
    /// A term with its labels as numbers.
    struct LabelledTerm : OrderedTerm {
        std::vector<std::string> names;
        std::vector<Operand> operands;
        std::vector<Operand> excluded;           ///< masks where nothing is stored
        std::vector<int> left;                   ///< labels of the left-hand side
        bool is_dense = false;                   ///< no factor is sparse
        std::vector<SignedPermutation> counted;  ///< by which elements count for a left-hand side with symmetry
    };
    using Choice = StepChoice;

    void check();
    void check_symmetry();
    void project(const Term& term, LabelledTerm& labels) const;
    const Symmetry& left_symmetry() const { return left_.sparse ? left_.sparse->symmetry : left_.tensor->shape().symmetry(); }
    bool is_nothing(const Term& term) const;
    std::shared_ptr<SparseState> ones_of(const SparseState& mask) const;
    std::vector<Operand> whole(std::vector<Operand> operands) const;
    void check_types(const Term& term) const;
    void check_action(const Term& term) const;
    LabelledTerm labelled(const Term& term) const;
    void agree_on_terms();
    std::string text() const;
    std::string found_by_inspection(const SparseStep& step, const std::vector<Operand>& operands, const Choice& choice) const;
    static std::vector<Operand> counted(std::vector<Operand> operands);
    static std::vector<Operand> replaced(const std::vector<Operand>& operands, const Choice& choice, Operand result);
    static std::string counts_key(const Operand& a, const Operand& b, const std::vector<int>& output);
    std::optional<ProductCounts> counts_for(const LabelledTerm& term, const std::vector<Operand>& operands, const Choice& choice);
    std::optional<ProductCounts> counts_of(const LabelledTerm& term, const Operand& a, const Operand& b, const std::vector<int>& output);
    Choice chosen_step(const LabelledTerm& term, const std::vector<Operand>& operands);
    SparseStep step_for(const LabelledTerm& term, const std::vector<Operand>& operands, const Choice& choice);
    std::string key_of(const SparseStep& step, const std::vector<Operand>& operands, const Choice& choice) const;
    std::shared_ptr<PreparedSparseStep> kept_step(const SparseStep& step, const std::vector<Operand>& operands, const Choice& choice,
                                                  std::shared_ptr<const SparsePattern>& pattern);
    std::optional<double> imbalance(const Operand& operand, const SparseOperand& labels, const LabelGrid& grid, bool counts) const;
    SparseStepPlan plan_of(SparseStep& step, const std::vector<Operand>& operands, const Choice& choice, std::int64_t ranks,
                           std::int64_t memory_limit, std::int64_t least_phases, bool counts) const;
    SparseStepPlan planned(SparseStep& step, std::vector<Operand>& operands, const Choice& choice, std::int64_t least_phases);
    void compare(const SparseStepPlan& plan) const;
    std::shared_ptr<PreparedSparseStep> prepared(const SparseStep& step, const SparseStepPlan& plan, std::vector<Operand>& operands,
                                                 const Choice& choice, std::shared_ptr<const SparsePattern>& pattern);
    std::unique_ptr<SparseStepRun> inspect(const SparseStep& step, const SparseStepPlan& plan, const std::vector<Operand>& operands,
                                           const Choice& choice, std::int64_t beside);
    void in_phases(SparseStep step, const SparseStepPlan& plan, const std::vector<Operand>& operands, const Choice& choice,
                   const void* alpha, const void* beta, Operand& result);
    bool has_run(const PreparedSparseStep& step, const std::vector<Operand>& operands, const Choice& choice, const void* alpha,
                 const void* beta, const Operand& result, Buffer<std::byte>& values);
    void make_room(const SparseStepRun& run, const std::vector<bool>& conjugated, std::int64_t beside);
    Buffer<std::byte> run_step(const SparseStepRun& run, const StepElements& elements, const void* alpha, const void* beta,
                               const Operand& result);
    bool forgets_steps();
    bool is_usable(const PreparedSparseStep& kept, bool makes_pattern, std::shared_ptr<const SparsePattern>& pattern) const;
    void keep(const std::string& key, const std::shared_ptr<PreparedSparseStep>& made);
    void settle(Operand& operand, const SparseOperand& labels, const std::vector<int>& rows, const LabelGrid& grid, bool is_shared);
    Operand negated(const Operand& operand) const;
    std::shared_ptr<SparseState> projected(const SparseState& sum, const LabelledTerm& labels);
    Operand without_excluded(const LabelledTerm& labels, Operand result);
    std::shared_ptr<SparseState> as_it_is(const Operand& operand, const Choice& choice, const void* alpha) const;
    SparseValues copied(const SparseState& tensor, const void* factor = nullptr) const;
    Operand computed(const LabelledTerm& term, std::vector<Operand>& operands, const Choice& choice, const void* alpha, const void* beta);
    void run_dense_left();
    void run_sparse_left();
    void add_dense_term(const Term& term, const LabelledTerm& labels, const void* beta);
    Operand all_steps(const Term& term, const LabelledTerm& labels, const void* beta);
    std::shared_ptr<SparseState> state_with(std::vector<std::int64_t> lengths, std::shared_ptr<const SparsePattern> pattern,
                                            SparseValues values) const;
    std::shared_ptr<SparseState> with_left_labels(std::shared_ptr<SparseState> result, const LabelledTerm& labels) const;
    std::shared_ptr<SparseState> united(const SparseState& a, const SparseState& b);
    std::shared_ptr<SparseState> old_elements(const std::vector<int>& left_labels) const;
    std::vector<bool> named(const std::vector<int>& left_labels) const;
    bool is_converted(const Operand& operand) const;
    std::int64_t converted_bytes(const std::vector<Operand>& operands, const Choice& choice) const;
    const std::byte* elements_of(const Operand& operand, std::vector<Buffer<std::byte>>& converted) const;
    StepElements elements_for(const std::vector<Operand>& operands, const Choice& choice, std::vector<Buffer<std::byte>>& converted) const;
    std::vector<bool> conjugated(const std::vector<Operand>& operands, const Choice& choice) const;
    void require_here(std::int64_t bytes) const;
    void take_here(std::int64_t bytes) const;
    const World& handle() const { return left_.sparse ? left_.sparse->world_handle : left_.tensor->world_handle; }
    RequireBytes require(const std::string& what) const;

    const Factor& left_;
    const std::vector<Term>& right_;
    const void* beta_;
    const ElementKernels& kernels_;
    WorldState& world_;
    std::vector<LabelledTerm> terms_;
    Product left_alone_;                   ///< where there are no terms
    std::shared_ptr<TensorState> target_;  ///< where a dense result is made
    bool may_sample_ = false;              ///< all ranks run the statement
    std::int64_t planned_ = 0;
    std::exception_ptr shortage_;  ///< why an inspection ended
};

}  // namespace arges

// Functions of elements in statements, on packed storage: operands are brought to where the output's elements are stored, and the function
// is called once for each.
#include "arges/element_functions.hpp"

#include "arges/error.hpp"
#include "base/element_at.hpp"
#include "base/first_error.hpp"
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "interface/dense/run_movement.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/statement/check_labels.hpp"
#include "interface/statement/right_hand_side.hpp"
#include "interface/statement/sparse_statement.hpp"
#include "interface/world/call_arguments.hpp"
#include "symmetry/permutation_group.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace arges {

namespace {

/// Elements for which the function is called at a time: a call from another language takes little beside them, and they fit a core's cache.
constexpr std::int64_t block_length = 1 << 15;

/// What the values of the operands and of the result take on where two children of a node of the output are exchanged: bit 0 negates, bit 1
/// conjugates.
struct Exchanged {
    std::vector<int> operands;
    int result = 0;
    bool operator<(const Exchanged& other) const { return std::tie(operands, result) < std::tie(other.operands, other.result); }
    bool changes_nothing() const {
        return result == 0 && std::all_of(operands.begin(), operands.end(), [](auto factor) { return factor == 0; });
    }
};

/// The node that stores the diagonal, too.
NodeKind without_zeros(NodeKind kind) { return kind == NodeKind::antisymmetric || kind == NodeKind::hollow ? NodeKind::symmetric : kind; }

/// The exchanges of neighbouring children: they generate the group of a node.
void generators(const SymmetryNode& node, int order, std::vector<SignedPermutation>& result) {
    for (const auto& child : node.children) generators(child, order, result);
    for (std::size_t i = 0; i + 1 < node.children.size() && node.kind != NodeKind::product; ++i)
        result.push_back(group_of(SymmetryNode{node.kind, -1, {node.children[i], node.children[i + 1]}}, order).back());
}

/// What a function's value takes on where its operands take these on, as Exchanged has them; none: it may not be related. Pure.
std::optional<int> related_value(Function f, const std::vector<int>& operands) {
    using enum Function;
    constexpr std::array odd{negative, sign, reciprocal, cbrt, sin, tan, asin, atan, sinh, tanh, asinh, atanh, erf, trunc, round};
    constexpr std::array even{abs, square, cos, cosh};
    const auto has = [&](const auto& list) { return std::find(list.begin(), list.end(), f) != list.end(); };
    const int conjugate = f == abs ? 0 : operands[0] & 2, a = operands[0] & 1, b = operands.back() & 1;
    if ((operands[0] & 2) != (operands.back() & 2)) return {};
    if (conjugate != 0 && (f == sqrt || f == log)) return {};  // of negative numbers they are not real
    if (a == 0 && b == 0) return conjugate;
    if (f == multiply || f == divide) return conjugate | (a ^ b);
    if (f == copysign) return conjugate | b;
    if (f == hypot || has(even)) return conjugate;
    if (a == b && (f == add || f == subtract || has(odd))) return conjugate | 1;
    return {};
}

class ElementFunction {
public:
    ElementFunction(const Factor& left, const std::vector<Factor>& operands, const ElementKernels& result,
                    const statements::BulkFunction& f)
        : left_(left), operands_(operands), output_(*left.tensor), world_(*output_.world), kernels_(result), f_(f),
          named_(f.target<statements::NamedFunction>()) {}

    /// Why the function would run on the host, or nothing. Local. @throws InvalidArgument
    std::string explain() {
        check();
        return why_on_host();
    }

    /// Likewise of one that has been checked: it runs on the device where all operands lie there.
    std::string why_on_host() const {
        if (!output_.on_device) return output_.title() + " lies there";
        if (named_ == nullptr) return "a device has functions that are known by name";
        const auto& elements = operands_[0].tensor->kernels->on_host();
        const auto f = named_->function;
        const bool is_real = f == Function::abs && elements.is_complex;
        if (std::any_of(operands_.begin(), operands_.end(), [&](const auto& x) { return &x.tensor->kernels->on_host() != &elements; }) ||
            (is_real ? kernels_.is_complex || 2 * kernels_.size != elements.size : &kernels_.on_host() != &elements))
            return "elements have several types";
        const auto name = std::string(to_string(f));
        if (!runs_on_device(f, elements.is_complex)) return "a device has no " + name + " of complex elements";
        for (const auto& [factors, result] : compared_)
            if (related_value(f, of_all_operands(factors)) != result) return name + " may not have the symmetry of " + output_.title();
        return "";
    }

    /// @param over  of a target that is changed, elements that are zero by symmetry are not looked at
    void run(bool accumulate, MapOver over) {
        world_.agree([&] { check(); });
        if (over != MapOver::target)
            for (const auto& slot : output_.shape().symmetry().slots()) check_zeros(slot);
        const auto layout = layout_of_output();
        std::vector<std::shared_ptr<TensorState>> moved;
        std::vector<const TensorState*> inputs;
        for (const auto& operand : operands_) {
            auto& state = *operand.tensor;
            if (state.layout == output_.layout && operand.labels.names() == left_.labels.names()) {
                inputs.push_back(&state);
                continue;
            }
            moved.push_back(TensorState::make(
                *state.kernels, state.world_handle, [&] { return layout; }, state.name));
            run_movement(world_, *moved.back()->kernels, movement(state, operand.labels.names(), layout),
                         {state.bytes.data(), state.kernels}, moved.back()->bytes.data(), nullptr, state.kernels->zero);
            inputs.push_back(moved.back().get());
        }
        if (world_.dry()) return;
        Buffer<std::byte> results;
        if (runs_there(inputs)) {
            world_.agree([&] { results = computed_there(inputs); });
            return commit(results, accumulate);
        }
        world_.agree([&] {
            const auto bytes = saturated_product(output_.shape().max_local_size(), kernels_.size);
            world_.require_free(bytes, output_.title() + ": a function of elements");
            world_.make_room(bytes);
            world_.note_working(bytes);
            results = Buffer<std::byte>(output_.bytes.size());
            std::vector<HostElements> here;
            for (const auto* input : inputs) here.emplace_back(*input);
            compute(here, results);
        });
        commit(results, accumulate);
    }

private:
    void check() {
        const auto& names = left_.labels.names();
        const std::set<std::string> known(names.begin(), names.end());
        if (known.size() < names.size())
            throw InvalidArgument(text_of(left_) + " = map(...): a label is repeated; give each dimension a label of its own");
        if (static_cast<int>(names.size()) != output_.shape().order())
            throw InvalidArgument(text_of(left_) + " = map(...): " + std::to_string(names.size()) + " labels for a tensor of order " +
                                  std::to_string(output_.shape().order()));
        for (const auto& operand : operands_) check(operand, known);
        for (const auto& slot : output_.shape().symmetry().slots()) generators(slot, output_.shape().order(), exchanges_);
        for (const auto& exchange : exchanges_) {
            Exchanged values{{}, factor_of(exchange)};
            for (const auto& operand : operands_) values.operands.push_back(factor_of(operand, exchange));
            if (!values.changes_nothing()) compared_.insert(std::move(values));
        }
    }

    void check(const Factor& operand, const std::set<std::string>& known) const {
        const auto& state = *operand.tensor;
        if (state.world != output_.world)
            throw InvalidArgument(output_.title() + " and " + state.title() + " live on different worlds; use transfer() first");
        if (operand.conjugated) throw InvalidArgument(text_of(operand) + " in map(...) is conjugated; let the function conjugate it");
        const auto& labels = operand.labels.names();
        if (static_cast<int>(labels.size()) != state.shape().order())
            throw InvalidArgument(text_of(operand) + " in map(...): " + std::to_string(labels.size()) + " labels for a tensor of order " +
                                  std::to_string(state.shape().order()));
        for (std::size_t d = 0; d < labels.size(); ++d) {
            if (known.count(labels[d]) == 0)
                throw InvalidArgument(text_of(operand) + " in map(...): the output has no label '" + labels[d] +
                                      "'; sum over it in a statement before");
            const auto place = place_of(labels[d]);
            if (state.shape().extents()[d] != output_.shape().extents()[place])
                throw InvalidArgument(text_of(operand) + " in map(...): the label '" + labels[d] + "' has extents " +
                                      std::to_string(state.shape().extents()[d]) + " and " +
                                      std::to_string(output_.shape().extents()[place]) + "; a label has one extent");
        }
    }

    std::size_t place_of(const std::string& label) const {
        const auto& names = left_.labels.names();
        return std::find(names.begin(), names.end(), label) - names.begin();
    }

    static std::uint8_t factor_of(const SignedPermutation& g) {
        return static_cast<std::uint8_t>((g.negative ? 1 : 0) + (g.conjugate ? 2 : 0));
    }

    /// What an operand's values take on under an exchange of the output's dimensions. @throws InvalidArgument if it does not have it
    std::uint8_t factor_of(const Factor& operand, const SignedPermutation& exchange) const {
        const auto& labels = operand.labels.names();
        SignedPermutation own{std::vector<int>(labels.size()), false, false};
        for (std::size_t d = 0; d < labels.size(); ++d) {
            const auto& image = left_.labels.names()[exchange.image[place_of(labels[d])]];
            const auto found = std::find(labels.begin(), labels.end(), image);
            own.image[d] = found == labels.end() ? -1 : static_cast<int>(found - labels.begin());
        }
        const bool is_whole = std::find(own.image.begin(), own.image.end(), -1) == own.image.end() &&
                              std::set<std::string>(labels.begin(), labels.end()).size() == labels.size();
        bool identity = is_whole;
        for (std::size_t d = 0; identity && d < own.image.size(); ++d) identity = own.image[d] == static_cast<int>(d);
        if (identity) return 0;
        if (!is_whole || !contains(operand.tensor->shape().symmetry(), own))
            throw InvalidArgument(text_of(operand) + " in map(...) does not have the symmetry " + output_.shape().symmetry().to_string() +
                                  " of the output " + text_of(left_) + "; make a tensor with that symmetry, or an output without");
        return factor_of(own);
    }

    /// Where children of a hollow node are equal, the function must give zero: it is called for the second child at the indices of the
    /// first, which stand for any two. Collective.
    void check_zeros(const SymmetryNode& node) const {
        for (const auto& child : node.children) check_zeros(child);
        if (node.kind != NodeKind::hollow) return;
        const auto first = node.children[0].dimensions(), second = node.children[1].dimensions();
        auto names = left_.labels.names();
        std::map<std::string, std::string> image;
        for (std::size_t d = 0; d < first.size(); ++d) image[names[second[d]]] = names[first[d]];
        std::vector<std::int64_t> extents;
        for (std::size_t d = 0; d < names.size(); ++d)
            if (image.count(names[d]) == 0) extents.push_back(output_.shape().extents()[d]);
        std::erase_if(names, [&](const auto& name) { return image.count(name) > 0; });
        auto operands = operands_;
        for (auto& operand : operands) {
            auto own = operand.labels.names();
            for (auto& name : own)
                if (const auto other = image.find(name); other != image.end()) name = other->second;
            operand.labels = Labels(std::move(own));
        }
        const auto layout = [&] { return new_layout(world_, extents, Symmetry::none(extents.size())); };
        const Factor diagonal{TensorState::make(kernels_, output_.world_handle, layout, output_.name), Labels(std::move(names)), false};
        ElementFunction(diagonal, operands, kernels_, f_).run(false, MapOver::all);
        if (world_.dry()) return;
        world_.agree([&] {
            const HostElements found(*diagonal.tensor);
            for (std::int64_t i = 0; i < diagonal.tensor->count(); ++i)
                if (const auto* const value = element_at(found.data(), i, kernels_.size); !kernels_.is_zero(value))
                    throw InvalidArgument(text_of(left_) + " = map(...): the output is zero where indices are equal, " +
                                          output_.shape().symmetry().to_string() + ", but the function's result is " +
                                          kernels_.text(value) +
                                          " there; use an output that stores its diagonal, or let the function give zero");
        });
    }

    Layout layout_of_output() const {
        const auto& shape = output_.shape();
        std::vector<SlotMapping> mapping;
        for (int s = 0; s < shape.slots(); ++s) mapping.push_back(shape.mapping(s));
        return world_.intern(Layout(shape.grid(), shape.extents(), with_kinds(shape.symmetry(), stored_kind), std::move(mapping)));
    }

    Movement movement(const TensorState& from, const std::vector<std::string>& labels, const Layout& to) const {
        Movement spec;
        spec.from = from.shape();
        spec.to = to;
        for (const auto& label : labels) spec.from_labels.push_back(place_of(label));
        for (int d = 0; d < to.order(); ++d) spec.to_labels.push_back(d);
        spec.label_extents = to.extents();
        spec.terms = {spec.identity()};
        return spec;
    }

    /// Factors of the operands among all arguments of a function with a name; numbers are exchanged as the others are where that is the
    /// same.
    std::vector<int> of_all_operands(const std::vector<int>& tensors) const {
        std::vector<int> factors;
        auto next = tensors.begin();
        for (const auto& number : named_->numbers) {
            const auto& elements = operands_[0].tensor->kernels->on_host();
            const bool is_real = number.size() > 0 && elements.as_number(number.data()).imag() == 0;
            factors.push_back(number.size() == 0 ? *next++ : is_real ? tensors[0] & 2 : 0);
        }
        return factors;
    }

    /// Does the function run where the output lies, on a device? Collective.
    bool runs_there(const std::vector<const TensorState*>& inputs) const {
        if (output_.kernels->apply == nullptr || !why_on_host().empty()) return false;
        const bool are_there =
            std::all_of(inputs.begin(), inputs.end(), [](const auto* input) { return input->kernels->apply != nullptr; });
        std::int64_t has_room[] = {are_there && output_.held() <= world_.device().free_bytes() ? 1 : 0};
        world_.agree([] {}, has_room);
        return has_room[0] != 0;
    }

    /// Local.
    Buffer<std::byte> computed_there(const std::vector<const TensorState*>& inputs) const {
        Buffer<std::byte> results(output_.bytes.size(), kernels_.space);
        std::vector<FunctionOperand> operands;
        auto next = inputs.begin();
        for (const auto& number : named_->numbers)
            operands.push_back(number.size() > 0 ? FunctionOperand{number.data(), true} : FunctionOperand{(*next++)->bytes.data(), false});
        inputs[0]->kernels->apply(named_->function, operands, results.data(), output_.count());
        return results;
    }

    void compute(const std::vector<HostElements>& inputs, Buffer<std::byte>& results) const {
        const auto count = output_.count();
        FirstError error;
#pragma omp parallel for schedule(static) if (count > 65536)
        for (std::int64_t begin = 0; begin < count; begin += block_length)
            error.run([&] {
                const auto length = std::min(block_length, count - begin);
                std::vector<const void*> block;
                for (std::size_t i = 0; i < inputs.size(); ++i)
                    block.push_back(element_at(inputs[i].data(), begin, operands_[i].tensor->kernels->size));
                std::byte* const to = element_at(results.data(), begin, kernels_.size);
                f_(block, to, length);
                for (const auto& values : compared_) compare(values, block, to, length);
            });
        error.rethrow();
    }

    /// The function of exchanged operands must be what the output says. Elements of padding are compared, too: they are functions of zeros.
    void compare(const Exchanged& values, const std::vector<const void*>& block, const std::byte* results, std::int64_t length) const {
        std::vector<Buffer<std::byte>> changed;
        auto inputs = block;
        const auto with_factor = [&](const ElementKernels& kernels, std::uint8_t factor, const void* from) {
            // Where a real number is conjugated its imaginary part is a zero without a sign, so that roots of negative ones are found out.
            auto& buffer = changed.emplace_back(Buffer<std::byte>::zeros(length * kernels.size));
            kernels.transfer_listed({.count = length, .factor = factor}, from, buffer.data(), nullptr, {.accumulate = factor == 2});
            return buffer.data();
        };
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (values.operands[i] != 0) inputs[i] = with_factor(*operands_[i].tensor->kernels, values.operands[i], block[i]);
        const auto* const expected = values.result == 0 ? results : with_factor(kernels_, values.result, results);
        Buffer<std::byte> found(length * kernels_.size);
        f_(inputs, found.data(), length);
        for (std::int64_t i = 0; i < length; ++i)
            if (!kernels_.agree(element_at(found.data(), i, kernels_.size), element_at(expected, i, kernels_.size), 0))
                throw InvalidArgument(text_of(left_) + " = map(...): the function's result does not have the symmetry " +
                                      output_.shape().symmetry().to_string() + " of the output: where indices are exchanged it is " +
                                      kernels_.text(element_at(found.data(), i, kernels_.size)) + " in place of " +
                                      kernels_.text(element_at(expected, i, kernels_.size)) + "; use an output without that symmetry");
    }

    /// Puts the results where they belong; padding stays zero.
    void commit(Buffer<std::byte>& results, bool accumulate) {
        const auto put = [&](std::int64_t count, const std::int64_t* offsets) {
            kernels_.transfer_listed({.count = count, .from = offsets, .to = offsets}, results.data(), output_.bytes.data(), nullptr,
                                     {.accumulate = accumulate});
        };
        if (!output_.shape().has_padding()) {
            if (accumulate) return put(output_.count(), nullptr);
            if (results.space() == output_.kernels->space) return output_.relocate(output_.layout, std::move(results));
            return copy_array(output_.bytes.data(), results.data(), results.size(), output_.kernels->space);
        }
        std::vector<std::int64_t> offsets;
        const auto put_all = [&] {
            put(std::ssize(offsets), offsets.data());
            offsets.clear();
        };
        for_each_element(output_.shape(), output_.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>&) {
            offsets.push_back(offset);
            if (std::ssize(offsets) == block_length) put_all();
        });
        put_all();
    }

    const Factor& left_;
    const std::vector<Factor>& operands_;
    TensorState& output_;
    WorldState& world_;
    const ElementKernels& kernels_;
    const statements::BulkFunction& f_;
    const statements::NamedFunction* named_;
    std::vector<SignedPermutation> exchanges_;
    std::set<Exchanged> compared_;
};

/// Is any of the tensors sparse? @throws InvalidArgument where there is none
bool has_sparse(const Factor& left, const std::vector<Factor>& operands) {
    const auto has_none = [](const Factor& factor) { return !factor.tensor && !factor.sparse; };
    if (has_none(left) || std::any_of(operands.begin(), operands.end(), has_none))
        throw InvalidArgument("map(...): labels without a tensor; label one by Tensor::operator[]");
    return left.sparse || std::any_of(operands.begin(), operands.end(), [](const Factor& factor) { return factor.sparse != nullptr; });
}

}  // namespace

void statements::apply(const Factor& left, const std::vector<Factor>& operands, const ElementKernels& result, const BulkFunction& f,
                       bool accumulate, const SparseRule& rule) {
    if (has_sparse(left, operands)) return apply_to_sparse(left, operands, result, f, accumulate, rule);
    const CollectiveCall call(left.tensor->world->movement_communicator(), "map", FactorArguments{left, operands},
                              std::string_view(result.type->name()), accumulate, static_cast<int>(rule.over));
    const auto& kernels = left.tensor->kernels->space != nullptr ? left.tensor->world->kernels(result) : result.on_host();
    ElementFunction(left, operands, kernels, f).run(accumulate, rule.over);
    left.tensor->world->settle(left.tensor->kernels->space);
}

std::string statements::explain(const Factor& left, const std::vector<Factor>& operands, const ElementKernels& result,
                                const BulkFunction& f) {
    const bool is_sparse = has_sparse(left, operands);
    const auto* const named = f.target<NamedFunction>();
    std::string text = text_of(left) + " = " + (named != nullptr ? std::string(to_string(named->function)) : "map(...)") + " of";
    for (const auto& operand : operands) text += " " + text_of(operand);
    if (is_sparse) return text + ": on the host: sparse tensors lie there\n";
    const auto why = ElementFunction(left, operands, result, f).explain();
    return text + (why.empty() ? ": on the device, where operands and results lie there\n" : ": on the host: " + why + "\n");
}

void statements::divide(const Factor& factor, const std::vector<Term>& divisor) {
    if (factor.sparse) throw InvalidArgument(text_of(factor) + " /= ...: a sparse tensor is divided by update() or map()");
    if (!factor.tensor) throw InvalidArgument("elementwise division: labels without a tensor; label one by Tensor::operator[]");
    auto& state = *factor.tensor;
    const auto& kernels = *state.kernels;
    const CollectiveCall call(state.world->movement_communicator(), "elementwise division", state, factor.conjugated);
    const auto& names = factor.labels.names();
    if (std::set<std::string>(names.begin(), names.end()).size() < names.size())
        throw InvalidArgument(text_of(factor) + " /= ...: a label is repeated; give each dimension a label of its own");
    // Where the tensor is zero by symmetry nothing is stored; the divisor need not vanish there.
    const auto symmetry = with_kinds(state.shape().symmetry(), without_zeros);
    const auto whole = TensorState::make(
        kernels, state.world_handle, [&] { return new_layout(*state.world, state.shape().extents(), symmetry); },
        "the divisor of " + state.title());
    assign({whole, factor.labels, false}, divisor, kernels.zero, kernels);
    const auto quotient = [&](const std::vector<const void*>& inputs, void* results, std::int64_t count) {
        std::memcpy(results, inputs[0], count * kernels.size);
        kernels.divide(results, inputs[1], count);
    };
    apply(factor, {factor, {whole, factor.labels, false}}, kernels, NamedFunction{Function::divide, {{}, {}}, quotient}, false,
          {MapOver::target});
}

}  // namespace arges

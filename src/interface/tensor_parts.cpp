// Sub-tensors, other symmetries, other element types, other worlds.
#include "base/instantiate.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/run_movement.hpp"
#include "interface/tensor_state.hpp"
#include "symmetry/canonical_form.hpp"
#include "symmetry/permutation_group.hpp"

#include <algorithm>

namespace arges {

namespace {

template <class T>
void run_movement(TensorState<T>& to, const TensorState<T>& from, const ExchangeSpec& spec, T alpha, T beta) {
    run_movement(*to.world, spec, from.data.data(), to.data.data(), alpha, beta);
    to.keep_real();
}

struct Ranges {
    const std::vector<std::int64_t>& begin;
    const std::vector<std::int64_t>& end;
    bool equal(int a, int b) const {
        return begin[static_cast<std::size_t>(a)] == begin[static_cast<std::size_t>(b)] &&
               end[static_cast<std::size_t>(a)] == end[static_cast<std::size_t>(b)];
    }
    bool disjoint(int a, int b) const {
        return end[static_cast<std::size_t>(a)] <= begin[static_cast<std::size_t>(b)] ||
               end[static_cast<std::size_t>(b)] <= begin[static_cast<std::size_t>(a)];
    }
};

/// The tree that a slice keeps: a node survives where corresponding dimensions of its children have equal ranges.
SymmetryNode sliced(const SymmetryNode& node, const Ranges& ranges) {
    if (node.kind == NodeKind::leaf) return node;
    SymmetryNode result{node.kind, -1, {}};
    bool equal = true;
    const auto first = node.children[0].dimensions();
    for (const auto& child : node.children) {
        const auto dims = child.dimensions();
        for (std::size_t l = 0; l < dims.size() && node.kind != NodeKind::product; ++l)
            equal = equal && ranges.equal(first[l], dims[l]);
    }
    if (!equal) result.kind = NodeKind::product;
    for (const auto& child : node.children) result.children.push_back(sliced(child, ranges));
    return result;
}

void check_ranges(const std::string& title, const std::vector<std::int64_t>& extents, const Ranges& ranges) {
    if (ranges.begin.size() != extents.size() || ranges.end.size() != extents.size())
        throw InvalidArgument(title + ": a slice of " + std::to_string(ranges.begin.size()) + " and " +
                              std::to_string(ranges.end.size()) + " bounds for a tensor of order " +
                              std::to_string(extents.size()) + "; give a begin and an end per dimension");
    for (std::size_t d = 0; d < extents.size(); ++d)
        if (ranges.begin[d] < 0 || ranges.begin[d] > ranges.end[d] || ranges.end[d] > extents[d])
            throw InvalidArgument(title + ": the slice [" + std::to_string(ranges.begin[d]) + ", " +
                                  std::to_string(ranges.end[d]) + ") is not within dimension " + std::to_string(d) +
                                  " of extent " + std::to_string(extents[d]));
}

/// Permutations that relate elements of a slot; for huge groups the exchanges of two children of a node.
void relating(const SymmetryNode& node, int order, std::vector<SignedPermutation>& result) {
    if (group_size(node) <= max_group_size) {
        const auto all = group_of(node, order);
        result.insert(result.end(), all.begin() + 1, all.end());
        return;
    }
    for (const auto& child : node.children) relating(child, order, result);
    for (std::size_t i = 0; i < node.children.size() && node.kind != NodeKind::product; ++i)
        for (std::size_t j = i + 1; j < node.children.size(); ++j) {
            const auto pair = group_of(SymmetryNode{node.kind, -1, {node.children[i], node.children[j]}}, order);
            result.push_back(pair.back());
        }
}

/// An index that the permutation maps to itself, with no more equal entries than that takes.
std::vector<std::int64_t> fixed_by(const SignedPermutation& g) {
    std::vector<std::int64_t> index(g.image.size());
    for (std::size_t d = 0; d < index.size(); ++d) {
        index[d] = static_cast<std::int64_t>(d);
        for (auto e = static_cast<std::size_t>(g.image[d]); e != d; e = static_cast<std::size_t>(g.image[e]))
            index[d] = std::min(index[d], static_cast<std::int64_t>(e));
    }
    return index;
}

/// Writing a slice is defined if each permutation of the tensor's symmetry maps the slice onto itself and the part has that
/// symmetry, with the zeros of a hollow node, or maps it to elements outside.
void check_part(const std::string& title, const Symmetry& symmetry, const Symmetry& part, const Ranges& ranges) {
    std::vector<SignedPermutation> group;
    for (const auto& slot : symmetry.slots())
        if (slot.kind != NodeKind::leaf) relating(slot, part.order(), group);
    for (const auto& g : group) {
        bool same = true, apart = false;
        int moved = -1;
        for (int d = 0; d < part.order(); ++d) {
            const int other = g.image[static_cast<std::size_t>(d)];
            same = same && ranges.equal(d, other);
            apart = apart || ranges.disjoint(d, other);
            if (moved < 0 && other != d) moved = d;
        }
        if (apart) continue;
        SignedPermutation there = g;
        if (same && contains(part, there) && there == g) {
            const auto fixed = fixed_by(g);
            if (!canonical_form(symmetry, fixed).zero || canonical_form(part, fixed).zero) continue;
            throw InvalidArgument(title + ": set_slice over the diagonal of a hollow group, where the part does not vanish by "
                                          "structure; give the part the same symmetry");
        }
        throw InvalidArgument(title + ": set_slice over dimensions " + std::to_string(moved) + " and " +
                              std::to_string(g.image[static_cast<std::size_t>(moved)]) +
                              " that are related by symmetry; give them the same range and the part the same symmetry, or "
                              "ranges that do not overlap");
    }
}

/// A shape on the wire: order, extents, then the tree in prefix form.
void write_tree(const SymmetryNode& node, std::vector<std::int64_t>& out) {
    out.push_back(static_cast<std::int64_t>(node.kind));
    out.push_back(node.dimension);
    out.push_back(static_cast<std::int64_t>(node.children.size()));
    for (const auto& child : node.children) write_tree(child, out);
}

SymmetryNode read_tree(const std::vector<std::int64_t>& in, std::size_t& at) {
    SymmetryNode node{static_cast<NodeKind>(in[at]), static_cast<int>(in[at + 1]), {}};
    const auto children = in[at + 2];
    at += 3;
    for (std::int64_t c = 0; c < children; ++c) node.children.push_back(read_tree(in, at));
    return node;
}

}  // namespace

template <class T>
Tensor<T> Tensor<T>::slice(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end) const {
    const auto& state = state_of(*this, "slice");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::slice", begin, end);
    const Ranges ranges{begin, end};
    check_ranges(state.title(), extents(), ranges);
    std::vector<SymmetryNode> slots;
    for (const auto& slot : symmetry().slots()) slots.push_back(sliced(slot, ranges));
    std::vector<std::int64_t> lengths;
    for (std::size_t d = 0; d < begin.size(); ++d) lengths.push_back(end[d] - begin[d]);
    Tensor result(world(), lengths, Symmetry(order(), product(slots)), state.name);
    auto spec = copy_between(state.shape(), result.state_->shape());
    spec.label_extents = lengths;
    spec.from_offset = begin;
    run_movement(*result.state_, state, spec, T(1), T(0));
    return result;
}

template <class T>
void Tensor<T>::set_slice(const std::vector<std::int64_t>& begin, const Tensor& part, T alpha, T beta) {
    auto& state = state_of(*this, "set_slice");
    const auto& from = state_of(part, "set_slice");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::set_slice", begin, part.extents(), alpha, beta);
    if (from.world != state.world)
        throw InvalidArgument(state.title() + ": set_slice from a tensor on another world; use transfer() first");
    auto end = begin;
    if (part.order() != order() || end.size() != extents().size())
        throw InvalidArgument(state.title() + ": set_slice of a part of order " + std::to_string(part.order()) +
                              " into a tensor of order " + std::to_string(order()));
    for (std::size_t d = 0; d < end.size(); ++d)
        end[d] = begin[d] > extents()[d] ? begin[d] : begin[d] + part.extents()[d];  // no overflow before it is refused
    const Ranges ranges{begin, end};
    check_ranges(state.title(), extents(), ranges);
    if ((std::imag(alpha) != 0 || std::imag(beta) != 0) && contains_kind(symmetry(), NodeKind::hermitian))
        throw InvalidArgument(state.title() + ": set_slice into a hermitian tensor needs real factors; multiply the part before");
    check_part(state.title(), symmetry(), part.symmetry(), ranges);
    if (&from == &state) {
        set_slice(begin, Tensor(part), alpha, beta);
        return;
    }
    auto spec = copy_between(from.shape(), state.shape());
    spec.to_offset = begin;
    run_movement(state, from, spec, alpha, beta);
}

template <class T>
Tensor<T> Tensor<T>::with_symmetry(const Symmetry& symmetry) const {
    const auto& state = state_of(*this, "with_symmetry");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::with_symmetry", symmetry.to_string());
    Tensor result(world(), extents(), symmetry, state.name);
    run_movement(*result.state_, state, copy_between(state.shape(), result.state_->shape()), T(1), T(0));
    return result;
}

template <class T>
Tensor<T> conj(const Tensor<T>& A) {
    state_of(A, "conj");
    Tensor<T> result(A);
    if constexpr (!std::is_same_v<T, real_of<T>>) {
        auto& data = state_of(result, "conj").data;
        for (std::int64_t i = 0; i < data.size(); ++i) data[i] = std::conj(data[i]);
    }
    return result;
}

namespace {

SymmetryNode replaced(const SymmetryNode& node, NodeKind hermitian_becomes) {
    auto result = node;
    if (node.kind == NodeKind::hermitian) result.kind = hermitian_becomes;
    for (auto& child : result.children) child = replaced(child, hermitian_becomes);
    return result;
}

/// A real tensor from a complex one whose hermitian nodes become another kind.
template <class T, class Part>
Tensor<T> part_of(const Tensor<std::complex<T>>& A, NodeKind hermitian_becomes, Part&& part) {
    std::vector<SymmetryNode> slots;
    for (const auto& slot : A.symmetry().slots()) slots.push_back(replaced(slot, hermitian_becomes));
    const Symmetry symmetry(A.order(), product(slots));
    const auto moved = symmetry == A.symmetry() ? A : A.with_symmetry(symmetry);
    auto layout = state_of(moved, "real or imag").layout;
    auto result = TensorState<T>::make(A.world(), [&] { return layout; }, A.name());
    const auto& from = state_of(moved, "real or imag").data;
    for (std::int64_t i = 0; i < from.size(); ++i) result->data[i] = part(from[i]);
    return Tensor<T>(std::move(result));
}

}  // namespace

template <class T>
Tensor<T> real(const Tensor<std::complex<T>>& A) {
    return part_of<T>(A, NodeKind::symmetric, [](std::complex<T> z) { return z.real(); });
}

template <class T>
Tensor<T> Tensor<T>::complex_from(const Tensor<real_of<T>>& real) {
    const auto& from = state_of(real, "a complex tensor from a real one");
    auto result = TensorState<T>::make(from.world_handle, [&] { return from.layout; }, "");
    for (std::int64_t i = 0; i < from.data.size(); ++i) result->data[i] = T(from.data[i]);
    return Tensor<T>(std::move(result));
}

template <class T>
Tensor<T> imag(const Tensor<std::complex<T>>& A) {
    return part_of<T>(A, NodeKind::antisymmetric, [](std::complex<T> z) { return z.imag(); });
}

namespace {

/// Throws unless as many ranks take part as the one world that they are in has; `size` is 0 on ranks outside. Collective.
void check_present(const Communicator& comm, std::int64_t size, const std::string& which) {
    const auto present = comm.sum(size > 0 ? 1 : 0), largest = comm.maximum(size);
    const auto smallest = comm.minimum(size > 0 ? size : largest);
    if (present == 0 || present != largest || smallest != largest)
        throw InvalidArgument("transfer: " + std::to_string(present) + " ranks of the meeting world are in " + which +
                              ", which has " + std::to_string(largest) +
                              "; the meeting world needs every rank of one source and of one target");
}

}  // namespace

/// transfer() between worlds of dry runs: shape, symmetry and name.
template <class T>
Tensor<T> planned_transfer(const Tensor<T>& source, const World& target) {
    state_of(source, "transfer");
    if (!target.takes_part() || !target.is_dry_run() || !source.world().is_dry_run())
        throw InvalidArgument("transfer: the meeting world is a dry run; source and target must be dry runs, too");
    return Tensor<T>(target, source.extents(), source.symmetry(), source.name());
}

template <class T>
Tensor<T> transfer(const World& meeting, const Tensor<T>& source, const World& target) {
    if (meeting.is_dry_run()) return planned_transfer(source, target);
    const auto& comm = meeting.state()->communicator();
    const CollectiveCall call(meeting.state()->exchange_communicator(), "transfer");
    comm.agree([&] {
        if ((source.state() && source.world().is_dry_run()) || (target.takes_part() && target.is_dry_run()))
            throw InvalidArgument("transfer: source and target must be worlds of real ranks, because the meeting world is one; "
                                  "a dry run has no data");
    });
    // Who has the source, and which rank of the target is which rank of the meeting?
    const auto giver = comm.minimum(source.state() ? comm.rank() : comm.size());
    if (giver == comm.size())
        throw InvalidArgument("transfer: no rank of the meeting world has the source tensor");
    check_present(comm, source.state() ? source.world().size() : 0, "the source's world");
    check_present(comm, target.takes_part() ? target.size() : 0, "the target world");
    std::vector<std::int64_t> shape;
    if (comm.rank() == giver) {
        shape = source.extents();
        shape.insert(shape.begin(), source.order());
        write_tree(product(source.symmetry().slots()), shape);
    }
    comm.broadcast(shape, giver);
    std::string name = source.state() ? source.name() : "";
    comm.broadcast(name, giver);
    const auto order = static_cast<std::size_t>(shape[0]);
    const std::vector<std::int64_t> extents(shape.begin() + 1, shape.begin() + 1 + static_cast<std::ptrdiff_t>(order));
    std::size_t at = 1 + order;
    const Symmetry symmetry(static_cast<int>(order), read_tree(shape, at));
    Tensor<T> result;
    comm.agree([&] {
        if (target.takes_part()) result = Tensor<T>(target, extents, symmetry, name);
    });
    const auto mine = target.takes_part() ? target.rank() : -1;
    const auto target_ranks = gathered(comm, std::vector<std::int64_t>{mine});
    // Every source rank deals its pairs out to the meeting ranks in turn; the target's write() finds the owners.
    std::vector<std::int64_t> receivers;
    for (std::size_t r = 0; r < target_ranks.size(); ++r)
        if (target_ranks[r] >= 0) receivers.push_back(static_cast<std::int64_t>(r));
    std::vector<std::vector<std::int64_t>> keys(target_ranks.size());
    std::vector<std::vector<T>> values(target_ranks.size());
    comm.agree([&] {
        const auto pairs = source.state() ? source.local_pairs() : std::pair<std::vector<std::int64_t>, std::vector<T>>();
        for (std::size_t i = 0; i < pairs.first.size(); ++i) {
            const auto to = static_cast<std::size_t>(receivers[i % receivers.size()]);
            keys[to].push_back(pairs.first[i]);
            values[to].push_back(pairs.second[i]);
        }
    });
    keys = exchanged(comm, std::move(keys));
    values = exchanged(comm, std::move(values));
    std::vector<std::int64_t> my_keys;
    std::vector<T> my_values;
    comm.agree([&] {
        for (const auto& list : keys) my_keys.insert(my_keys.end(), list.begin(), list.end());
        for (const auto& list : values) my_values.insert(my_values.end(), list.begin(), list.end());
    });
    comm.agree([&] {
        if (target.takes_part()) result.write(my_keys, my_values);
    });
    return result;
}

#define ARGES_INSTANTIATE(T)                                                                                             \
    template Tensor<T> Tensor<T>::slice(const std::vector<std::int64_t>&, const std::vector<std::int64_t>&) const;       \
    template void Tensor<T>::set_slice(const std::vector<std::int64_t>&, const Tensor&, T, T);                           \
    template Tensor<T> Tensor<T>::with_symmetry(const Symmetry&) const;                                                  \
    template Tensor<T> conj(const Tensor<T>&);                                                                           \
    template Tensor<T> transfer(const World&, const Tensor<T>&, const World&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
template Tensor<float> real(const Tensor<std::complex<float>>&);
template Tensor<double> real(const Tensor<std::complex<double>>&);
template Tensor<std::complex<float>> Tensor<std::complex<float>>::complex_from(const Tensor<float>&);
template Tensor<std::complex<double>> Tensor<std::complex<double>>::complex_from(const Tensor<double>&);
template Tensor<float> imag(const Tensor<std::complex<float>>&);
template Tensor<double> imag(const Tensor<std::complex<double>>&);

}  // namespace arges

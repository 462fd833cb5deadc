#include "interface/sparse/sparse_symmetry.hpp"

#include "interface/sparse/sparse_tensor_merge.hpp"
#include "redistribute/movement_run.hpp"
#include "symmetry/canonical_form.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace arges {

namespace {

/// The modes in the order of the tree's leaves, as canonical_form() has them.
std::vector<int> leaves(const Symmetry& symmetry) {
    std::vector<int> result;
    for (const auto& slot : symmetry.slots()) {
        const auto dimensions = slot.dimensions();
        result.insert(result.end(), dimensions.begin(), dimensions.end());
    }
    return result;
}

/// May permutations leave an index tuple as it is? Two modes of a group have the same index then.
class EqualIndices {
public:
    explicit EqualIndices(const Symmetry& symmetry) {
        for (const auto& slot : symmetry.slots())
            if (slot.kind != NodeKind::leaf) groups_.push_back(slot.dimensions());
    }
    bool operator()(const std::vector<std::int64_t>& x) const {
        for (const auto& group : groups_)
            for (std::size_t a = 0; a < group.size(); ++a)
                for (std::size_t b = 0; b < a; ++b)
                    if (x[group[a]] == x[group[b]]) return true;
        return false;
    }

private:
    std::vector<std::vector<int>> groups_;
};

void read_index(const sparse::NonzeroIndices& elements, std::size_t k, std::vector<std::int64_t>& x) {
    for (std::size_t m = 0; m < x.size(); ++m) x[m] = elements.indices[m][k];
}

/// Calls f(nonzero, term, image) for each permutation of the indices of each nonzero.
template <class F>
void for_each_image(const sparse::NonzeroIndices& from, const std::vector<SignedPermutation>& terms, F f) {
    std::vector<std::int64_t> u(from.lengths.size()), v = u;
    for (std::int64_t k = 0; k < from.count(); ++k) {
        read_index(from, k, u);
        for (const auto& term : terms) {
            for (std::size_t d = 0; d < u.size(); ++d) v[term.image[d]] = u[d];
            f(k, term, v);
        }
    }
}

constexpr std::uint8_t stored_flag = 1, real_flag = 2;

/// Of each image: is it a representative, and a real one? Else 0.
std::vector<std::uint8_t> image_flags(const sparse::NonzeroIndices& from, const Symmetry& symmetry,
                                      const std::vector<SignedPermutation>& terms) {
    const auto modes = leaves(symmetry);
    std::vector<std::uint8_t> flags;
    flags.reserve(static_cast<std::size_t>(from.count()) * terms.size());
    for_each_image(from, terms, [&](std::int64_t, const SignedPermutation&, const std::vector<std::int64_t>& v) {
        const auto form = canonical_form(symmetry, v);
        bool is_representative = !form.zero;
        for (std::size_t p = 0; p < modes.size() && is_representative; ++p) is_representative = v[modes[p]] == form.index[p];
        flags.push_back(is_representative ? (form.real ? stored_flag | real_flag : stored_flag) : 0);
    });
    return flags;
}

}  // namespace

Representatives to_representatives(const Symmetry& symmetry, sparse::NonzeroIndices& elements) {
    Representatives result;
    const auto modes = leaves(symmetry);
    const std::size_t count = elements.count();
    result.factors.resize(count, 0);
    std::vector<std::int64_t> x(modes.size());
    for (std::size_t k = 0; k < count; ++k) {
        read_index(elements, k, x);
        const auto form = canonical_form(symmetry, x);
        for (std::size_t p = 0; p < modes.size(); ++p) elements.indices[modes[p]][k] = form.index[p];
        result.factors[k] = static_cast<std::uint8_t>((form.negative ? 1U : 0U) | (form.conjugate ? 2U : 0U));
        if (form.zero) result.zeros.push_back(k);
        if (form.real) result.reals.push_back(k);
    }
    return result;
}

void take_representatives(const Symmetry& symmetry, const ElementKernels& kernels, const std::string& title, AnyNonzeros& nonzeros) {
    if (symmetry.trivial()) return;
    const auto found = to_representatives(symmetry, nonzeros);
    const auto refuse = [&](std::size_t k, const std::string& why) {
        throw InvalidArgument(title + ": the element at " + coordinate_text(coordinate(nonzeros, k), 0) + why +
                              "; correct the value or the symmetry");
    };
    const auto value = [&](std::size_t k) { return element_at(std::as_const(nonzeros.values).data(), k, kernels.size); };
    for (auto k : found.zeros)
        if (!kernels.is_zero(value(k))) refuse(k, " is on a diagonal that is zero by symmetry, but its value is not zero");
    for (auto k : found.reals)
        if (kernels.as_number(value(k)).imag() != 0) refuse(k, " is on the diagonal of a hermitian group, but its value is not real");
    kernels.transfer_listed({.count = nonzeros.values.count(), .factors = found.factors.data()}, std::as_const(nonzeros.values).data(),
                            nonzeros.values.data(), nullptr, {});
    if (found.zeros.empty()) return;
    std::vector<std::size_t> kept(found.factors.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    std::erase_if(kept, [&](std::size_t k) { return std::binary_search(found.zeros.begin(), found.zeros.end(), k); });
    nonzeros = selected(nonzeros, nonzeros.values, kept);
}

std::int64_t orbit_size(const std::vector<SignedPermutation>& group, const std::vector<std::int64_t>& index) {
    std::set<std::vector<std::int64_t>> images;
    auto image = index;
    for (const auto& g : group) {
        for (std::size_t d = 0; d < index.size(); ++d) image[d] = index[g.image[d]];
        images.insert(image);
    }
    return std::ssize(images);
}

SparseOrbits::SparseOrbits(const std::shared_ptr<WorldState>& world, const sparse::NonzeroIndices& representatives,
                           const Symmetry& symmetry, const std::string& title) {
    sparse::NonzeroIndices all = no_indices(representatives.lengths);
    world->agree([&] {
        const auto group = group_of(symmetry);
        const auto most = representatives.count() * std::ssize(group);
        world->require_free(SparsePattern::bytes(representatives.order() + 1, most) + most, title + ": all elements of its orbits");
        for (auto& column : all.indices) column.reserve(most);
        from_.reserve(most);
        factors_.reserve(most);
        const EqualIndices has_equal(symmetry);
        std::vector<std::int64_t> x(representatives.lengths.size()), y = x;
        for (std::int64_t k = 0; k < representatives.count(); ++k) {
            read_index(representatives, k, x);
            const bool may_repeat = has_equal(x);
            std::set<std::vector<std::int64_t>> known;
            for (const auto& g : group) {
                for (std::size_t d = 0; d < y.size(); ++d) y[d] = x[g.image[d]];
                if (may_repeat && !known.insert(y).second) continue;
                for (std::size_t m = 0; m < y.size(); ++m) all.indices[m].push_back(y[m]);
                from_.push_back(k);
                factors_.push_back(static_cast<std::uint8_t>((g.negative ? 1U : 0U) | (g.conjugate ? 2U : 0U)));
            }
        }
    });
    pattern_ = SparseState::pattern_of(world, std::move(all), {});
    held_.emplace(*world, pattern_->most_here * static_cast<std::int64_t>(sizeof(from_[0]) + sizeof(factors_[0])));
}

SparseValues SparseOrbits::values(const ElementKernels& kernels, const SparseValues& representatives) const {
    SparseValues result(kernels, pattern_->count());
    kernels.transfer_listed({.count = pattern_->count(), .from = from_.data(), .factors = factors_.data()}, representatives.data(),
                            result.data(), nullptr, {});
    return result;
}

std::shared_ptr<SparseState> whole_of(const std::shared_ptr<SparseState>& state) {
    if (state->symmetry.trivial()) return state;
    const auto& pattern = *state->pattern();
    if (!pattern.orbits) pattern.orbits = std::make_shared<SparseOrbits>(state->world, pattern, state->symmetry, state->title());
    std::shared_ptr<SparseState> result;
    SparseValues values;
    state->world->agree([&] {
        state->world->require_free(pattern.orbits->pattern()->most_here * state->kernels->size,
                                   state->title() + ": values of all elements of its orbits");
        values = pattern.orbits->values(*state->kernels, state->values());
        result = std::make_shared<SparseState>(*state->kernels, state->world_handle, pattern.lengths, Symmetry(), state->name);
    });
    result->adopt(pattern.orbits->pattern(), std::move(values));
    return result;
}

std::shared_ptr<SparseState> whole_state_of(const AnyTensor& tensor, const char* where) {
    sparse_state_of(tensor, where);
    return whole_of(tensor.sparse_state());
}

SparseProjection::SparseProjection(const Communicator* comm, const sparse::NonzeroIndices& from, const SparseLayout& layout,
                                   const Symmetry& symmetry, const std::vector<SignedPermutation>& terms, const RequireBytes& require) {
    const auto most = [&](std::int64_t here) { return comm != nullptr ? comm->maximum(here) : here; };
    const auto images = most(from.count() * std::ssize(terms));
    require(images);
    std::vector<std::uint8_t> flags;
    std::int64_t count = 0;
    agree(comm, [&] {
        flags = image_flags(from, symmetry, terms);
        count = std::ssize(flags) - std::count(flags.begin(), flags.end(), 0);
    });
    const auto listed = most(count * static_cast<std::int64_t>((from.lengths.size() + 1) * sizeof(std::int64_t) + 2));
    require(images + listed);
    std::vector<std::uint8_t> is_real;
    agree(comm, [&] { is_real = list_images(from, terms, flags, count); });
    flags = {};
    if (terms.size() > 1) {
        match_ = std::make_unique<SparseMatch>(comm, std::vector<IndexSpans>{spans_of(indices_)}, layout, from.lengths,
                                               [&](std::int64_t bytes) { require(listed + bytes); });
        agree(comm, [&] {
            indices_ = match_->indices_of();
            match_->forget_indices();
            const sparse::NonzeroIndices sums{from.lengths, indices_};
            std::vector<std::int64_t> x(indices_.size());
            is_real.assign(match_->runs().count(), 0);
            for (std::size_t k = 0; k < is_real.size(); ++k) {
                read_index(sums, k, x);
                is_real[k] = canonical_form(symmetry, x).real ? 1 : 0;
            }
        });
    }
    for (std::size_t k = 0; k < is_real.size(); ++k)
        if (is_real[k] != 0) reals_.push_back(k);
}

/// Puts the images that are representatives into the lists. Local. @return which of them are real
std::vector<std::uint8_t> SparseProjection::list_images(const sparse::NonzeroIndices& from, const std::vector<SignedPermutation>& terms,
                                                        const std::vector<std::uint8_t>& flags, std::int64_t count) {
    std::vector<std::uint8_t> is_real;
    indices_.resize(from.lengths.size());
    for (auto& column : indices_) column.reserve(count);
    from_.reserve(count);
    factors_.reserve(count);
    is_real.reserve(count);
    std::size_t next = 0;
    for_each_image(from, terms, [&](std::int64_t k, const SignedPermutation& term, const std::vector<std::int64_t>& v) {
        const auto own = flags[next++];
        if (own == 0) return;
        for (std::size_t m = 0; m < v.size(); ++m) indices_[m].push_back(v[m]);
        from_.push_back(k);
        factors_.push_back(static_cast<std::uint8_t>((term.negative ? 1U : 0U) | (term.conjugate ? 2U : 0U)));
        is_real.push_back((own & real_flag) != 0 ? 1 : 0);
    });
    return is_real;
}

Buffer<std::byte> SparseProjection::values(const Communicator* comm, const ElementKernels& kernels, const std::byte* from) const {
    Buffer<std::byte> result, room;
    agree(comm, [&] {
        const auto count = std::ssize(from_);
        result = Buffer<std::byte>(count * kernels.size);
        kernels.transfer_listed({.count = count, .from = from_.data(), .factors = factors_.data()}, from, result.data(), nullptr, {});
    });
    if (match_) {
        const auto* const parts = match_->values(0, result.data(), kernels.size, room);
        agree(comm, [&] {
            const auto& runs = match_->runs();
            Buffer<std::byte> sums(runs.count() * kernels.size);
            kernels.sparse->add_runs(runs.count(), runs.start.data(), runs.order.data(), parts, sums.data());
            result = std::move(sums);
        });
    }
    if (kernels.is_complex && kernels.make_real != nullptr)
        for (auto k : reals_) kernels.make_real(element_at(result.data(), k, kernels.size), 1);
    return result;
}

std::int64_t SparseProjection::working_bytes(std::int64_t element_bytes) const {
    const auto parts = std::ssize(from_);
    return element_bytes * (match_ ? parts + match_->packed() + match_->count() + match_->runs().count() : parts);
}

std::int64_t SparseProjection::list_bytes() const {
    return static_cast<std::int64_t>((from_.size() + reals_.size()) * sizeof(std::int64_t) + factors_.size()) +
           (match_ ? match_->list_bytes() : 0);
}

}  // namespace arges

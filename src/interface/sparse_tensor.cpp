// Creating sparse tensors, their shape, and what is local. Writing and reductions: sparse_tensor_data.cpp.
#include "arges/sparse_tensor.hpp"

#include "comm/collective_call.hpp"
#include "interface/sparse_state.hpp"

#include <algorithm>

namespace arges {

namespace {

void check_lengths(const std::vector<std::int64_t>& lengths, const std::string& title) {
    if (lengths.empty() || lengths.size() > static_cast<std::size_t>(max_sparse_order))
        throw InvalidArgument(title + ": " + std::to_string(lengths.size()) + " lengths; a sparse tensor has 1 to " +
                              std::to_string(max_sparse_order) + " modes");
    for (std::size_t m = 0; m < lengths.size(); ++m)
        if (lengths[m] < 0 || lengths[m] > max_sparse_length)
            throw InvalidArgument(title + ": length " + std::to_string(lengths[m]) + " of mode " + std::to_string(m + 1) +
                                  "; lengths must be from 0 to 2^62");
}

}  // namespace

template <class T>
SparseState<T>::SparseState(World handle, std::vector<std::int64_t> lengths, std::string title_)
    : world_handle(std::move(handle)), world(world_handle.state()), name(std::move(title_)) {
    check_lengths(lengths, title());
    if (world->dry()) throw InvalidArgument(title() + ": the world is a dry run, which has no data; use a world of real ranks");
    local_ = no_nonzeros<T>(std::move(lengths));
}

template <class T>
void SparseState<T>::replace(sparse::Nonzeros<T> nonzeros, bool at_home) {
    const auto bytes = comm().maximum(nonzeros_bytes<T>(nonzeros.order(), nonzeros.count()));
    if (bytes - held_ > world->least_free_bytes())
        throw OutOfMemory(title() + ": a rank has " + std::to_string(bytes) + " bytes of nonzeros, which is over the limit of " +
                          std::to_string(world->memory_limit()) +
                          " for all that it holds; use more ranks or raise the limit "
                          "(World::set_memory_limit, ARGES_MEMORY_LIMIT)");
    world->hold(bytes - held_);
    held_ = bytes;
    local_ = std::move(nonzeros);
    at_home_ = at_home;
}

template <class T>
sparse::Nonzeros<T> SparseState<T>::take() {
    auto given = std::move(local_);
    local_ = no_nonzeros<T>(given.lengths);
    at_home_ = true;
    world->hold(-held_);
    held_ = 0;
    return given;
}

template <class T>
std::shared_ptr<SparseState<T>> SparseState<T>::copy() const {
    const CollectiveCall call(world->movement_communicator(), "SparseTensor");
    std::shared_ptr<SparseState> result;
    world->agree([&] {
        if (held_ > world->free_bytes())
            throw OutOfMemory(title() + ": a copy of " + std::to_string(held_) + " bytes is over the memory limit of " +
                              std::to_string(world->memory_limit()) + "; move the tensor, or raise the limit");
        result = std::make_shared<SparseState>(world_handle, local_.lengths, name);
        result->local_ = local_;
    });
    result->at_home_ = at_home_;
    result->held_ = held_;
    world->hold(held_);
    return result;
}

template <class T>
SparseState<T>& state_of(const SparseTensor<T>& tensor, const char* where) {
    if (!tensor.state())
        throw InvalidArgument(std::string(where) + ": the sparse tensor has no shape yet (default-constructed or moved from); "
                                                   "construct it with a world and lengths");
    return *tensor.state();
}

template <class T>
SparseTensor<T>::SparseTensor() = default;
template <class T>
SparseTensor<T>::~SparseTensor() = default;
template <class T>
SparseTensor<T>::SparseTensor(SparseTensor&& other) noexcept = default;
template <class T>
SparseTensor<T>& SparseTensor<T>::operator=(SparseTensor&& other) noexcept = default;
template <class T>
SparseTensor<T>::SparseTensor(std::shared_ptr<SparseState<T>> state) : state_(std::move(state)) {}
template <class T>
const std::shared_ptr<SparseState<T>>& SparseTensor<T>::state() const {
    return state_;
}

template <class T>
SparseTensor<T>::SparseTensor(const World& world, std::vector<std::int64_t> lengths, std::string name) {
    const CollectiveCall call(ranks_of(world), "SparseTensor", lengths);
    world.size();  // refuses World::outside()
    state_ = std::make_shared<SparseState<T>>(world, std::move(lengths), std::move(name));
}

template <class T>
SparseTensor<T>::SparseTensor(const SparseTensor& other) : state_(other.state_ ? other.state_->copy() : nullptr) {}

template <class T>
SparseTensor<T>& SparseTensor<T>::operator=(const SparseTensor& other) {
    if (this != &other) state_ = other.state_ ? other.state_->copy() : nullptr;
    return *this;
}

template <class T>
int SparseTensor<T>::order() const {
    return state_of(*this, "order").local().order();
}
template <class T>
const std::vector<std::int64_t>& SparseTensor<T>::lengths() const {
    return state_of(*this, "lengths").local().lengths;
}
template <class T>
const World& SparseTensor<T>::world() const {
    return state_of(*this, "world").world_handle;
}
template <class T>
const std::string& SparseTensor<T>::name() const {
    return state_of(*this, "name").name;
}
template <class T>
void SparseTensor<T>::set_name(std::string name) {
    state_of(*this, "set_name").name = std::move(name);
}

template <class T>
bool SparseTensor<T>::has_keys() const {
    std::int64_t product = 1;
    for (auto n : lengths())
        if (__builtin_mul_overflow(product, std::max<std::int64_t>(1, n), &product)) return false;
    return true;
}

template <class T>
std::int64_t SparseTensor<T>::local_nonzeros() const {
    return state_of(*this, "local_nonzeros").local().count();
}

template <class T>
std::span<const std::int64_t> SparseTensor<T>::local_indices(int mode) const {
    const auto& state = state_of(*this, "local_indices");
    if (mode < 0 || mode >= state.local().order())
        throw InvalidArgument(state.title() + ": mode " + std::to_string(mode) + " of a tensor of order " +
                              std::to_string(state.local().order()) + "; modes count from 0");
    return state.local().indices[static_cast<std::size_t>(mode)];
}

template <class T>
std::span<const T> SparseTensor<T>::local_values() const {
    return state_of(*this, "local_values").local().values;
}
template <class T>
std::span<T> SparseTensor<T>::local_values() {
    return state_of(*this, "local_values").values();
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template class SparseState<T>;                                                                                                         \
    template class SparseTensor<T>;                                                                                                        \
    template SparseState<T>& state_of(const SparseTensor<T>&, const char*);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)

}  // namespace arges

#include "interface/statement/sparse_context.hpp"

#include <algorithm>

namespace arges {

namespace {

/// Steps whose lists take more bytes are inspected again each time.
constexpr std::int64_t max_kept_step_lists = std::int64_t{1} << 30;

}  // namespace

SparseContext::SparseContext(const ElementKernels& algebra, const World& world_of_tensors, std::function<std::string()> text,
                             const ElementKernels* there)
    : kernels(algebra), device(there), handle(world_of_tensors), world(*world_of_tensors.state()),
      executor(comm(), {.require = [this](std::int64_t bytes) { require(bytes); },
                        .take =
                            [this](std::int64_t working, std::int64_t from_workspace) {
                                world.agree([&] {
                                    if (working > world.free_bytes()) world.require_free(working, this->text());
                                    world.make_room(working - from_workspace);  // that part may stay
                                    world.note_working(working, from_workspace);
                                    world.workspace().reserve(from_workspace);
                                });
                            },
                        .free_bytes = [this] { return world.free_bytes(); },
                        .workspace = world.workspace()}),
      text_(std::move(text)) {}

void SparseContext::take_here(std::int64_t bytes) const {
    if (bytes > world.free_bytes()) world.require_free(bytes, text());
    world.make_room(bytes);
    world.note_working(bytes);
}

std::shared_ptr<SparseState> SparseContext::state(std::vector<std::int64_t> lengths, std::shared_ptr<const SparsePattern> pattern,
                                                  SparseValues values) const {
    std::shared_ptr<SparseState> state;
    world.agree([&] { state = std::make_shared<SparseState>(kernels, handle, std::move(lengths), Symmetry(), ""); });
    state->adopt(std::move(pattern), std::move(values));
    return state;
}

SparseValues SparseContext::copied(const SparseState& tensor, const void* factor) const {
    SparseValues values;
    world.agree([&] {
        take_here(tensor.values().bytes());
        values = tensor.values().copy();
        if (factor != nullptr && !kernels.is_one(factor)) kernels.scale(values.data(), values.count(), factor);
    });
    return values;
}

/// A sparse result needs a tensor that has its pattern, on every rank.
KeptSparseStep SparseContext::kept(const std::string& key, bool makes_pattern) const {
    const auto* const known = world.sparse_steps().find(key);
    if (known == nullptr) return {};
    KeptSparseStep result{*known, (*known)->result.lock()};
    std::int64_t is_there[] = {result.pattern ? 1 : 0};
    if (makes_pattern) world.agree([] {}, is_there);
    if (makes_pattern && is_there[0] == 0) return {};
    world.sparse_steps().use(key);
    return result;
}

void SparseContext::keep(const std::string& key, const std::shared_ptr<PreparedSparseStep>& made) const {
    if (made->bytes() <= std::min(max_kept_step_lists, world.least_free_bytes() / 4)) world.sparse_steps().use(key) = made;
}

void SparseContext::bound_device_lists() const {
    std::int64_t bytes = 0;
    for (const auto& [key, step] : world.sparse_steps()) {
        bytes += step->held_on_device();
        if (bytes > world.device().limit() / 8) step->drop_device_lists();
    }
}

bool SparseContext::forgets_steps() const {
    const bool has_some = world.sparse_steps().size() > 0;
    world.sparse_steps().clear();
    return has_some;
}

}  // namespace arges

#include "arges/forecast.hpp"

#include "arges/known_elements.hpp"
#include "arges/tensor_io.hpp"
#include "decompose/completion/completion_options.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/cp/cp_known.hpp"
#include "decompose/cp/group_copies.hpp"
#include "decompose/dense_memory.hpp"
#include "decompose/sparse_memory.hpp"
#include "decompose/tucker/tucker_checks.hpp"
#include "interface/dense/tensor_state.hpp"
#include "io/dense/tensor_files.hpp"
#include "io/sparse/reading_memory.hpp"

#include <omp.h>

#include <algorithm>
#include <filesystem>

namespace arges {

namespace {

decompose::SparseShare share_of(const io::SparseOutline& outline, bool is_coarse, int columns) {
    const auto& shape = outline.shape;
    return decompose::expected_share(shape.ranks, shape.value_bytes, shape.lengths, outline.entries, is_coarse, columns);
}

/// As many as are asked for, where there can be so many: 0 means as many as there is memory for.
int groups_of(const CpOptions& options, std::int64_t ranks) {
    return options.groups <= std::min<std::int64_t>(options.starts, ranks) ? options.groups : 1;
}

}  // namespace

SparseFileForecast::SparseFileForecast(const World& world, const std::string& path, ElementType element, const SparseReadOptions& options)
    : outline_(std::make_shared<const io::SparseOutline>(
          io::sparse_outline(communicator_of(world, path), path, options, element_kernels(element).size))) {}

bool SparseFileForecast::is_known() const { return outline_->entries > 0 && !outline_->shape.lengths.empty(); }
bool SparseFileForecast::is_exact() const { return outline_->is_exact; }
bool SparseFileForecast::is_single() const { return outline_->is_single; }
bool SparseFileForecast::is_distinct() const { return outline_->shape.is_distinct; }

std::int64_t SparseFileForecast::bytes() const { return io::reading_memory(outline_->shape, outline_->entries_of_rank()).peak(); }

std::int64_t SparseFileForecast::bytes(const CpOptions& options) const {
    const auto distribution =
        decompose::has_loss(options) ? decompose::element_distribution(options, outline_->shape.ranks) : options.distribution;
    const auto share = share_of(*outline_, distribution.starts_with("coarse"), options.rank);
    const auto chosen = decompose::with_starts(options, outline_->shape.lengths.size(), outline_->entries, false);
    if (const auto groups = groups_of(chosen, outline_->shape.ranks); groups > 1) {
        const auto memory =
            decompose::copy_memory(outline_->shape.lengths, outline_->entries, share.before, outline_->shape.value_bytes,
                                   outline_->shape.ranks, outline_->shape.ranks / groups, decompose::options_of_group(chosen, groups));
        return std::max(memory.copying, memory.expected);
    }
    return decompose::cp_memory(share, chosen, omp_get_max_threads()).peak();
}

std::int64_t SparseFileForecast::bytes(const TuckerOptions& options) const {
    const auto& ranks = options.ranks;
    if (ranks.empty() || ranks.size() != outline_->shape.lengths.size()) return 0;
    const auto share = share_of(*outline_, false, *std::max_element(ranks.begin(), ranks.end()));
    return decompose::tucker_memory(share, options, omp_get_max_threads()).peak();
}

std::int64_t SparseFileForecast::bytes(const CompletionOptions& options) const {
    const auto share = share_of(*outline_, decompose::completion_distribution(options, outline_->shape.ranks) == "coarse", options.rank);
    const auto held_out = static_cast<std::int64_t>(options.holdout * static_cast<double>(share.before));
    return decompose::completion_memory(share, options, held_out, omp_get_max_threads()).peak();
}

std::int64_t SparseFileForecast::bytes_taken(const AnyTensor& tensor, const ReadReport& report) const {
    auto known = *outline_;
    known.entries = report.entries;
    known.shape.lengths = report.lengths;
    const auto most = tensor.world().maximum(std::max(known.entries_of_rank(), tensor.local_nonzeros()));
    return io::reading_memory(known.shape, most, report.duplicates).peak();
}

DenseFileForecast::DenseFileForecast(const World& world, const std::string& path, ElementType element)
    : world_(world), title_(std::filesystem::path(path).stem().string()), element_(element) {
    const auto extents = tensor_file_info(world, path).extents;
    layout_ = std::make_shared<const Layout>(new_layout(*world.state(), extents, Symmetry::none(extents.size())));
    const auto size = element_kernels(element).size, held = layout_->max_local_size() * size;
    reading_ = held + io::tensor_reading_memory(world, path, size, world.memory_limit() - world.memory_in_use() - held);
}

std::int64_t DenseFileForecast::bytes(const CpOptions& options) const {
    const auto& extents = layout_->extents();
    if (extents.size() < 2 || std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
    std::int64_t elements = 1;
    for (auto n : extents) elements *= n;
    const auto chosen = decompose::with_starts(options, extents.size(), elements, false);
    if (const auto groups = groups_of(chosen, world_.size()); groups > 1) {
        const auto dry = World::dry_run({world_.size() / groups});
        const auto memory = decompose::copy_memory(*layout_, new_layout(*dry.state(), extents, Symmetry::none(extents.size())), 0,
                                                   element_kernels(element_).size, decompose::options_of_group(chosen, groups));
        return std::max(memory.copying, memory.original + memory.expected);
    }
    return decompose::dense_cp_memory(element_kernels(element_).size, *layout_, world_.rank(), chosen, omp_get_max_threads()).peak();
}

std::int64_t DenseFileForecast::bytes(const TuckerOptions& options) const {
    auto ranks = layout_->extents();
    decompose::check_dense_tucker(title_, ranks, options);
    for (std::size_t m = 0; m < options.ranks.size(); ++m) ranks[m] = std::min<std::int64_t>(ranks[m], options.ranks[m]);
    const auto& elements = element_kernels(element_);
    const auto steps = decompose::dense_tucker_memory(elements, world_, *layout_, options, omp_get_max_threads());
    return std::max(steps.peak(), steps.held() + decompose::error_memory(elements.size, world_, *layout_, ranks));
}

std::int64_t DenseFileForecast::known_bytes() const {
    const auto& extents = layout_->extents();
    return reading_ + known_elements_memory(layout_->max_local_size(), extents.size(), element_kernels(element_).size);
}

std::int64_t DenseFileForecast::bytes(const CompletionOptions& options) const {
    const auto& extents = layout_->extents();
    std::int64_t elements = 1;
    for (auto n : extents) elements *= n;
    const auto ranks = world_.size();
    const bool is_coarse = decompose::completion_distribution(options, ranks) == "coarse";
    const auto share = decompose::expected_share(ranks, element_kernels(element_).size, extents, elements, is_coarse, options.rank);
    const auto held_out = static_cast<std::int64_t>(options.holdout * static_cast<double>(share.before));
    return decompose::completion_memory(share, options, held_out, omp_get_max_threads()).peak();
}

}  // namespace arges

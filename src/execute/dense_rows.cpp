#include "execute/dense_rows.hpp"

#include "layout/element_locator.hpp"

#include <algorithm>
#include <numeric>

namespace arges {

bool DenseRows::is_possible(const Layout& from, const std::vector<int>& free_dimensions) {
    if (!from.symmetry().trivial() || from.has_padding()) return false;
    for (int s = 0; s < from.slots(); ++s) {
        const auto dimension = from.slot_dimensions(s)[0];
        const bool is_free = std::find(free_dimensions.begin(), free_dimensions.end(), dimension) != free_dimensions.end();
        if (is_free && from.slot(s).grid_length() > 1) return false;
    }
    return true;
}

DenseRows::DenseRows(const Communicator& comm, const Layout& from, const std::vector<int>& row_dimensions,
                     const std::vector<int>& free_dimensions, const IndexColumns& rows)
    : comm_(&comm), rows_(rows.empty() ? 0 : std::ssize(rows[0])) {
    const std::size_t ranks = comm.size();
    const auto me = comm.rank();
    std::vector<std::int64_t> offsets;
    receives_.assign(ranks, 0);
    comm.agree([&] {
        const auto strides = from.grid().is_idle(me) ? std::vector<std::int64_t>() : from.strides(me);
        for (int d : free_dimensions) {
            sizes_.push_back(from.extents()[d]);
            row_size_ *= sizes_.back();
            for (int s = 0; s < from.slots(); ++s)
                if (from.slot_dimensions(s)[0] == d) strides_.push_back(strides.empty() ? 0 : strides[s]);
        }
        const ElementLocator locator(from);
        const auto copies = copy_offsets(from);
        std::vector<std::int64_t> index(from.order(), 0), owner(rows_), offset = owner;
        for (std::size_t r = 0; r < owner.size(); ++r) {
            for (std::size_t d = 0; d < row_dimensions.size(); ++d) index[row_dimensions[d]] = rows[d][r];
            const auto at = locator.locate(index.data());
            // A copy of its own, or any.
            const bool is_here = std::find(copies.begin(), copies.end(), me - at.rank) != copies.end();
            owner[r] = is_here ? me : at.rank + copies[static_cast<std::size_t>(me) % copies.size()];
            offset[r] = at.offset;
            ++receives_[owner[r]];
        }
        std::vector<std::int64_t> next(ranks + 1, 0);
        std::partial_sum(receives_.begin(), receives_.end(), next.begin() + 1);
        places_.resize(owner.size());
        offsets.resize(owner.size());
        for (std::size_t r = 0; r < owner.size(); ++r) {
            places_[r] = next[owner[r]]++;
            offsets[places_[r]] = offset[r];
        }
    });
    sends_ = comm.all_to_all_counts(receives_);
    comm.agree([&] { from_.resize(std::accumulate(sends_.begin(), sends_.end(), std::int64_t{0})); });
    own_ = sends_[me];
    std::vector<Piece> out, in;
    std::int64_t asked = 0, answered = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
        const std::int64_t width = sizeof(std::int64_t);
        if (static_cast<std::int64_t>(r) == me) {
            std::copy_n(offsets.begin() + asked, own_, from_.begin() + answered);
        } else {
            const std::int64_t rank = r;
            if (receives_[r] > 0) out.push_back({rank, reinterpret_cast<std::byte*>(offsets.data() + asked), receives_[r] * width});
            if (sends_[r] > 0) in.push_back({rank, reinterpret_cast<std::byte*>(from_.data() + answered), sends_[r] * width});
            inspected_bytes_ += receives_[r] * width;
        }
        asked += receives_[r];
        answered += sends_[r];
    }
    comm.exchange(out, in);
}

/// The free dimensions, between the tensor and rows one after the other.
std::vector<local::TransferAxis> DenseRows::row_axes(bool from_tensor) const {
    std::vector<local::TransferAxis> axes;
    std::int64_t step = 1;
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
        axes.push_back(
            {.count = sizes_[d], .from_stride = from_tensor ? strides_[d] : step, .to_stride = from_tensor ? step : strides_[d]});
        step *= sizes_[d];
    }
    return axes;
}

std::int64_t DenseRows::workspace_bytes(std::int64_t element_bytes, std::int64_t from_bytes) const {
    if (from_bytes == 0) return Workspace::padded(packed() * element_bytes);
    return Workspace::padded(packed() * from_bytes) + Workspace::padded(size() * from_bytes) +
           conversion_bytes(size(), from_bytes, element_bytes);
}

void DenseRows::run(const ElementKernels& kernels, const SourceArray& from, void* to, bool conjugate, Workspace& workspace) const {
    const auto me = comm_->rank();
    const auto& own = from.kernels_or(kernels);
    const bool converts = *own.type != *kernels.type, stays = !converts && kernels.space == nullptr;  // where messages arrive
    const auto bytes = row_size_ * own.size;
    const Workspace::Scope scope(workspace);
    std::byte *packed = nullptr, *arrived = static_cast<std::byte*>(to);
    ConversionRoom room;
    comm_->agree([&] {
        packed = workspace.take(this->packed(), own.size);
        if (!stays) arrived = workspace.take(size(), own.size);
        if (converts) room = conversion_room(size(), own.on_host(), kernels, workspace);
        std::vector<std::int64_t> places(from_.size());
        for (std::size_t r = 0; r < places.size(); ++r) places[r] = static_cast<std::int64_t>(r) * row_size_;
        auto axes = row_axes(true);
        axes.push_back({.count = std::ssize(from_), .from = from_.data(), .to = places.data()});
        if (this->packed() > 0) own.transfer(axes, from.elements, packed, nullptr, {.conjugate = conjugate && !converts});
    });
    std::vector<Piece> out, in;
    std::int64_t sent = 0, received = 0;
    for (std::size_t r = 0; r < sends_.size(); ++r) {
        auto* const target = arrived + received * bytes;
        const std::int64_t rank = r;
        if (rank == me)
            std::copy_n(packed + sent * bytes, own_ * bytes, target);
        else {
            if (sends_[r] > 0) out.push_back({rank, packed + sent * bytes, sends_[r] * bytes});
            if (receives_[r] > 0) in.push_back({rank, target, receives_[r] * bytes});
        }
        sent += sends_[r];
        received += receives_[r];
    }
    comm_->exchange(out, in);
    if (stays) return;
    if (!converts) return copy_array(to, arrived, size() * kernels.size, kernels.space);
    const local::TransferAxis all[] = {{.count = size(), .from_stride = 1, .to_stride = 1}};
    comm_->agree([&] { ElementTransfer(own.on_host(), kernels, room).along(all, arrived, to, nullptr, {.conjugate = conjugate}); });
}

void DenseRows::add(const ElementKernels& kernels, const void* rows, void* to, Workspace& workspace) const {
    const auto bytes = row_size_ * kernels.size;
    const Workspace::Scope scope(workspace);
    std::byte* arrived = nullptr;
    const auto* own = static_cast<const std::byte*>(rows);
    comm_->agree([&] {
        arrived = workspace.take(packed(), kernels.size);
        if (kernels.space == nullptr) return;
        auto* const here = workspace.take(size(), kernels.size);
        copy_array(here, rows, size() * kernels.size, kernels.space);
        own = here;
    });
    std::vector<Piece> out, in;
    std::int64_t sent = 0, received = 0;
    for (std::size_t r = 0; r < sends_.size(); ++r) {
        const std::int64_t rank = r;
        if (rank == comm_->rank()) {
            std::copy_n(own + sent * bytes, own_ * bytes, arrived + received * bytes);
        } else {
            if (receives_[r] > 0) out.push_back({rank, const_cast<std::byte*>(own) + sent * bytes, receives_[r] * bytes});
            if (sends_[r] > 0) in.push_back({rank, arrived + received * bytes, sends_[r] * bytes});
        }
        sent += receives_[r];
        received += sends_[r];
    }
    comm_->exchange(out, in);
    comm_->agree([&] {
        std::vector<std::int64_t> places(from_.size());
        for (std::size_t r = 0; r < places.size(); ++r) places[r] = static_cast<std::int64_t>(r) * row_size_;
        std::int64_t begin = 0;
        for (auto count : sends_) {  // the rows of one rank differ
            auto axes = row_axes(false);
            axes.push_back({.count = count, .from = places.data() + begin, .to = from_.data() + begin});
            if (count > 0 && row_size_ > 0) kernels.transfer(axes, arrived, to, nullptr, {.accumulate = true});
            begin += count;
        }
    });
}

}  // namespace arges

#include "execute/sparse_union.hpp"

#include "arges/sparse_kernels.hpp"
#include "redistribute/movement_run.hpp"

#include <algorithm>
#include <cstring>

namespace arges {

SparseUnion::SparseUnion(const Communicator* comm, const IndexSpans& a, const IndexSpans& b, const SparseLayout& to,
                         std::span<const std::int64_t> lengths, const RequireBytes& require)
    : comm_(comm), a_(comm, a, nullptr, to, {0}), b_(comm, b, nullptr, to, {0}) {
    const auto width = static_cast<std::int64_t>(a.size() * sizeof(std::int64_t));
    require((a_.most() + b_.most()) * (2 * width + 32));
    IndexColumns all(a.size());
    const auto take = [&](const SparseMove& move, const IndexSpans& columns) {
        IndexColumns moved;
        if (!move.stays()) {
            moved = move.indices(columns);
            inspected_bytes_ += move.sent() * width;
        }
        agree(comm_, [&] {
            for (std::size_t m = 0; m < all.size(); ++m) {
                const std::span<const std::int64_t> column = move.stays() ? columns[m] : std::span<const std::int64_t>(moved[m]);
                all[m].insert(all[m].end(), column.begin(), column.end());
            }
        });
    };
    take(a_, a);
    take(b_, b);
    std::int64_t same[] = {1};
    agree(comm_, [&] {
        std::vector<std::int64_t> reversed(lengths.rbegin(), lengths.rend());
        const auto count = a_.count() + b_.count();
        runs_ = sparse::sorted_runs(count, {all.rbegin(), all.rend()}, {}, reversed);
        if (count == 0) runs_.start = {0};
        bool is_first = a_.stays() && runs_.count() == a_.count();
        for (std::int64_t run = 0; run < runs_.count() && is_first; ++run)
            is_first = runs_.first(run) == static_cast<std::size_t>(run);
        same[0] = is_first ? 1 : 0;
    });
    if (comm_ != nullptr) same[0] = comm_->minimum(same[0]);
    has_pattern_of_first_ = same[0] == 1;
    if (has_pattern_of_first_) return;
    agree(comm_, [&] {
        for (const auto& column : all) {
            auto& to_column = indices_.emplace_back();
            to_column.reserve(static_cast<std::size_t>(runs_.count()));
            for (std::int64_t run = 0; run < runs_.count(); ++run) to_column.push_back(column[runs_.first(run)]);
        }
    });
}

Buffer<std::byte> SparseUnion::values(const ElementKernels& kernels, const std::byte* a, const std::byte* b) const {
    Buffer<std::byte> from_a, from_b, both, result;
    if (!a_.stays()) from_a = a_.values(a, kernels.size);
    if (!b_.stays()) from_b = b_.values(b, kernels.size);
    agree(comm_, [&] {
        both = Buffer<std::byte>((a_.count() + b_.count()) * kernels.size);
        const auto bytes = a_.count() * kernels.size;
        copy_array(both.data(), a_.stays() ? a : from_a.data(), bytes, nullptr);
        copy_array(both.data() + bytes, b_.stays() ? b : from_b.data(), b_.count() * kernels.size, nullptr);
        result = Buffer<std::byte>(runs_.count() * kernels.size);
        kernels.sparse->add_runs(runs_.count(), runs_.start.data(), runs_.order.data(), both.data(), result.data());
    });
    return result;
}

std::int64_t SparseUnion::sent_bytes(std::int64_t element_bytes) const {
    return ((a_.stays() ? 0 : a_.sent()) + (b_.stays() ? 0 : b_.sent())) * element_bytes;
}

std::int64_t SparseUnion::list_bytes() const {
    return a_.list_bytes() + b_.list_bytes() + static_cast<std::int64_t>((runs_.order.size() + runs_.start.size()) * sizeof(std::int64_t));
}

}  // namespace arges

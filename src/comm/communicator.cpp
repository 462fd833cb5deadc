// MPI with large messages cut into pieces, sums by recursive doubling in an order that depends on the number of ranks only (Thakur,
// Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19, 2005), and agreement on the exception of the lowest rank that has one.
#include "comm/communicator.hpp"

#include "arges/error.hpp"
#include "base/options.hpp"
#include "comm/collective_call.hpp"
#include "comm/processes.hpp"
#include "comm/roll_call.hpp"

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <new>
#include <numeric>
#include <thread>

namespace arges {

namespace {

void check(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw MpiError(std::string(call) + " failed: " + std::string(text, static_cast<std::size_t>(length)));
}

constexpr int exchange_tag = 71;
constexpr std::int64_t largest_message = (std::int64_t{1} << 31) - 64;

/// So few numbers are always there: agreeing on their memory would cost more than their sum.
constexpr std::int64_t few_numbers = 8192;

/// Kinds of exceptions on the wire.
enum class ErrorKind : std::int32_t { none, invalid, memory, unsupported, mpi, other };

struct Failure {
    ErrorKind kind = ErrorKind::none;
    std::string text;
};

Failure run(const std::function<void()>& work) {
    try {
        work();
        return {};
    } catch (const InvalidArgument& e) {
        return {ErrorKind::invalid, e.what()};
    } catch (const OutOfMemory& e) {
        return {ErrorKind::memory, e.what()};
    } catch (const Unsupported& e) {
        return {ErrorKind::unsupported, e.what()};
    } catch (const MpiError& e) {
        return {ErrorKind::mpi, e.what()};
    } catch (const std::bad_alloc&) {
        return {ErrorKind::memory, "out of memory: an allocation failed; use more ranks or a smaller problem"};
    } catch (const std::exception& e) {
        return {ErrorKind::other, e.what()};
    } catch (...) {
        return {ErrorKind::other, "an exception that is not a std::exception"};
    }
}

[[noreturn]] void raise(ErrorKind kind, const std::string& text) {
    switch (kind) {
    case ErrorKind::invalid: throw InvalidArgument(text);
    case ErrorKind::memory: throw OutOfMemory(text);
    case ErrorKind::unsupported: throw Unsupported(text);
    case ErrorKind::mpi: throw MpiError(text);
    default: throw Error(text);
    }
}

}  // namespace

struct Communicator::Handle {
    MPI_Comm comm = MPI_COMM_NULL;
    Traffic traffic;
    std::int64_t message_limit = largest_message;
    std::unique_ptr<RollCall> roll;  // null: calls are not compared
    double wait_notice = 0;          // seconds; 0: no word about waiting
    ~Handle() {
        roll.reset();
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized == 0 && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    }
};

Communicator::Communicator(MPI_Comm comm) : handle_(std::make_shared<Handle>()) {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized == 0) throw InvalidArgument("World: MPI is not initialised; call MPI_Init first");
    if (comm == MPI_COMM_NULL)
        throw InvalidArgument("World: the communicator is MPI_COMM_NULL; create the world only on ranks that belong to it");
    check(MPI_Comm_dup(comm, &handle_->comm), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(handle_->comm, MPI_ERRORS_RETURN);
    int rank = 0, size = 1;
    MPI_Comm_rank(handle_->comm, &rank);
    MPI_Comm_size(handle_->comm, &size);
    rank_ = rank;
    size_ = size;
    if (process_count() == 1) require_right_launcher();
    if (size_ == 1) return;
    double seconds = 0;
    std::array<std::int64_t, 1> milliseconds{};
    agree(
        [&] {
            seconds = call_timeout_option();
            handle_->wait_notice = wait_notice_option();
            milliseconds[0] = -static_cast<std::int64_t>(std::ceil(seconds * 1000));
        },
        milliseconds);
    if (milliseconds[0] < 0) handle_->roll = std::make_unique<RollCall>(handle_->comm, static_cast<double>(-milliseconds[0]) / 1000);
}

void Communicator::meet(const char* step) const {
    if (handle_->roll) handle_->roll->meet(std::string(CollectiveCall::current()) + " (" + step + ")");
}

MPI_Comm Communicator::raw() const { return handle_->comm; }
const Traffic& Communicator::traffic() const { return handle_->traffic; }
void Communicator::set_message_limit(std::int64_t bytes) const { handle_->message_limit = std::min(bytes, largest_message); }

std::vector<std::int64_t> Communicator::numbers_of(const Communicator& other) const {
    std::vector<int> theirs(other.size_), here(theirs.size());
    std::iota(theirs.begin(), theirs.end(), 0);
    MPI_Group from = MPI_GROUP_NULL, to = MPI_GROUP_NULL;
    check(MPI_Comm_group(other.raw(), &from), "MPI_Comm_group");
    check(MPI_Comm_group(raw(), &to), "MPI_Comm_group");
    check(MPI_Group_translate_ranks(from, static_cast<int>(other.size_), theirs.data(), to, here.data()), "MPI_Group_translate_ranks");
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    std::vector<std::int64_t> result(here.begin(), here.end());
    std::ranges::replace(result, std::int64_t{MPI_UNDEFINED}, std::int64_t{-1});
    return result;
}

std::vector<std::int64_t> Communicator::nodes() const {
    meet("nodes");
    MPI_Comm node = MPI_COMM_NULL;
    check(MPI_Comm_split_type(raw(), MPI_COMM_TYPE_SHARED, static_cast<int>(rank_), MPI_INFO_NULL, &node), "MPI_Comm_split_type");
    std::int64_t first = rank_;
    check(MPI_Bcast(&first, 1, MPI_INT64_T, 0, node), "MPI_Bcast");
    MPI_Comm_free(&node);
    std::vector<std::int64_t> all(size_);
    check(MPI_Allgather(&first, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, raw()), "MPI_Allgather");
    return all;
}

std::int64_t Communicator::ranks_on_my_node() const {
    const auto all = nodes();
    return std::count(all.begin(), all.end(), all[rank_]);
}

std::int64_t Communicator::ranks_per_node() const {
    const auto all = nodes();
    const auto count = std::count(all.begin(), all.end(), all.front());
    for (std::int64_t r = 0; r < size_; ++r)
        if (all[r] != r / count * count) return 1;
    return size_ % count == 0 ? count : 1;
}

namespace {

/// Adds the time from its construction to its end.
class ExchangeTime {
public:
    explicit ExchangeTime(Traffic& traffic) : traffic_(traffic), begin_(MPI_Wtime()) {}
    ~ExchangeTime() { traffic_.seconds += MPI_Wtime() - begin_; }
    ExchangeTime(const ExchangeTime&) = delete;
    ExchangeTime& operator=(const ExchangeTime&) = delete;

private:
    Traffic& traffic_;
    double begin_;
};

}  // namespace

PendingExchange Communicator::start(const std::vector<Piece>& sends, const std::vector<Piece>& receives, int channel) const {
    const ExchangeTime time(handle_->traffic);
    PendingExchange pending;
    auto& requests = pending.requests;
    auto in_chunks = [&](const Piece& piece, auto&& post) {
        for (std::int64_t done = 0; done < piece.bytes; done += handle_->message_limit) {
            const auto bytes = std::min(handle_->message_limit, piece.bytes - done);
            MPI_Request request = MPI_REQUEST_NULL;
            post(piece.data + done, bytes, piece.peer, &request);
            requests.push_back(request);
        }
    };
    for (const auto& piece : receives)
        in_chunks(piece, [&](std::byte* data, int bytes, int peer, MPI_Request* request) {
            check(MPI_Irecv(data, bytes, MPI_BYTE, peer, exchange_tag + channel, raw(), request), "MPI_Irecv");
        });
    for (const auto& piece : sends) {
        in_chunks(piece, [&](std::byte* data, int bytes, int peer, MPI_Request* request) {
            check(MPI_Isend(data, bytes, MPI_BYTE, peer, exchange_tag + channel, raw(), request), "MPI_Isend");
        });
        handle_->traffic.bytes_sent += piece.bytes;
        handle_->traffic.messages_sent += piece.bytes > 0 ? 1 : 0;
    }
    return pending;
}

void Communicator::finish(PendingExchange& pending) const {
    const ExchangeTime time(handle_->traffic);
    auto& requests = pending.requests;
    const LongWait wait(rank_, handle_->wait_notice);
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    requests.clear();
}

void Communicator::exchange(const std::vector<Piece>& sends, const std::vector<Piece>& receives) const {
    auto pending = start(sends, receives);
    finish(pending);
}

std::vector<std::int64_t> Communicator::all_to_all_counts(const std::vector<std::int64_t>& to_rank) const {
    meet("all to all");
    std::vector<std::int64_t> in(to_rank.size());
    const LongWait wait(rank_, handle_->wait_notice);
    check(MPI_Alltoall(to_rank.data(), 1, MPI_INT64_T, in.data(), 1, MPI_INT64_T, raw()), "MPI_Alltoall");
    return in;
}

std::vector<std::vector<std::byte>> Communicator::all_to_all(const std::vector<std::vector<std::byte>>& to_rank) const {
    const std::size_t p = size_;
    std::vector<std::int64_t> out(p);
    for (std::size_t r = 0; r < p; ++r) out[r] = std::ssize(to_rank[r]);
    const auto in = all_to_all_counts(out);
    std::vector<std::vector<std::byte>> result(p);
    agree([&] {
        for (std::size_t r = 0; r < p; ++r)
            if (static_cast<std::int64_t>(r) == rank_)
                result[r] = to_rank[r];
            else
                result[r].resize(in[r]);
    });
    std::vector<Piece> sends, receives;
    for (std::size_t r = 0; r < p; ++r) {
        if (static_cast<std::int64_t>(r) == rank_) continue;
        if (in[r] > 0) receives.push_back({static_cast<std::int64_t>(r), result[r].data(), in[r]});
        if (out[r] > 0) sends.push_back({static_cast<std::int64_t>(r), const_cast<std::byte*>(to_rank[r].data()), out[r]});
    }
    exchange(sends, receives);
    return result;
}

void Communicator::all_gather(const std::byte* mine, std::int64_t own, const std::function<std::byte*(std::int64_t)>& room,
                              std::vector<std::int64_t>* counts) const {
    meet("all gather");
    const std::size_t p = size_;
    std::vector<std::int64_t> length(p);
    const LongWait wait(rank_, handle_->wait_notice);
    check(MPI_Allgather(&own, 1, MPI_INT64_T, length.data(), 1, MPI_INT64_T, raw()), "MPI_Allgather");
    std::int64_t total = 0, before = 0;
    for (std::size_t r = 0; r < p; ++r) {
        if (static_cast<std::int64_t>(r) < rank_) before += length[r];
        total += length[r];
    }
    std::byte* result = nullptr;
    agree([&] { result = room(total); });
    std::copy_n(mine, own, result + before);
    std::vector<Piece> sends, receives;
    std::int64_t offset = 0;
    for (std::size_t r = 0; r < p; ++r) {
        if (static_cast<std::int64_t>(r) != rank_) {
            if (length[r] > 0) receives.push_back({static_cast<std::int64_t>(r), result + offset, length[r]});
            if (own > 0) sends.push_back({static_cast<std::int64_t>(r), const_cast<std::byte*>(mine), own});
        }
        offset += length[r];
    }
    exchange(sends, receives);
    if (counts != nullptr) *counts = length;
}

std::vector<std::byte> Communicator::gather(const std::vector<std::byte>& mine, std::int64_t root) const {
    meet("gather");
    const std::size_t p = size_;
    std::vector<std::int64_t> length(p);
    const auto own = std::ssize(mine);
    const LongWait wait(rank_, handle_->wait_notice);
    check(MPI_Gather(&own, 1, MPI_INT64_T, length.data(), 1, MPI_INT64_T, static_cast<int>(root), raw()), "MPI_Gather");
    std::vector<Piece> sends, receives;
    std::vector<std::byte> result;
    agree([&] {
        if (rank_ == root) result.resize(std::accumulate(length.begin(), length.end(), std::int64_t{0}));
    });
    if (rank_ != root) {
        if (own > 0) sends.push_back({root, const_cast<std::byte*>(mine.data()), own});
    } else {
        std::int64_t offset = 0;
        for (std::size_t r = 0; r < p; ++r) {
            if (static_cast<std::int64_t>(r) == root)
                std::copy(mine.begin(), mine.end(), result.begin() + offset);
            else if (length[r] > 0)
                receives.push_back({static_cast<std::int64_t>(r), result.data() + offset, length[r]});
            offset += length[r];
        }
    }
    exchange(sends, receives);
    return result;
}

void Communicator::broadcast(void* data, std::int64_t bytes, std::int64_t root) const {
    meet("broadcast");
    auto* first = static_cast<std::byte*>(data);
    const LongWait wait(rank_, handle_->wait_notice);
    for (std::int64_t done = 0; done < bytes; done += handle_->message_limit)
        check(MPI_Bcast(first + done, static_cast<int>(std::min(handle_->message_limit, bytes - done)), MPI_BYTE, static_cast<int>(root),
                        raw()),
              "MPI_Bcast");
}

void Communicator::broadcast(std::string& text, std::int64_t root) const {
    const auto length = value_of(std::ssize(text), root);
    agree([&] { text.resize(length); });
    broadcast(text.data(), std::ssize(text), root);
}

std::int64_t Communicator::value_of(std::int64_t value, std::int64_t root) const {
    broadcast(&value, sizeof value, root);
    return value;
}

namespace {
std::int64_t all_reduce(std::int64_t value, MPI_Op op, MPI_Comm comm) {
    std::int64_t result = 0;
    check(MPI_Allreduce(&value, &result, 1, MPI_INT64_T, op, comm), "MPI_Allreduce");
    return result;
}
}  // namespace

std::int64_t Communicator::maximum(std::int64_t value) const {
    meet("maximum");
    const LongWait wait(rank_, handle_->wait_notice);
    return all_reduce(value, MPI_MAX, raw());
}

std::int64_t Communicator::minimum(std::int64_t value) const {
    meet("minimum");
    const LongWait wait(rank_, handle_->wait_notice);
    return all_reduce(value, MPI_MIN, raw());
}

std::int64_t Communicator::sum(std::int64_t value) const {
    meet("sum");
    const LongWait wait(rank_, handle_->wait_notice);
    return all_reduce(value, MPI_SUM, raw());
}

void Communicator::minima_of(std::span<std::int64_t> values) const {
    const std::vector<std::int64_t> mine(values.begin(), values.end());
    const LongWait wait(rank_, handle_->wait_notice);
    check(MPI_Allreduce(mine.data(), values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_MIN, raw()), "MPI_Allreduce");
}

bool Communicator::all_equal(std::uint64_t value) const {
    meet("comparison");
    const std::int64_t bits = value;
    std::array<std::int64_t, 2> ends{bits, ~bits};  // the smallest and, inverted, the largest
    minima_of(ends);
    return ends[0] == ~ends[1];
}

void Communicator::sum(std::int64_t* values, std::int64_t count) const {
    meet("sum of integers");
    const auto limit = std::max<std::int64_t>(handle_->message_limit / std::int64_t{sizeof(std::int64_t)}, 1);
    std::vector<std::int64_t> mine;  // MPICH's in-place reductions crashed on two ranks
    for (std::int64_t done = 0; done < count; done += limit) {
        const auto part = std::min(limit, count - done);
        mine.assign(values + done, values + done + part);
        const LongWait wait(rank_, handle_->wait_notice);
        check(MPI_Allreduce(mine.data(), values + done, static_cast<int>(part), MPI_INT64_T, MPI_SUM, raw()), "MPI_Allreduce");
    }
}

void Communicator::sum(double* values, std::int64_t count) const {
    meet("sum of numbers");
    const auto bytes = count * std::int64_t{sizeof(double)};
    auto* own = reinterpret_cast<std::byte*>(values);
    std::vector<double> other;
    const auto allocate = [&] { other.resize(size_ > 1 ? static_cast<std::size_t>(count) : 0); };
    count > few_numbers ? agree(allocate) : allocate();
    auto* received = reinterpret_cast<std::byte*>(other.data());
    auto add = [&] {
        for (std::int64_t i = 0; i < count; ++i) values[i] += other[i];
    };
    // The ranks from the largest power of two on give what they have to the first ones and get the sums from them.
    const std::int64_t paired = std::bit_floor(static_cast<std::uint64_t>(size_));
    if (rank_ >= paired) {
        exchange({{rank_ - paired, own, bytes}}, {});
        exchange({}, {{rank_ - paired, own, bytes}});
        return;
    }
    const bool has_guest = rank_ + paired < size_;
    if (has_guest) {
        exchange({}, {{rank_ + paired, received, bytes}});
        add();
    }
    for (std::int64_t distance = 1; distance < paired; distance *= 2) {
        exchange({{rank_ ^ distance, own, bytes}}, {{rank_ ^ distance, received, bytes}});
        add();  // both of a pair add the same two values
    }
    if (has_guest) exchange({{rank_ + paired, own, bytes}}, {});
}

void Communicator::barrier() const {
    meet("barrier");
    const LongWait wait(rank_, handle_->wait_notice);
    check(MPI_Barrier(raw()), "MPI_Barrier");
}

void Communicator::rest() const {
    constexpr auto pause = std::chrono::microseconds(200);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(raw(), &request), "MPI_Ibarrier");
    for (int done = 0;;) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0) return;
        std::this_thread::sleep_for(pause);
    }
}

void Communicator::agree(const std::function<void()>& work, std::span<std::int64_t> minima) const {
    auto failure = run(work);
    if (size_ == 1) {
        if (failure.kind != ErrorKind::none) raise(failure.kind, failure.text);
        return;
    }
    meet("agreement");
    std::vector<std::int64_t> values(minima.begin(), minima.end());
    values.push_back(failure.kind == ErrorKind::none ? size_ : rank_);
    minima_of(values);
    std::copy(values.begin(), values.end() - 1, minima.begin());
    const auto lowest = values.back();
    if (lowest == size_) return;
    auto kind = failure.kind;
    broadcast(&kind, sizeof kind, lowest);
    broadcast(failure.text, lowest);
    raise(kind, failure.text);
}

std::int64_t process_number() {
    int rank = 0;
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    return rank;
}

std::int64_t process_count() {
    int count = 1;
    check(MPI_Comm_size(MPI_COMM_WORLD, &count), "MPI_Comm_size");
    return count;
}

namespace {

/// Of the ranks with the same number, by ascending key; of those with MPI_UNDEFINED nothing.
std::optional<Communicator> split(const Communicator& all, int number, std::int64_t key) {
    MPI_Comm part = MPI_COMM_NULL;
    if (MPI_Comm_split(all.raw(), number, static_cast<int>(key), &part) != MPI_SUCCESS)
        throw MpiError("MPI_Comm_split failed; MPI may have run out of communicators");
    if (part == MPI_COMM_NULL) return std::nullopt;
    std::optional<Communicator> result(std::in_place, part);
    MPI_Comm_free(&part);
    return result;
}

}  // namespace

std::optional<Communicator> subset(const Communicator& all, bool member) { return split(all, member ? 0 : MPI_UNDEFINED, all.rank()); }

Communicator alike(const Communicator& all, int number) { return *split(all, number, all.rank()); }

Communicator reordered(const Communicator& all, std::int64_t rank) { return *split(all, 0, rank); }

bool mpi_takes_cuda_arrays() {
#if (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000) || defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() != 0;
#else
    return false;
#endif
}

}  // namespace arges

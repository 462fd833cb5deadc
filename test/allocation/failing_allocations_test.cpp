#include "allocation/failing_allocations.hpp"

#include "arges/error.hpp"
#include "base/buffer.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <mpi.h>
#include <new>
#include <unistd.h>
#include <vector>

extern "C" void* __libc_malloc(std::size_t);  // glibc's name for what malloc() would be

namespace {

std::atomic<bool> armed{false};
std::atomic<std::int64_t> counted{0};
std::size_t least_bytes = 0;
std::int64_t failing_number = 0;

/// Tensors agree on arrays above 1 MiB only.
constexpr std::size_t least_array_bytes = (std::size_t{1} << 20) + 1;

bool fails(std::size_t bytes) { return armed && bytes >= least_bytes && ++counted == failing_number; }

void* allocated(std::size_t bytes) {
    void* const data = fails(bytes) ? nullptr : __libc_malloc(bytes == 0 ? 1 : bytes);
    if (data == nullptr) throw std::bad_alloc();
    return data;
}

}  // namespace

// The operators of the whole program.
void* operator new(std::size_t bytes) { return allocated(bytes); }
void* operator new[](std::size_t bytes) { return allocated(bytes); }
void operator delete(void* data) noexcept { std::free(data); }
void operator delete[](void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete[](void* data, std::size_t) noexcept { std::free(data); }

// Where arrays of tensors come from, of this program alone and not of MPI's libraries.
extern "C" void* malloc(std::size_t bytes) noexcept { return bytes >= least_array_bytes && fails(bytes) ? nullptr : __libc_malloc(bytes); }

namespace arges::test {

namespace {

constexpr unsigned longest_seconds = 20;  // of a trial

std::string running;

extern "C" void end_of_patience(int) {
    (void)!write(STDERR_FILENO, running.data(), running.size());
    _exit(3);
}

enum Outcome : int { returned, out_of_memory, other };

Outcome outcome_of(const std::function<void()>& run, std::string& text) {
    try {
        run();
        return returned;
    } catch (const OutOfMemory&) {
        return out_of_memory;
    } catch (const std::bad_alloc&) {  // local work
        return out_of_memory;
    } catch (const std::exception& e) {
        text = e.what();
        return other;
    }
}

}  // namespace

void arm_allocations(std::size_t least, std::int64_t failing) {
    least_bytes = least;
    failing_number = failing;
    counted = 0;
    armed = true;
}

std::int64_t disarm_allocations() {
    armed = false;
    return counted;
}

void expect_agreement(const Trial& trial) {
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::signal(SIGALRM, end_of_patience);
    for (std::int64_t number = 1;; ++number) {
        running = "\nrank " + std::to_string(rank) + " hangs in " + trial.name + ", allocation " + std::to_string(number) + "\n";
        alarm(longest_seconds);
        trial.prepare();
        std::string text;
        if (rank == size - 1) arm_allocations(trial.least, number);
        auto outcome = outcome_of(trial.run, text);
        std::int64_t reached = rank == size - 1 && disarm_allocations() >= number ? 1 : 0;
        MPI_Bcast(&reached, 1, MPI_INT64_T, size - 1, MPI_COMM_WORLD);
        int least = outcome, most = outcome;
        MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        alarm(0);
        EXPECT_NE(outcome, other) << trial.name << ", allocation " << number << ": " << text;
        EXPECT_TRUE(reached != 0 || outcome == returned) << trial.name << ", allocation " << number;
        ASSERT_EQ(least, most) << trial.name << ", allocation " << number;
        if (reached == 0) return;
    }
}

TEST(FailingAllocations, AreCountedAndFail) {
    arm_allocations(1000, 2);
    EXPECT_NO_THROW(std::vector<char>(1000));
    EXPECT_NO_THROW(Buffer<char>(2000));
    EXPECT_THROW(Buffer<char>(3 << 19), OutOfMemory);
    EXPECT_NO_THROW(std::vector<char>(2000));
    EXPECT_NO_THROW(std::vector<char>(900));
    EXPECT_EQ(disarm_allocations(), 3);
    arm_allocations(1000, 1);
    EXPECT_THROW(std::vector<char>(1000), std::bad_alloc);
    EXPECT_EQ(disarm_allocations(), 1);
}

}  // namespace arges::test

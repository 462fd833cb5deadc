/// Numbers of threads in tests, whatever OMP_NUM_THREADS says.
#pragma once

#include <omp.h>

namespace arges::test {

/// Numbers of threads whose results are compared.
inline constexpr int thread_numbers[] = {1, 2, 4};

/// Sets the number of threads until the end of the scope.
class Threads {
public:
    explicit Threads(int number) : before_(omp_get_max_threads()) { omp_set_num_threads(number); }
    ~Threads() { omp_set_num_threads(before_); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

private:
    int before_;
};

}  // namespace arges::test

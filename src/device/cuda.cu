// CUDA: a stream for each queue, memory from the device's pool, kernels that run function objects, and cuBLAS.
#include "base/instantiate.hpp"
#include "base/options.hpp"
#include "device/device.hpp"
#include "device/staged_copy.hpp"
#include "device/table.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <array>
#include <cstdlib>
#include <mutex>

namespace arges::device {
namespace {

const char* const cure = "; use no device (Device, --device none, ARGES_DEVICE=none) to run on the host";

void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // else the next call has it again
    const auto text = std::string(what) + " on the CUDA device: " + cudaGetErrorString(status);
    if (status == cudaErrorMemoryAllocation)
        throw OutOfMemory(text + "; use more ranks or smaller tensors, or use no device (Device, --device none, ARGES_DEVICE=none)");
    throw Error(text + cure);
}

void check(cublasStatus_t status) {
    if (status == CUBLAS_STATUS_ALLOC_FAILED) throw OutOfMemory("cuBLAS has no memory on the device; use more ranks or smaller tensors");
    if (status != CUBLAS_STATUS_SUCCESS) throw Error(std::string("a product on the CUDA device: ") + cublasGetStatusString(status) + cure);
}

/// The rank's number on its node, as launchers say it; 0 without one.
int rank_on_node() {
    for (const char* name : {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"})
        if (const auto text = launcher_variable(name)) return std::atoi(text->c_str());
    return 0;
}

/// Two pinned buffers and their copies, see staged_copy.hpp. They stay until the process ends.
class PinnedBuffers {
public:
    /// Null where there is no memory to pin.
    static PinnedBuffers* on(cudaStream_t stream) {
        auto* const made = new PinnedBuffers;
        made->stream_ = stream;
        for (int slot = 0; slot < 2; ++slot)
            if (cudaMallocHost(&made->buffers_[slot], bytes) != cudaSuccess ||
                cudaEventCreateWithFlags(&made->ends_[slot], cudaEventDisableTiming) != cudaSuccess) {
                cudaGetLastError();
                return nullptr;
            }
        return made;
    }
    std::byte* buffer(int slot) { return static_cast<std::byte*>(buffers_[slot]); }
    static std::int64_t piece() { return bytes; }
    void start(void* to, const void* from, std::int64_t count, int slot) {
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count), cudaMemcpyDefault, stream_), "copying");
        check(cudaEventRecord(ends_[slot], stream_), "copying");
    }
    void wait(int slot) { check(cudaEventSynchronize(ends_[slot]), "copying"); }

private:
    static constexpr std::int64_t bytes = 8 << 20;
    cudaStream_t stream_ = nullptr;
    std::array<void*, 2> buffers_{};
    std::array<cudaEvent_t, 2> ends_{};
};

/// This rank's device. It stays until the process ends: tensors may go later than anything that could take it down.
class Device {
public:
    /// The device, current in this thread. @throws InvalidArgument if there is none
    static Device& the() {
        static Device* const device = new Device;
        check(cudaSetDevice(device->number_), "choosing it");
        return *device;
    }
    static int queue() { return queue_; }
    static void use_queue(int queue) { queue_ = queue; }
    void follow(int queue) {
        check(cudaEventRecord(ends_[1 - queue], streams_[1 - queue]), "waiting for a queue");
        check(cudaStreamWaitEvent(streams_[queue], ends_[1 - queue]), "waiting for a queue");
    }
    cudaStream_t stream() const { return streams_[queue_]; }
    void* nothing() const { return nothing_; }
    /// What its pool keeps for the next arrays is free, too.
    DeviceMemory memory() const {
        std::size_t free = 0, all = 0;
        check(cudaMemGetInfo(&free, &all), "its memory");
        cudaMemPool_t pool = nullptr;
        check(cudaDeviceGetDefaultMemPool(&pool, number_), "its memory");
        std::uint64_t reserved = 0, used = 0;
        check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "its memory");
        check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), "its memory");
        return {number_, devices_, static_cast<std::int64_t>(free + reserved - used)};
    }
    /// f(buffers), with null where there are none.
    template <class F>
    void with_buffers(F&& f) {
        const std::lock_guard lock(buffers_mutex_);
        f(buffers_[queue_]);
    }
    template <class F>
    void with_blas(F&& f) {
        const std::lock_guard lock(blas_mutex_);
        check(cublasSetStream(blas_, stream()));
        check(f(blas_));
    }

private:
    Device() {
        int count = 0;
        const auto found = cudaGetDeviceCount(&count);
        if (found != cudaSuccess || count == 0)
            throw InvalidArgument(
                "a CUDA device: there is none (" + std::string(found != cudaSuccess ? cudaGetErrorString(found) : "none is visible") +
                "); install NVIDIA's driver and see nvidia-smi, or use no device (Device, --device none, ARGES_DEVICE=none)");
        number_ = rank_on_node() % count;
        devices_ = count;
        check(cudaSetDevice(number_), "choosing it");
        for (int queue = 0; queue < 2; ++queue) {
            check(cudaStreamCreateWithFlags(&streams_[queue], cudaStreamNonBlocking), "a stream");
            check(cudaEventCreateWithFlags(&ends_[queue], cudaEventDisableTiming), "a stream");
        }
        cudaMemPool_t pool = nullptr;
        check(cudaDeviceGetDefaultMemPool(&pool, number_), "its memory");
        auto kept = UINT64_MAX;  // what is given back serves the next array
        check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), "its memory");
        check(cudaMalloc(&nothing_, 256), "its memory");
        for (int queue = 0; queue < 2; ++queue) buffers_[queue] = PinnedBuffers::on(streams_[queue]);
        check(cublasCreate(&blas_));
    }

    int number_ = 0, devices_ = 1;
    void* nothing_ = nullptr;
    static inline int queue_ = 0;
    std::array<cudaStream_t, 2> streams_{};
    std::array<cudaEvent_t, 2> ends_{};
    cublasHandle_t blas_ = nullptr;
    std::array<PinnedBuffers*, 2> buffers_{};  // by queue
    std::mutex blas_mutex_, buffers_mutex_;
};

template <class F>
__global__ void __launch_bounds__(threads) run_block(const __grid_constant__ F f) {
    f(static_cast<std::int64_t>(blockIdx.x), static_cast<int>(threadIdx.x));
}

template <class N, class F>
__global__ void __launch_bounds__(threads) run_tile(const __grid_constant__ F f) {
    __shared__ __align__(16) unsigned char room[tile_elements * sizeof(N)];
    auto* const tile = reinterpret_cast<N*>(room);
    f.load(static_cast<std::int64_t>(blockIdx.x), static_cast<int>(threadIdx.x), tile);
    __syncthreads();
    f.store(static_cast<std::int64_t>(blockIdx.x), static_cast<int>(threadIdx.x), tile);
}

template <class F>
__global__ void __launch_bounds__(threads) run_tree(const __grid_constant__ F f) {
    using Value = typename F::Value;
    __shared__ __align__(16) unsigned char room[threads * sizeof(Value)];
    auto* const values = reinterpret_cast<Value*>(room);
    const int thread = static_cast<int>(threadIdx.x);
    values[thread] = f.partial(static_cast<std::int64_t>(blockIdx.x), thread, threads);
    for (int width = threads / 2; width > 0; width /= 2) {
        __syncthreads();
        if (thread < width) values[thread] = f.add(values[thread], values[thread + width]);
    }
    if (thread == 0) f.store(static_cast<std::int64_t>(blockIdx.x), values[0]);
}

template <class T>
constexpr cudaDataType_t blas_type() {
    if constexpr (std::is_same_v<T, float>)
        return CUDA_R_32F;
    else if constexpr (std::is_same_v<T, double>)
        return CUDA_R_64F;
    else if constexpr (std::is_same_v<T, std::complex<float>>)
        return CUDA_C_32F;
    else
        return CUDA_C_64F;
}

cudaMemoryType memory_of(const void* array) {
    cudaPointerAttributes found{};
    check(cudaPointerGetAttributes(&found, array), "looking for an array");
    return found.type;
}

/// See machine.hpp.
struct Cuda {
    static const MemorySpace& space() {
        static const MemorySpace here{.name = "the CUDA device",
                                      .allocate = allocate,
                                      .free = give_back,
                                      .copy = copy,
                                      .memory = memory,
                                      .wait = wait,
                                      .use_queue = Device::use_queue,
                                      .follow = [](int queue) { Failure::the().guarded([&] { Device::the().follow(queue); }); },
                                      .finish = finish};
        return here;
    }
    static int queue() { return Device::queue(); }
    static bool has(const void* array) {
        if (array == nullptr) return false;
        Device::the();
        return memory_of(array) == cudaMemoryTypeDevice;
    }
    template <class F>
    static void blocks(std::int64_t count, const F& f) {
        launch(count, [&](unsigned grid, cudaStream_t stream) { run_block<F><<<grid, threads, 0, stream>>>(f); });
    }
    template <class N, class F>
    static void tiles(std::int64_t count, const F& f) {
        launch(count, [&](unsigned grid, cudaStream_t stream) { run_tile<N, F><<<grid, threads, 0, stream>>>(f); });
    }
    template <class F>
    static void trees(std::int64_t groups, const F& f) {
        launch(groups, [&](unsigned grid, cudaStream_t stream) { run_tree<F><<<grid, threads, 0, stream>>>(f); });
    }
    template <class T>
    static void multiply(const MatrixProducts<T>& x) {
        constexpr bool is_double = sizeof(real_of<T>) == sizeof(double);
        const auto type = blas_type<T>();
        const auto operation = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
        Device::the().with_blas([&](cublasHandle_t blas) {
            return cublasGemmStridedBatchedEx_64(blas, operation(x.a_transposed), operation(x.b_transposed), x.m, x.n, x.k, &x.alpha, x.a,
                                                 type, x.lda, x.step_a, x.b, type, x.ldb, x.step_b, &x.beta, x.c, type, x.ldc, x.step_c,
                                                 x.count, is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
        });
    }

private:
    /// Where there is no memory an array that nothing will touch: see failure.hpp.
    static void* allocate(std::int64_t bytes) {
        auto& device = Device::the();
        void* const array = Failure::the().guarded([&] {
            void* made = nullptr;
            check(cudaMallocAsync(&made, static_cast<std::size_t>(bytes), device.stream()),
                  ("allocating " + std::to_string(bytes) + " bytes").c_str());
            return made;
        });
        return array != nullptr ? array : device.nothing();
    }
    static void give_back(void* array, std::int64_t) noexcept {
        try {
            if (array != Device::the().nothing()) cudaFreeAsync(array, Device::the().stream());
        } catch (const Error&) {  // whoever works with the device next hears of it
        }
    }
    static void copy(void* to, const void* from, std::int64_t bytes) {
        Failure::the().guarded([&] { copy_now(to, from, bytes); });
    }
    static void copy_now(void* to, const void* from, std::int64_t bytes) {
        constexpr std::int64_t least_staged = 1 << 20;
        const auto stream = Device::the().stream();
        const auto to_type = memory_of(to), from_type = memory_of(from);
        const bool to_device = to_type == cudaMemoryTypeDevice, from_device = from_type == cudaMemoryTypeDevice;
        const bool is_pageable = (to_device ? from_type : to_type) == cudaMemoryTypeUnregistered;
        bool is_staged = false;
        if (bytes >= least_staged && to_device != from_device && is_pageable)
            Device::the().with_buffers([&](PinnedBuffers* buffers) {
                is_staged = buffers != nullptr;
                if (is_staged) staged_copy(*buffers, to, from, bytes, to_device);
            });
        if (is_staged) return;
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream), "copying");
        // What is read in pageable memory has been read when the call returns.
        if (!to_device || from_type == cudaMemoryTypeHost) check(cudaStreamSynchronize(stream), "copying");
    }
    static DeviceMemory memory() { return Device::the().memory(); }
    static void wait() {
        Device::the();
        check(cudaDeviceSynchronize(), "waiting for it");
    }
    static void finish() {
        Failure::the().guarded([&] { check(cudaStreamSynchronize(Device::the().stream()), "waiting for a queue"); });
    }
    template <class Start>
    static void launch(std::int64_t blocks, Start&& start) {
        if (blocks == 0) return;
        if (blocks > INT32_MAX) throw Unsupported("an array of so many elements on a device; use more ranks, or set ARGES_DEVICE=none");
        start(static_cast<unsigned>(blocks), Device::the().stream());
        check(cudaGetLastError(), "starting a kernel");
    }
};

}  // namespace

template <class T>
const ElementKernels& cuda_kernels(const ElementKernels& host) {
    Device::the();
    return Kernels<Cuda, T>::table(host);
}

#define ARGES_INSTANTIATE(T) template const ElementKernels& cuda_kernels<T>(const ElementKernels&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::device

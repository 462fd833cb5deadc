/// Handles of arges.h that destroy themselves, and their elements for comparisons.
#pragma once

#include "arges.h"

#include "arges/arges.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace arges::test {

struct Destroyed {
    void operator()(arges_world* world) const { arges_world_destroy(world); }
    void operator()(arges_tensor* tensor) const { arges_tensor_destroy(tensor); }
    void operator()(arges_statement* statement) const { arges_statement_destroy(statement); }
    void operator()(arges_checkpoint* checkpoint) const { arges_checkpoint_destroy(checkpoint); }
};
using CWorld = std::unique_ptr<arges_world, Destroyed>;
using CTensor = std::unique_ptr<arges_tensor, Destroyed>;
using CStatement = std::unique_ptr<arges_statement, Destroyed>;
using CCheckpoint = std::unique_ptr<arges_checkpoint, Destroyed>;

#define EXPECT_OK(call) EXPECT_EQ(ARGES_OK, (call)) << arges_message()
#define ASSERT_OK(call) ASSERT_EQ(ARGES_OK, (call)) << arges_message()

/// Receives what a function of arges.h makes: f(made<CTensor>(t)).
template <class Owner>
class Made {
public:
    explicit Made(Owner& owner) : owner_(owner) {}
    Made(const Made&) = delete;
    Made& operator=(const Made&) = delete;
    ~Made() { owner_.reset(raw_); }
    operator typename Owner::element_type **() { return &raw_; }  // NOLINT: implicit on purpose

private:
    Owner& owner_;
    typename Owner::element_type* raw_ = nullptr;
};

inline CWorld c_world(MPI_Comm comm = MPI_COMM_WORLD) {
    CWorld world;
    EXPECT_OK(arges_world_create(comm, nullptr, Made(world)));
    return world;
}

inline CTensor c_tensor(const CWorld& world, arges_type type, const std::vector<std::int64_t>& extents, const char* letters = nullptr,
                        const char* symmetry = nullptr, bool is_sparse = false) {
    CTensor tensor;
    const auto create = is_sparse ? arges_tensor_create_sparse : arges_tensor_create;
    EXPECT_OK(create(world.get(), type, static_cast<int>(extents.size()), extents.data(), letters, symmetry, nullptr, Made(tensor)));
    return tensor;
}

/// Elements of a type that vectors do not pack.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;

template <class T>
std::vector<Stored<T>> gathered(const CTensor& tensor) {
    std::int64_t size = 0;
    EXPECT_OK(arges_tensor_size(tensor.get(), &size, nullptr));
    std::vector<Stored<T>> elements(static_cast<std::size_t>(size));
    EXPECT_OK(arges_tensor_gather(tensor.get(), elements.data()));
    return elements;
}

template <class T>
std::vector<Stored<T>> gathered(const Tensor<T>& tensor) {
    const auto elements = tensor.gather();
    return {elements.begin(), elements.end()};
}

/// The labels of a list of names: "x0,x1,".
inline std::string c_labels(const Labels& labels) {
    std::string text;
    for (const auto& name : labels.names()) text += name + ",";
    return text;
}

/// Letters for so many dimensions.
inline std::string letters_for(int order) { return std::string("abcdefghijklmnop").substr(0, static_cast<std::size_t>(order)); }

/// A folder of the ranks, empty and the same on all; removed at the end.
class SharedFolder {
public:
    SharedFolder() {
        int process = getpid();
        MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
        path_ = std::filesystem::temp_directory_path() / ("arges_c_" + std::to_string(process));
        if (is_first()) std::filesystem::create_directories(path_);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ~SharedFolder() {
        MPI_Barrier(MPI_COMM_WORLD);
        if (is_first()) std::filesystem::remove_all(path_);
    }
    SharedFolder(const SharedFolder&) = delete;
    SharedFolder& operator=(const SharedFolder&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    static bool is_first() {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank == 0;
    }
    std::filesystem::path path_;
};

}  // namespace arges::test

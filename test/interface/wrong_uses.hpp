/// The machinery of the tables of wrong uses: each is run on all ranks, must throw the same exception on every rank, with
/// a message that says what is wrong, and must leave every tensor as it was.
///   ARGES_PRINT_ERRORS=1  rank 0 prints the rows of docs/errors.md
#pragma once

#include "arges/arges.hpp"
#include "comm/values.hpp"
#include "interface/dense/tensor_state.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace arges::test {

/// What the uses throw.
inline constexpr const char* invalid = "InvalidArgument";
inline constexpr const char* unsupported = "Unsupported";

using Complex = std::complex<double>;
using Keys = std::vector<std::int64_t>;
using Reals = std::vector<double>;

/// The tensors that the uses are made of.
struct Scene {
    World world, other, small;
    Tensor<double> M, N, S, A, H, E, S3, v, x, F, D;
    Tensor<Complex> Q, Z, W;
};

inline Scene make_scene() {
    const World world, other, small{Device(DeviceKind::none)};  // with a limit on the memory of the host
    auto real = [&](const World& w, std::vector<std::int64_t> n, const char* names, const char* tree, const char* name) {
        Tensor<double> t(w, std::move(n), names, tree, name);
        t.fill_random(7);
        return t;
    };
    auto complex = [](const World& w, std::vector<std::int64_t> n, const char* names, const char* tree, const char* name) {
        Tensor<Complex> t(w, std::move(n), names, tree, name);
        t.fill_random(8);
        return t;
    };
    Scene scene{world,
                other,
                small,
                real(world, {4, 5}, "ij", "", "M"),
                real(world, {4, 4}, "ij", "", "N"),
                real(world, {4, 4}, "ij", "sym(i,j)", "S"),
                real(world, {4, 4}, "ij", "antisym(i,j)", "A"),
                real(world, {4, 4}, "ij", "hollow(i,j)", "H"),
                real(world, {3, 3, 3, 3}, "pqrs", "sym(sym(p,q),sym(r,s))", "E"),
                real(world, {4, 4, 4}, "ijk", "sym(i,j,k)", "S3"),
                real(world, {4}, "i", "", "v"),
                real(world, {}, "", "", "x"),
                real(other, {4, 4}, "ij", "", "F"),
                Tensor<double>(),
                complex(world, {4, 4}, "ij", "", "Q"),
                complex(world, {4, 4}, "ij", "hermitian(i,j)", "Z"),
                complex(small, {64, 64}, "ij", "", "W")};
    scene.small.set_memory_limit(scene.W.world().memory_in_use() + 64);
    return scene;
}

/// The exceptions by name.
inline std::string caught(const std::function<void()>& work, std::string& message) {
    try {
        work();
        return "none";
    } catch (const InvalidArgument& e) {
        message = e.what();
        return "InvalidArgument";
    } catch (const OutOfMemory& e) {
        message = e.what();
        return "OutOfMemory";
    } catch (const Unsupported& e) {
        message = e.what();
        return "Unsupported";
    } catch (const MpiError& e) {
        message = e.what();
        return "MpiError";
    } catch (const std::exception& e) {
        message = e.what();
        return "another exception";
    }
}

/// An environment variable for the length of a scope.
class Environment {
public:
    Environment(const char* name, const char* value) : name_(name) {
        const char* old = std::getenv(name);
        if (old != nullptr) before_ = old;
        was_set_ = old != nullptr;
        setenv(name, value, 1);
    }
    ~Environment() { was_set_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    const char* name_;
    std::string before_;
    bool was_set_ = false;
};

struct WrongUse {
    const char* text;                    ///< the code
    void (*run)(Scene&);                 ///< what it does
    const char* exception;               ///< the name of the exception
    std::vector<std::string> fragments;  ///< what the message must contain
    int ranks = 1;                       ///< it is only wrong on so many ranks
};

/// Code as its own description.
#define ARGES_USE(...)                                                                                                                     \
#__VA_ARGS__, [](Scene& scene) {                                                                                       \
        [[maybe_unused]] auto& [world, other, small, M, N, S, A, H, E, S3, v, x, F, D, Q, Z, W] = scene;                   \
        __VA_ARGS__;                                                                                                       \
    }

/// Bytes of the elements on this rank.
inline std::vector<std::byte> contents(const Scene& s) {
    std::vector<std::byte> all;
    auto add = [&](const auto& tensor) {
        if (!tensor.state()) return;
        const HostElements here(*tensor.state());
        all.insert(all.end(), here.data(), here.data() + tensor.state()->bytes.size());
    };
    for (const auto* t : {&s.M, &s.N, &s.S, &s.A, &s.H, &s.E, &s.S3, &s.v, &s.x, &s.F, &s.D}) add(*t);
    for (const auto* t : {&s.Q, &s.Z, &s.W}) add(*t);
    return all;
}

/// Runs one use and checks what it must do.
inline void check_use(Scene& scene, const WrongUse& use) {
    if (scene.world.size() < use.ranks) return;
    SCOPED_TRACE(use.text);
    const auto before = contents(scene);
    const auto held = scene.world.memory_in_use();
    std::string message;
    const auto exception = caught([&] { use.run(scene); }, message);
    EXPECT_EQ(exception, use.exception) << message;
    for (const auto& fragment : use.fragments)
        EXPECT_NE(message.find(fragment), std::string::npos) << "\"" << fragment << "\" is not in: " << message;
    EXPECT_EQ(before, contents(scene)) << "a tensor has changed";
    EXPECT_EQ(held, scene.world.memory_in_use());
    // The same on every rank?
    const auto mine = exception + ": " + message;
    const auto& comm = scene.world.state()->communicator();
    const auto all = gathered(comm, to_bytes(std::vector<char>(mine.begin(), mine.end())));
    EXPECT_EQ(static_cast<std::int64_t>(all.size()), static_cast<std::int64_t>(mine.size()) * comm.size());
    for (std::size_t i = 0; i + mine.size() <= all.size(); i += mine.size())
        EXPECT_EQ(std::memcmp(all.data() + i, mine.data(), mine.size()), 0) << "ranks differ";
    if (std::getenv("ARGES_PRINT_ERRORS") != nullptr && scene.world.rank() == 0)
        std::cout << "| `" << use.text << "` | " << exception << " | " << message << " |\n";
}

inline void check_uses(const std::vector<WrongUse>& uses) {
    auto scene = make_scene();
    for (const auto& use : uses) check_use(scene, use);
}

}  // namespace arges::test

// The memory account of linear algebra: matrices, working arrays and buffers are counted, and a limit below what is needed is
// refused.
#include "linalg/matrices.hpp"

#include <functional>

namespace arges::test {
namespace {

/// Gathers a result on every rank; it holds the result.
using Gather = std::function<std::vector<double>()>;

/// A function of the library on operands that exist; its result is gathered apart, because that takes memory too.
struct Work {
    std::string name;
    std::function<Gather()> run;
    bool mostly_workspace = false;  ///< working arrays are larger than the buffers that move the matrix
};

template <class... Parts>
std::vector<double> joined_values(const Parts&... parts) {
    std::vector<double> result;
    (result.insert(result.end(), parts.begin(), parts.end()), ...);
    return result;
}

/// Matrices, and the functions on them, on one rank of the world and on all.
class Inputs {
public:
    explicit Inputs(const World& world)
        : square_(world, {30, 30}, "S"), tall_(world, {90, 8}, "T"), wide_(world, {12, 60}, "W"), positive_(world, {30, 30}, "P"),
          right_(world, {30, 5}, "B") {
        square_.fill_random(1);
        tall_.fill_random(2);
        wide_.fill_random(3);
        right_.fill_random(4);
        positive_.fill([](Index x) { return x[0] == x[1] ? 40.0 : 1.0 / static_cast<double>(1 + x[0] + x[1]); });
    }
    std::vector<Work> list(const MatrixGrid& grid) const {
        const auto values_of_qr = [](const QrResult<double>& f) { return [=] { return joined_values(f.Q.gather(), f.R.gather()); }; };
        const auto values_of_svd = [](const SvdResult<double>& f) {
            return [=] { return joined_values(f.U.gather(), f.s, f.Vh.gather()); };
        };
        const auto values_of = [](const Tensor<double>& result) { return [=] { return result.gather(); }; };
        SvdOptions svd_options;
        svd_options.grid = grid;
        EighOptions with_vectors, without;
        with_vectors.grid = without.grid = grid;
        with_vectors.symmetric = without.symmetric = true;
        without.vectors = false;
        TriangularOptions triangular;
        triangular.grid = grid;
        return {{"qr",
                 [=, this] {
                     return values_of_qr(qr(square_["i|j"], {false, grid}));
                 }},
                {"tall qr", [=, this] { return values_of_qr(qr(tall_["i|j"])); }},
                {"svd", [=, this] { return values_of_svd(svd(square_["i|j"], svd_options)); }, true},
                {"tall svd", [=, this] { return values_of_svd(svd(tall_["i|j"])); }},
                {"wide svd", [=, this] { return values_of_svd(svd(wide_["i|j"], svd_options)); }},
                {"eigh",
                 [=, this] {
                     const auto f = eigh(positive_["i|j"], with_vectors);
                     return [=] { return joined_values(f.values, f.vectors.gather()); };
                 },
                 true},
                {"eigenvalues",
                 [=, this] {
                     const auto values = eigh(positive_["i|j"], without).values;
                     return [=] { return values; };
                 }},
                {"cholesky", [=, this] { return values_of(cholesky(positive_["i|j"], grid)); }},
                {"solve_positive", [=, this] { return values_of(solve_positive(positive_["i|j"], right_["i|k"], grid)); }},
                {"solve_triangular", [=, this] { return values_of(solve_triangular(positive_["i|j"], right_["i|k"], triangular)); }}};
    }

private:
    Tensor<double> square_, tall_, wide_, positive_, right_;
};

/// The message of OutOfMemory under a limit, the same on all ranks; empty if there was none, and then `values` are the results.
std::string refusal(World world, const Work& work, std::int64_t limit, std::vector<double>& values) {
    std::string message;
    Gather gather;
    const auto before = world.memory_limit();
    world.set_memory_limit(limit);
    try {
        gather = work.run();
    } catch (const OutOfMemory& e) {
        message = e.what();
    }
    world.set_memory_limit(before);
    if (gather) values = gather();
    auto first = message;
    world.state()->communicator().broadcast(first, 0);
    EXPECT_EQ(message, first);
    return message;
}

void check_limits(const World& world, const Work& work) {
    SCOPED_TRACE(work.name);
    auto limited = world;
    const auto held = world.memory_in_use();
    limited.reset_peak();
    auto gather = work.run();
    const auto need = world.memory_peak() - held;
    const auto expected = gather();
    gather = nullptr;
    EXPECT_EQ(world.memory_in_use(), held);
    bool refused_workspace = false;
    const int most = 12, steps = cases(world, most);
    for (std::int64_t step = 0; step <= steps; ++step) {
        const auto allowed = step == steps ? need : std::min(need - 1, need * step / (steps - 1));
        std::vector<double> values;
        const auto message = refusal(world, work, held + allowed, values);
        EXPECT_EQ(world.memory_in_use(), held);
        if (allowed < need) {
            EXPECT_NE(message.find("bytes on a rank"), std::string::npos) << allowed << " of " << need << ": " << message;
            EXPECT_NE(message.find("; use more ranks or raise the limit"), std::string::npos);
            refused_workspace = refused_workspace || message.find(": workspace takes") != std::string::npos;
        } else {
            EXPECT_EQ(message, "");
            EXPECT_EQ(values, expected);
        }
    }
    EXPECT_TRUE(refused_workspace || !work.mostly_workspace || steps < most);
    EXPECT_EQ(work.run()(), expected);
}

TEST(LinalgMemory, LessThanThePeakIsRefusedOnEveryRankAndThePeakIsEnough) {
    const World world;
    const Inputs inputs(world);
    for (const auto& work : inputs.list({1, 1, 0})) check_limits(world, work);
    for (const auto& work : inputs.list({1, world.size(), 3})) check_limits(world, work);
}

/// Peak of the account in elements, for a matrix of 40 x 40 on one rank.
std::int64_t peak_elements(const World& world, const std::function<void(const Tensor<double>&)>& work) {
    Tensor<double> A(world, {40, 40}, "A");
    A.fill([](Index x) { return x[0] == x[1] ? 40.0 : 1.0 / static_cast<double>(1 + x[0] + x[1]); });
    auto account = world;
    account.reset_peak();
    const auto held = world.memory_in_use();
    work(A);
    return (world.memory_peak() - held) / static_cast<std::int64_t>(sizeof(double));
}

TEST(LinalgMemory, HasTheWorkingArraysThatTheRoutinesDocument) {
    const World world;
    const MatrixGrid one{1, 1, 0};
    constexpr std::int64_t n = 40, matrix = n * n;
    const auto of_svd = peak_elements(world, [&](const auto& A) {
        SvdOptions options;
        options.grid = one;
        svd(A["i|j"], options);
    });
    EXPECT_GE(of_svd, matrix + 5 * matrix);  // A; vectors of the bidiagonal matrix and 3 n^2 for BDSDC
    EXPECT_LE(of_svd, 8 * matrix);
    const auto of_eigh = peak_elements(world, [&](const auto& A) {
        EighOptions options;
        options.symmetric = true;
        options.grid = one;
        eigh(A["i|j"], options);
    });
    EXPECT_GE(of_eigh, 2 * matrix + 2 * matrix + 6 * n);  // A and vectors; SYEVD asks for 1 + 6 n + 2 n^2
    EXPECT_LE(of_eigh, 6 * matrix);
    const auto of_qr = peak_elements(world, [&](const auto& A) { qr(A["i|j"], {false, one}); });
    EXPECT_GE(of_qr, matrix + matrix + n * 32);  // A, R, and the factors of the reflectors in panels of 32
}

}  // namespace
}  // namespace arges::test

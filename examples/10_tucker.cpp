// Compressing the output of a simulation by a Tucker decomposition, and reading parts of it back.
//
// The tensor is a field on a grid at many times: a wave that spreads from a point, and a pulse that crosses it. Neighbouring values are
// alike, so a small core and three tall factors hold all of it to a part in a thousand.
#include <arges/arges.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace arges;

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        const auto field = [](Index i) {  // at a place and a time
            const double x = static_cast<double>(i[0]) / 96, y = static_cast<double>(i[1]) / 80, t = static_cast<double>(i[2]) / 120;
            const double distance = std::hypot(x - 0.3, y - 0.6);
            const double wave = std::sin(12 * distance - 9 * t) / (1 + 2 * distance);
            const double pulse = std::exp(-60 * ((x - t) * (x - t) + (y - 0.4) * (y - 0.4)));
            return wave + 0.5 * pulse;
        };
        Tensor<double> X(world, {96, 80, 120}, "X");
        X.fill(field);

        // The ranks are chosen so that |X - model| <= 0.001 |X|.
        TuckerOptions options;
        options.relative_error = 1e-3;
        const auto result = tucker_decompose(X, options);
        const auto& model = result.model;
        const double error = relative_error(X, model);

        // One time step, and one point through time; nothing else is computed.
        const auto snapshot = reconstruct(model, {0, 0, 60}, {96, 80, 61});
        const auto history = reconstruct(model, {48, 32, 0}, {49, 33, 120}).gather();
        double worst = 0;
        for (std::int64_t t = 0; t < 120; ++t) {
            const std::int64_t place[] = {48, 32, t};
            worst = std::max(worst, std::abs(history[static_cast<std::size_t>(t)] - field(place)));
        }

        // Refined by orthogonal iteration for the same core.
        options.relative_error = 0;
        options.method = TuckerMethod::hooi;
        options.ranks.assign(model.ranks().begin(), model.ranks().end());
        const auto refined = tucker_decompose(X, options);

        const double norm = snapshot.norm();
        if (world.rank() == 0) {
            std::printf("core %lld x %lld x %lld, compression %.0f\n", static_cast<long long>(model.ranks()[0]),
                        static_cast<long long>(model.ranks()[1]), static_cast<long long>(model.ranks()[2]), model.compression());
            std::printf("relative error %.2e, estimated %.2e\n", error, result.estimated_error);
            std::printf("norm of the field at time 60: %.4f\n", norm);
            std::printf("worst error at one point through time below 0.01: %s\n", worst < 0.01 ? "yes" : "no");
            std::printf("orthogonal iteration is not worse: %s\n",
                        refined.estimated_error <= result.estimated_error * (1 + 1e-9) ? "yes" : "no");
        }
        return true;
    });
}

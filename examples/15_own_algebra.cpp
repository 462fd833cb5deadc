// Elements of other types, an algebra of your own, and functions of elements.
#include <arges/arges.hpp>

#include <algorithm>
#include <cstdio>

using namespace arges;

// The cheapest way from one place to another, and how many ways cost as little. Any trivially copyable struct is an element.
struct Way {
    std::int64_t cost, number, longest;
    bool operator==(const Way&) const = default;
};

// What plus and times mean for it: of two ways take the cheaper one; one after the other they add up.
struct Cheapest {
    using value_type = Way;
    static constexpr Way zero{1 << 30, 0, 0}, one{0, 1, 0};
    static Way add(const Way& a, const Way& b) {
        if (a.cost != b.cost) return a.cost < b.cost ? a : b;
        return {a.cost, a.number + b.number, std::max(a.longest, b.longest)};
    }
    static Way multiply(const Way& a, const Way& b) {
        if (a == zero || b == zero) return zero;
        return {a.cost + b.cost, a.number * b.number, std::max(a.longest, b.longest)};
    }
};

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        int wrong = 0;
        const auto check = [&](const char* what, std::int64_t value, std::int64_t expected) {
            wrong += value == expected ? 0 : 1;
            if (world.rank() == 0) std::printf("%-48s %4lld%s\n", what, static_cast<long long>(value), value == expected ? "" : "  WRONG");
        };

        // A 4 x 4 grid of streets: one step east or south costs 1, a shortcut from place 0 to place 15 costs 7.
        constexpr std::int64_t side = 4, places = side * side;
        Tensor<Way> road(world, {places, places}, "road");
        road.fill([](Index x) -> Way {
            const auto from = x[0], to = x[1];
            if (from == to) return Cheapest::one;
            const bool east = to == from + 1 && to % side != 0, south = to == from + side;
            if (east || south) return {1, 1, 1};
            return from == 0 && to == places - 1 ? Way{7, 1, 7} : Cheapest::zero;
        });
        // Two, four, eight steps: the sum over k takes the best place in the middle.
        for (int doubling = 0; doubling < 3; ++doubling) {
            Tensor<Way> longer(world, {places, places});
            over<Cheapest>(longer["ij"]) = road["ik"] * road["kj"];
            road = longer;
        }
        const Way across = road.read({road.key({0, places - 1})})[0];
        check("cost from corner to corner", across.cost, 6);
        check("its longest street", across.longest, 1);

        // Integers are exact, bool adds by "or" and multiplies by "and".
        Tensor<std::int64_t> A(world, {places, places}, "A"), walks(world, {places, places});
        A["ij"] = map([](const Way& way) -> std::int64_t { return way.cost == 1 ? 1 : 0; }, road["ij"]);
        walks["ij"] = A["ia"] * A["ab"] * A["bc"] * A["cd"] * A["de"] * A["ej"];
        check("ways of six steps from corner to corner", walks.read({walks.key({0, places - 1})})[0], 20);
        Tensor<bool> near(world, {places, places}), reached(world, {places, places});
        near["ij"] = map([](std::int64_t steps) { return steps > 0; }, A["ij"]);
        reached["ij"] = near["ik"] * near["kj"];
        Tensor<std::int64_t> count(world, {places, places});
        count["ij"] = reached["ij"];
        check("pairs of places two steps apart", count.sum(), 25);

        // Functions of elements take operands of any types; a tensor of complex numbers may be multiplied by a real one.
        Tensor<std::complex<double>> Z(world, {places}, "Z");
        Tensor<double> x(world, {places}, "x");
        x.fill([](Index i) { return static_cast<double>(i[0]); });
        Z["i"] = std::complex<double>(0, 1) * x["i"] + x["i"];
        update(Z["i"], x["i"], [](std::complex<double>& z, double weight) { z = weight > 0 ? z / weight : 1.0; });
        const std::complex<double> total = Z["i"] * x["i"];
        check("sum of (1 + i) x", static_cast<std::int64_t>(total.real()), places * (places - 1) / 2);
        return wrong == 0;
    });
}

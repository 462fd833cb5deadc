// Closed-shell CCSD on packed tensors against the same equations on tensors without symmetry.
//   rccsd [OCCUPIED VIRTUALS [REPETITIONS [packed: alone, with the energy of (T)]]]
// The Hamiltonian and the amplitudes are random numbers. Prints the median seconds of one evaluation of the residuals, the
// operations of the terms of sixth order, and bytes per rank: of integrals and amplitudes, and at most during an evaluation.
#include <arges/arges.hpp>

#include "arges/chemistry/rccsd.hpp"
#include "arges/chemistry/rtriples.hpp"
#include "random_hamiltonian.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using arges::Tensor;
using arges::World;
using namespace arges::chemistry;
using namespace bench;

/// The equations of chemistry/equations/rccsd_equations.cpp as a code without packed tensors has them.
class Unpacked {
public:
    Unpacked(const Fcidump& data, const SpatialIntegrals& packed, const TensorSet& t)
        : world_(t["T1"].world()), o_(packed.spaces.occupied), v_(packed.spaces.virtuals), t1(t["T1"]), t2(zeros("abij")), V(zeros("abij")),
          L(zeros("abij")), M(zeros("abij")), J(zeros("abij")), K(zeros("ijka")), N(packed.N), oooo(zeros("mnij")), ovvv(zeros("maef")),
          vvvv(zeros("abef")), f_oo(packed.f_oo), f_ov(packed.f_ov), f_vv(packed.f_vv) {
        const auto cut = [&](const std::string& letters) {
            std::vector<std::int64_t> begin, end;
            for (char letter : letters) {
                begin.push_back(letter >= 'i' ? 0 : o_);
                end.push_back(begin.back() + extent(letter));
            }
            return data.two_electron.slice(begin, end);
        };
        t2["abij"] = t["T2"]["abij"];
        V["abij"] = packed.V["abij"];
        L["abij"] = packed.L["abij"];
        M["abij"] = packed.M["abij"];
        J["abij"] = packed.J["abij"];
        K["ijka"] = packed.K["ijka"];
        oooo["mnij"] = cut("minj")["minj"];
        ovvv["maef"] = cut("meaf")["meaf"];
        vvvv["abef"] = cut("aebf")["aebf"];
    }

    TensorSet residuals() const {
        auto tau = t2, u = t2;
        tau["abij"] += t1["ai"] * t1["bj"];
        u["abij"] = 2.0 * t2["abij"] - t2["baij"];
        auto H = zeros("aick"), G = zeros("aick");
        H["aick"] = ovvv["kace"] * t1["ei"];
        G["aick"] = ovvv["kaec"] * t1["ei"];
        auto F_me = f_ov, F_mi = f_oo, F_ae = f_vv;
        F_me["me"] += L["efmn"] * t1["fn"];
        F_mi["mi"] += f_ov["me"] * t1["ei"] + L["efmn"] * tau["efin"];
        F_ae["ae"] -= t1["am"] * f_ov["me"] + tau["afmn"] * L["efmn"];
        auto R1 = zeros("ai"), R2 = V;
        add_singles(tau, u, F_me, F_mi, F_ae, R1);
        const auto W = W_mnij(tau);
        const auto X = unsymmetric(tau, u, H, G, F_mi, F_ae);
        R2["abij"] += vvvv["abef"] * tau["efij"] + tau["abmn"] * W["mnij"];
        R2["abij"] += X["aibj"] + X["bjai"];
        return TensorSet({{"T1", R1}, {"T2", R2}});
    }

private:
    using T = Tensor<double>;
    std::int64_t extent(char letter) const { return letter >= 'i' ? o_ : v_; }
    T zeros(const std::string& letters) const {
        std::vector<std::int64_t> extents;
        for (char letter : letters) extents.push_back(extent(letter));
        return T(world_, extents, letters);
    }
    void add_singles(const T& tau, const T& u, const T& F_me, const T& F_mi, const T& F_ae, T& R1) const {
        auto f_mi = F_mi, w = tau;
        f_mi["mi"] -= F_me["me"] * t1["ei"];
        w["abij"] = 2.0 * tau["abij"] - tau["baij"];
        R1["ai"] = f_ov["ia"] + M["aeim"] * t1["em"] + F_ae["ae"] * t1["ei"] - t1["am"] * f_mi["mi"] + u["aeim"] * F_me["me"] -
                   tau["aemn"] * N["mine"] + ovvv["maef"] * w["efmi"];
    }
    T W_mnij(const T& tau) const {
        auto W = oooo;
        W["mnij"] += t1["ei"] * K["njme"] + t1["ej"] * K["mine"] + V["efmn"] * tau["efij"];
        return W;
    }
    T W_mbij(const T& tau) const {
        auto W = zeros("mbij");
        W["mbij"] = K["mijb"] + t1["ei"] * V["ebmj"] + t1["fj"] * J["bfmi"] + ovvv["mbef"] * tau["efij"];
        return W;
    }
    T unsymmetric(const T& tau, const T& u, const T& H, const T& G, const T& F_mi, const T& F_ae) const {
        auto exchange = tau, direct = t2;
        exchange["abij"] -= 0.5 * t2["abij"];
        direct["abij"] -= exchange["baij"];
        auto C = G, D = zeros("aick"), Y = zeros("aibj"), X = zeros("aibj");
        C["aick"] += J["acki"] - t1["am"] * K["kimc"] - exchange["aemi"] * V["eckm"];
        D["aick"] = M["acik"] + 2.0 * H["aick"] - G["aick"] - t1["am"] * N["mikc"] + direct["aeim"] * L["ecmk"];
        auto F_bc = F_ae, F_kj = F_mi;
        F_bc["bc"] += 2.0 * G["bmcm"] - H["bmcm"];
        F_kj["kj"] += t1["en"] * N["kjne"];
        Y["aibj"] = C["aick"] * t2["bckj"];
        X["aibj"] = H["bjai"] + 0.5 * D["aick"] * u["bcjk"] - 0.5 * Y["aibj"] - Y["ajbi"] + t2["acij"] * F_bc["bc"] -
                    t2["abik"] * F_kj["kj"] - t1["am"] * W_mbij(tau)["mbij"];
        return X;
    }

    World world_;
    std::int64_t o_, v_;
    T t1, t2, V, L, M, J, K, N, oooo, ovvv, vvvv, f_oo, f_ov, f_vv;
};

struct Figures {
    double seconds = 0;
    std::int64_t held = 0, peak = 0;  // bytes
};

template <class F>
Figures measure(const World& world, int repetitions, std::int64_t held, const F& residuals, TensorSet& result) {
    result = residuals();
    std::vector<double> seconds;
    World(world).reset_peak();
    for (int k = 0; k < repetitions; ++k) {
        MPI_Barrier(world.communicator());
        const double start = MPI_Wtime();
        result = residuals();
        double time = MPI_Wtime() - start;
        MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, world.communicator());
        seconds.push_back(time);
    }
    std::sort(seconds.begin(), seconds.end());
    return {seconds[seconds.size() / 2], held, world.memory_peak()};
}

void print(const char* name, const Figures& figures, double flops) {
    std::printf("%-10s %10.6f s %10.3e operations (%5.1f gflops) %10.1f MB held %10.1f MB at most\n", name, figures.seconds, flops,
                flops / figures.seconds / 1e9, static_cast<double>(figures.held) / 1e6, static_cast<double>(figures.peak) / 1e6);
}

void time_triples(const SpatialIntegrals& integrals, const TensorSet& t, double flops) {
    const double start = MPI_Wtime();
    const double energy = rtriples_energy(integrals, t), seconds = MPI_Wtime() - start;
    if (t["T1"].world().rank() == 0)
        std::printf("%-10s %10.6f s %10.3e operations (%5.1f gflops), energy %.12g\n", "(T)", seconds, flops, flops / seconds / 1e9,
                    energy);
}

void run(std::int64_t occupied, std::int64_t virtuals, int repetitions, bool packed_alone) {
    const World world;
    const auto data = random_hamiltonian(world, occupied, virtuals);
    const std::int64_t before = world.memory_in_use();
    auto packed = build_spatial_integrals(data, build_reference(data, "random numbers"), IntegralSet::coupled_cluster);
    const auto t = random_amplitudes(packed);
    TensorSet small, large;
    const std::int64_t middle = world.memory_in_use();
    const auto with = measure(
        world, repetitions, middle - before, [&] { return rccsd_residuals(packed, t); }, small);
    const double ladders = ladder_flops(occupied, virtuals), rings = ring_flops(occupied, virtuals);
    if (packed_alone) {
        if (world.rank() == 0) print("packed", with, ladders / 2 + 9 * rings);
        return time_triples(packed, t, 2 * rings * static_cast<double>(occupied + virtuals));
    }
    const Unpacked unpacked(data, packed, t);
    const std::int64_t after = world.memory_in_use() - small["T2"].packed_size() * 8 / world.size();
    const auto without = measure(
        world, repetitions, after - middle, [&] { return unpacked.residuals(); }, large);

    const double norm = large["T2"].norm();
    large.add(-1.0, small);
    const double difference = large["T1"].norm() + large["T2"].norm();
    if (world.rank() != 0) return;
    print("packed", with, ladders / 2 + 9 * rings);
    print("unpacked", without, 2 * ladders + 10 * rings);
    std::printf("unpacked / packed: %.2f seconds, %.2f operations, %.2f bytes held; relative difference of residuals %.1e\n",
                without.seconds / with.seconds, (2 * ladders + 10 * rings) / (ladders / 2 + 9 * rings),
                static_cast<double>(without.held) / static_cast<double>(with.held), difference / norm);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    run(argc > 2 ? std::atoll(argv[1]) : 20, argc > 2 ? std::atoll(argv[2]) : 60, argc > 3 ? std::atoi(argv[3]) : 5,
        argc > 4 && std::string(argv[4]) == "packed");
    MPI_Finalize();
    return 0;
}

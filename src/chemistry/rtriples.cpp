// Letters: i j k l are occupied, a b c d virtual spatial orbitals. With
//     w(abcijk) = P [(ai|bd) t_jk^dc - (ai|lj) t_lk^bc],  z(abcijk) = P [t_i^a (bj|ck)]
// where P sums over the distinct permutations of the pairs (ai), (bj), (ck), and D_ijk^abc = f_ii +
// f_jj + f_kk - f_aa - f_bb - f_cc, the energy is, for all occupied and virtual orbitals,
//     E = 1/3 sum w(abcijk) [4 y(abc) + y(bca) + y(cab) - 2 y(cba) - 2 y(acb) - 2 y(bac)]
//     y(abc) = (w(abcijk) + z(abcijk)) / D_ijk^abc
// w and the sum are the same for all orders of the pairs, so batches I >= J >= K of occupied
// orbitals are enough.
#include "chemistry/rtriples.hpp"

#include "base/math.hpp"
#include "chemistry/denominators.hpp"
#include "interface/world_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace arges::chemistry {

namespace {

/// Batches of i, j and k.
using Batches = std::array<std::size_t, 3>;

/// The orders of three pairs.
constexpr std::array<std::array<std::size_t, 3>, 6> orders{
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

/// Batches, if there are as many orbitals: n of them compute (1 + 1/n) (1 + 2/n) times the triples
/// i >= j >= k.
constexpr std::int64_t wanted_batches = 8;
/// Elements of a batch on a rank below which starting a statement takes longer than doing it.
constexpr double min_elements = 1 << 15;
/// Tensors and working copies of the size of a batch that are there at the same time.
constexpr double copies = 8;

class TriplesEnergy {
public:
    TriplesEnergy(const SpatialIntegrals& integrals, const TensorSet& t)
        : V_(integrals), t1_(t["T1"]), t2_(t["T2"]), begin_(batches()) {
        const std::size_t count = begin_.size() - 1;
        Tensor<double> ovvv = V_.spaces.tensor(world(), "iabd", "sym(b,d)", "(ia|bd)");
        ovvv["iabd"] = canonical(V_.ovvv.plus["ibad"]) + canonical(V_.ovvv.minus["ibad"]);
        for (std::size_t p = 0; p < count; ++p) {
            ovvv_.push_back(part(ovvv, "iabd", {{0, p}}));
            t1s_.push_back(part(t1_, "ai", {{1, p}}));
            t2s_.push_back(part(t2_, "bclk", {{3, p}}));
            for (std::size_t q = 0; q < count; ++q) {
                ooov_.push_back(part(V_.K, "ljia", {{1, q}, {2, p}}));
                t2ss_.push_back(part(t2_, "dcjk", {{2, p}, {3, q}}));
                vovo_.push_back(part(V_.V, "bcjk", {{2, p}, {3, q}}));
            }
        }
    }

    double value() const {
        double energy = 0;
        for (std::size_t I = 0; I + 1 < begin_.size(); ++I)
            for (std::size_t J = 0; J <= I; ++J)
                for (std::size_t K = 0; K <= J; ++K) {
                    // How often the batches occur among all I, J, K.
                    const double times = I == K ? 1 : I == J || J == K ? 3 : 6;
                    energy += times * of_batch({I, J, K}) / 3;
                }
        return energy;
    }

private:
    struct Cut {
        std::size_t dimension, batch;
    };

    const World& world() const { return t1_.world(); }
    std::vector<std::int64_t> batches() const;
    Tensor<double> part(const Tensor<double>& full, std::string_view letters,
                        const std::vector<Cut>& cuts) const;
    const Tensor<double>& of_pair(const std::vector<Tensor<double>>& parts, std::size_t p,
                                  std::size_t q) const {
        return parts[p * (begin_.size() - 1) + q];
    }
    Tensor<double> zeros(const Batches& batch, const std::string& name) const;
    Tensor<double> connected(const Batches& batch) const;
    void add_disconnected(const Batches& batch, Tensor<double>& triples) const;
    void divide(const Batches& batch, Tensor<double>& triples) const;
    double of_batch(const Batches& batch) const;

    const SpatialIntegrals& V_;
    const Tensor<double>&t1_, &t2_;
    std::vector<std::int64_t> begin_;                 // first orbitals of the batches, and the end
    std::vector<Tensor<double>> ovvv_, t1s_, t2s_;    // by the batch of i, i, k
    std::vector<Tensor<double>> ooov_, t2ss_, vovo_;  // by the batches of ij, jk, jk
};

/// Batches whose triples fit into half of the memory that is left.
std::vector<std::int64_t> TriplesEnergy::batches() const {
    // Number of orbitals in a batch with so many elements on each rank.
    const auto length = [&](double elements) {
        const double all = elements * static_cast<double>(world().size());
        const double v = static_cast<double>(std::max<std::int64_t>(1, V_.spaces.virtuals));
        return static_cast<std::int64_t>(std::cbrt(std::max(0.0, all)) / v);
    };
    // All ranks must choose alike.
    const auto free = static_cast<double>(world().state()->least_free_bytes());
    const std::int64_t o = V_.spaces.occupied;
    const std::int64_t wanted = std::max(o / wanted_batches, length(min_elements));
    const std::int64_t possible = length(free / 2 / (copies * sizeof(double)));
    const std::int64_t count = ceil_div(o, std::max<std::int64_t>(1, std::min(wanted, possible)));
    std::vector<std::int64_t> begin{0};
    for (std::int64_t k = 1; k <= count; ++k) begin.push_back(o * k / count);
    return begin;
}

/// Some dimensions restricted to a batch each.
Tensor<double> TriplesEnergy::part(const Tensor<double>& full, std::string_view letters,
                                   const std::vector<Cut>& cuts) const {
    std::vector<std::int64_t> begin(letters.size(), 0), end = full.extents();
    for (const Cut& cut : cuts) {
        begin[cut.dimension] = begin_[cut.batch];
        end[cut.dimension] = begin_[cut.batch + 1];
    }
    return full.slice(begin, end);
}

/// Zero triples (abcijk) with i, j, k in three batches.
Tensor<double> TriplesEnergy::zeros(const Batches& batch, const std::string& name) const {
    const std::int64_t v = V_.spaces.virtuals;
    std::vector<std::int64_t> extents{v, v, v};
    for (const std::size_t x : batch) extents.push_back(begin_[x + 1] - begin_[x]);
    return Tensor<double>(world(), extents, name);
}

/// w of three batches.
Tensor<double> TriplesEnergy::connected(const Batches& batch) const {
    Tensor<double> w = zeros(batch, "connected triples");
    for (const auto& [x, y, z] : orders) {
        const std::size_t I = batch[x], J = batch[y], K = batch[z];
        const char a = "abc"[x], b = "abc"[y], c = "abc"[z];
        const char i = "ijk"[x], j = "ijk"[y], k = "ijk"[z];
        w["abcijk"] +=
            ovvv_[I][std::string{i, a, b, 'd'}] * of_pair(t2ss_, J, K)[std::string{'d', c, j, k}];
        w["abcijk"] -=
            of_pair(ooov_, I, J)[std::string{'l', j, i, a}] * t2s_[K][std::string{b, c, 'l', k}];
    }
    return w;
}

/// Adds z.
void TriplesEnergy::add_disconnected(const Batches& batch, Tensor<double>& triples) const {
    const auto [I, J, K] = batch;
    triples["abcijk"] += t1s_[I]["ai"] * of_pair(vovo_, J, K)["bcjk"] +
                         t1s_[J]["bj"] * of_pair(vovo_, I, K)["acik"] +
                         t1s_[K]["ck"] * of_pair(vovo_, I, J)["abij"];
}

void TriplesEnergy::divide(const Batches& batch, Tensor<double>& triples) const {
    std::vector<double> minus;
    for (const double energy : V_.virtuals) minus.push_back(-energy);
    std::vector<std::vector<double>> terms(3, minus);
    for (const std::size_t x : batch)
        terms.emplace_back(V_.occupied.begin() + begin_[x], V_.occupied.begin() + begin_[x + 1]);
    divide_by_sums(triples, terms);
}

double TriplesEnergy::of_batch(const Batches& batch) const {
    const Tensor<double> w = connected(batch);
    Tensor<double> y = w;
    add_disconnected(batch, y);
    divide(batch, y);
    Tensor<double> sum = zeros(batch, "spin-summed triples");
    sum["abcijk"] = 4.0 * y["abcijk"] + y["bcaijk"] + y["cabijk"] - 2.0 * y["cbaijk"] -
                    2.0 * y["acbijk"] - 2.0 * y["bacijk"];
    return w.dot(sum);
}

}  // namespace

double rtriples_energy(const SpatialIntegrals& integrals, const TensorSet& t) {
    return TriplesEnergy(integrals, t).value();
}

}  // namespace arges::chemistry

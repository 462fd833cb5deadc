// The closed-shell (T), one triple of occupied orbitals at a time: Rendell, Lee and Komornicki, Chem. Phys. Lett. 178, 462 (1991).
// Letters: i j k l are occupied, a b c d virtual spatial orbitals. With
//     w(abcijk) = P [(ai|bd) t_jk^dc - (ck|lj) t_li^ba],  z(abcijk) = P [t_i^a (bj|ck)]
// where P sums over the distinct permutations of the pairs (ai), (bj), (ck), and D_ijk^abc = f_ii +
// f_jj + f_kk - f_aa - f_bb - f_cc, the energy is, for all occupied and virtual orbitals,
//     E = 1/3 sum w(abcijk) [4 y(abc) + y(bca) + y(cab) - 2 y(cba) - 2 y(acb) - 2 y(bac)]
//     y(abc) = (w(abcijk) + z(abcijk)) / D_ijk^abc
// w and the sum are the same for all orders of the pairs, so i >= j >= k are enough; i = j = k adds
// nothing. With d and l as one index, w is one product for each order of the pairs,
//     w(abcijk) = P sum_x L_i(x,a,b) R_jk(x,c),
//     L_i = [(ai|bd), t_li^ba],  R_jk = [t_jk^dc, -(ck|lj)], to which (bj|ck) is appended for z.
#include "arges/chemistry/rtriples.hpp"

#include "arges/error.hpp"
#include "base/first_error.hpp"
#include "base/math.hpp"
#include "chemistry/equations/device_triples.hpp"
#include "chemistry/equations/rtriples_kernel.hpp"
#include "interface/dense/tensor_state.hpp"
#include "redistribute/part_reader.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace arges::chemistry {

namespace {

/// Parts of a tensor by number, of which a rank keeps the ones that it used last.
class KeptParts {
public:
    using PartOf = std::function<Part(std::int64_t)>;

    /// Takes memory for the parts unless they can be used where they are. Collective.
    /// @param space     where the parts are used; null: on the host
    /// @param elements  of a part at most, which that of number 0 has  @param capacity  parts to keep
    KeptParts(const Tensor<double>& tensor, const MemorySpace* space, PartOf part_of, std::int64_t elements, std::int64_t capacity)
        : state_(*tensor.state()), space_(space), reader_(reader_of(state_.bytes.data())), part_of_(std::move(part_of)),
          elements_(elements), uses_(capacity) {
        state_.world->agree([&] {
            if (in_place(part_of_(0)) == nullptr && state_.bytes.space() != nullptr) {
                here_.emplace(state_);
                reader_.emplace(reader_of(here_->data()));
            }
            if (in_place(part_of_(0)) == nullptr) memory_ = Buffer<double>(capacity * elements, space);
        });
    }

    /// The parts' elements, to be used before the next call. Collective; each rank names its own, no more than the capacity.
    std::vector<const double*> use(const std::vector<std::int64_t>& numbers) {
        ++now_;
        for (const std::int64_t number : numbers)
            if (const auto place = places_.find(number); place != places_.end()) uses_[place->second].second = now_;
        std::vector<Part> parts;
        std::vector<void*> to;
        std::vector<const double*> result;
        for (const std::int64_t number : numbers) {
            const Part part = part_of_(number);
            if (const auto* const there = in_place(part)) {
                result.push_back(there);
                continue;
            }
            const auto [place, is_new] = places_.try_emplace(number);
            if (is_new) {
                place->second = make_room(number);
                parts.push_back(part);
                to.push_back(at(place->second));
            }
            result.push_back(at(place->second));
        }
        if (space_ == nullptr)
            reader_->read(parts, to);
        else
            bring(parts, to);
        return result;
    }

private:
    PartReader reader_of(const std::byte* elements) const {
        return {state_.world->movement_communicator(), state_.shape(), state_.rank(), elements, sizeof(double)};
    }
    /// Where a part lies in the memory in which it is used; else null.
    const double* in_place(const Part& part) const {
        const auto* const space = here_ ? nullptr : state_.bytes.space();
        return space == space_ ? static_cast<const double*>(reader_->in_place(part)) : nullptr;
    }
    /// By way of the host.
    void bring(const std::vector<Part>& parts, const std::vector<void*>& to) {
        std::vector<void*> passing;
        state_.world->agree([&] {
            passing_.reserve(std::ssize(parts) * elements_);
            for (std::size_t p = 0; p < parts.size(); ++p) passing.push_back(passing_.data() + static_cast<std::int64_t>(p) * elements_);
        });
        reader_->read(parts, passing);
        for (std::size_t p = 0; p < parts.size(); ++p)
            copy_array(to[p], passing[p], parts[p].size() * std::int64_t{sizeof(double)}, space_);
    }
    double* at(std::size_t place) { return memory_.data() + static_cast<std::int64_t>(place) * elements_; }
    /// The place that was used longest ago.
    std::size_t make_room(std::int64_t number) {
        const auto oldest = std::min_element(uses_.begin(), uses_.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
        if (oldest->second > 0) places_.erase(oldest->first);
        *oldest = {number, now_};
        return oldest - uses_.begin();
    }

    TensorState& state_;
    const MemorySpace* space_;
    std::optional<HostElements> here_;  // of a tensor on a device whose parts are not used in place
    std::optional<PartReader> reader_;
    PartOf part_of_;
    std::int64_t elements_;
    Buffer<double> memory_, passing_;
    std::vector<std::pair<std::int64_t, std::int64_t>> uses_;  // by place: number, and when it was used last
    std::map<std::int64_t, std::size_t> places_;
    std::int64_t now_ = 0;
};

/// How the work is cut.
struct Cut {
    std::int64_t ranges = 1;                 // of virtual orbitals
    std::int64_t left = 0, right = 0;        // parts of L and R to keep
    std::int64_t batch = 1;                  // occupied orbitals whose triples come one after the other, since they use the same parts
    const ElementKernels* device = nullptr;  // the table of the device on which blocks are computed; null: on the host
    double seconds = 0;                      // of all tasks, on one rank
};

/// Three occupied orbitals i >= j >= k and three ranges A >= B >= C.
struct TripleTask {
    std::array<std::int64_t, 3> orbitals, ranges;
};

class TriplesEnergy {
public:
    TriplesEnergy(const SpatialIntegrals& integrals, const TensorSet& t)
        : V_(integrals), t1_(t["T1"]), o_(V_.spaces.occupied), v_(V_.spaces.virtuals), left_(left_sides(t["T2"])),
          right_(right_sides(t["T2"])), cut_(choose_cut()) {}

    double value(const PartDone& done) const;

private:
    const World& world() const { return t1_.world(); }
    std::int64_t ranks() const { return world().size(); }
    Tensor<double> left_sides(const Tensor<double>& t2) const;
    Tensor<double> right_sides(const Tensor<double>& t2) const;
    std::int64_t least_left(std::int64_t ranges) const;
    std::int64_t least_right() const;
    std::int64_t left_part_elements(std::int64_t ranges) const;
    std::int64_t right_part_elements() const { return (2 * v_ + o_) * v_; }
    std::int64_t messages_for(std::int64_t ranges) const;
    std::int64_t elements_for(std::int64_t ranges, std::int64_t left, std::int64_t right) const;
    std::int64_t elements_there(std::int64_t ranges, std::int64_t left, std::int64_t right) const;
    std::int64_t elements_beside(std::int64_t ranges) const;
    double seconds_on_host() const { return operations() / world().state()->machine().flops_per_second; }
    template <class F>
    std::optional<Cut> cut_within(std::int64_t free, F&& elements) const;
    std::optional<Cut> cut_of_device() const;
    Cut choose_cut() const;
    double operations() const { return 12.0 * v_ * v_ * v_ * (v_ + o_) * triples(); }
    double triples() const { return o_ * (o_ + 1) * (o_ + 2) / 6 - o_; }
    std::int64_t range_begin(std::int64_t range) const { return v_ * range / cut_.ranges; }
    Part left_part(std::int64_t number) const;
    Part right_part(std::int64_t number) const;
    template <class F>
    void for_each_task(F&& f) const;
    std::vector<TripleTask> my_tasks(std::int64_t& most) const;
    TripleBlock block_of(const TripleTask& task) const;
    template <class F>
    void for_each_left(const TripleTask& task, TripleBlock& block, F&& f) const;
    template <class F>
    void for_each_right(const TripleTask& task, TripleBlock& block, F&& f) const;

    const SpatialIntegrals& V_;
    const Tensor<double>& t1_;
    std::int64_t o_, v_;
    Tensor<double> left_, right_;  // L(x,a,b,i), R(x,c,j,k)
    Cut cut_;
};

/// Orbital by orbital, so that little is there twice.
Tensor<double> TriplesEnergy::left_sides(const Tensor<double>& t2) const {
    Tensor<double> left(world(), {v_ + o_, v_, v_, o_}, "ai|bd and t_li^ba");
    Tensor<double> integrals(world(), {v_, v_, v_, 1}, "ai|bd"), amplitudes(world(), {o_, v_, v_, 1}, "t_li^ba");
    for (std::int64_t i = 0; i < o_; ++i) {
        const auto of_orbital = [&](const Tensor<double>& tensor, std::size_t dimension) {
            std::vector<std::int64_t> begin(4, 0), end = tensor.extents();
            begin[dimension] = i;
            end[dimension] = i + 1;
            return tensor.slice(begin, end);
        };
        integrals["dabi"] = of_orbital(V_.ovvv.plus, 0)["ibad"] + of_orbital(V_.ovvv.minus, 0)["ibad"];
        left.set_slice({0, 0, 0, i}, integrals);
        amplitudes["labi"] = of_orbital(t2, 3)["bali"];
        left.set_slice({v_, 0, 0, i}, amplitudes);
    }
    return left;
}

Tensor<double> TriplesEnergy::right_sides(const Tensor<double>& t2) const {
    Tensor<double> right(world(), {2 * v_ + o_, v_, o_, o_}, "t_jk^dc, -ck|lj and bj|ck");
    Tensor<double> part = V_.spaces.tensor(world(), "dcjk", "", "t_jk^dc");
    part["dcjk"] = t2["dcjk"];
    right.set_slice({0, 0, 0, 0}, part);
    part["bcjk"] = V_.V["bcjk"];
    right.set_slice({v_ + o_, 0, 0, 0}, part);
    part = V_.spaces.tensor(world(), "lcjk", "", "-(ck|lj)");
    part["lcjk"] = -1.0 * V_.K["ljkc"];
    right.set_slice({v_, 0, 0, 0}, part);
    return right;
}

/// Orders of three ranges that differ, and ordered pairs of them that a task uses, where there are so many ranges.
constexpr std::array<std::int64_t, 3> orders_of_ranges{1, 3, 6}, pairs_of_ranges{1, 3, 6};

std::size_t kind_of(std::int64_t ranges) { return std::min<std::int64_t>(ranges, 3) - 1; }

/// Parts of L that a task uses at most, and that a rank keeps at least.
std::int64_t TriplesEnergy::least_left(std::int64_t ranges) const {
    return std::min<std::int64_t>(o_, 3) * pairs_of_ranges[kind_of(ranges)];
}

/// Likewise parts of R.
std::int64_t TriplesEnergy::least_right() const { return std::min<std::int64_t>(o_ * o_, 6); }

std::int64_t TriplesEnergy::left_part_elements(std::int64_t ranges) const {
    const std::int64_t length = ceil_div(v_, ranges);
    return (v_ + o_) * length * length;
}

/// Numbers of parts that are packed, and received.
std::int64_t TriplesEnergy::messages_for(std::int64_t ranges) const {
    return 2 * (least_left(ranges) * left_part_elements(ranges) + least_right() * right_part_elements());
}

/// Numbers of a copy on the host where a tensor lies on a device.
std::int64_t copied_elements(const Tensor<double>& tensor) {
    return tensor.state()->on_device ? tensor.state()->shape().max_local_size() : 0;
}

/// Numbers of working memory of a rank that keeps so many parts.
std::int64_t TriplesEnergy::elements_for(std::int64_t ranges, std::int64_t left, std::int64_t right) const {
    const std::int64_t length = ceil_div(v_, ranges);
    std::int64_t elements = copied_elements(left_) + copied_elements(right_) + orders_of_ranges[kind_of(ranges)] * length * length * length;
    if (ranks() > 1 || ranges > 1) elements += left * left_part_elements(ranges);
    if (ranks() > 1) elements += right * right_part_elements() + messages_for(ranges);
    return elements;
}

/// Likewise on a device.
std::int64_t TriplesEnergy::elements_there(std::int64_t ranges, std::int64_t left, std::int64_t right) const {
    const std::int64_t length = ceil_div(v_, ranges);
    std::int64_t elements = (2 * orders_of_ranges[kind_of(ranges)] + 1) * length * length * length + v_ * (o_ + 1);
    if (ranks() > 1 || ranges > 1 || !left_.state()->on_device) elements += left * left_part_elements(ranges);
    if (ranks() > 1 || !right_.state()->on_device) elements += right * right_part_elements();
    return elements;
}

/// Numbers on the host beside that: messages, parts on their way, and copies of tensors on the device that are not used in place.
std::int64_t TriplesEnergy::elements_beside(std::int64_t ranges) const {
    return 2 * messages_for(ranges) + (ranks() > 1 || ranges > 1 ? copied_elements(left_) : 0) +
           (ranks() > 1 ? copied_elements(right_) : 0);
}

/// As few ranges as fit into three quarters of the memory that is left and give every rank some tasks; none fits: nothing.
template <class F>
std::optional<Cut> TriplesEnergy::cut_within(std::int64_t free, F&& elements) const {
    constexpr std::int64_t tasks_of_a_rank = 4, short_range = 48;
    for (std::int64_t ranges = 1; ranges <= v_; ++ranges) {
        if (elements(ranges, least_left(ranges), least_right()) > free * 3 / 4) continue;
        const std::int64_t length = ceil_div(v_, ranges);
        const double tasks = triples() * static_cast<double>(ranges * (ranges + 1) * (ranges + 2) / 6);
        if (tasks < static_cast<double>(tasks_of_a_rank * ranks()) && length > short_range) continue;
        Cut cut{ranges};
        cut.left = std::max(least_left(ranges), std::min(o_ * ranges * ranges, free / 4 / left_part_elements(ranges)));
        cut.right = std::max(least_right(), std::min(o_ * o_, free / 16 / right_part_elements()));
        cut.batch = std::clamp<std::int64_t>(cut.left / least_left(ranges), 1, o_);
        return cut;
    }
    return std::nullopt;
}

/// For blocks on the device, if it has room and ends first.
std::optional<Cut> TriplesEnergy::cut_of_device() const {
    constexpr double calls_of_an_order = 40;
    const auto& state = *world().state();
    const auto& kernels = state.kernels(element_kernels<double>());
    if (kernels.space == nullptr) return std::nullopt;
    std::int64_t free[] = {state.device().free_bytes(), state.free_bytes()};
    state.agree([] {}, free);
    auto cut = cut_within(free[0] / std::int64_t{sizeof(double)},
                          [&](auto ranges, auto left, auto right) { return elements_there(ranges, left, right); });
    if (!cut || elements_beside(cut->ranges) > free[1] / std::int64_t{sizeof(double)}) return std::nullopt;
    const auto ranges = cut->ranges;
    const auto rates = state.machine().device.value_or(DeviceRates());
    const double orders = triples() * static_cast<double>(ranges * ranges * ranges);
    cut->seconds = operations() / rates.flops_per_second + orders * calls_of_an_order * rates.call_seconds;
    if (cut->seconds >= seconds_on_host()) return std::nullopt;
    cut->device = &kernels;
    return cut;
}

/// All ranks choose alike.
Cut TriplesEnergy::choose_cut() const {
    if (const auto there = cut_of_device()) return *there;
    const std::int64_t free = world().state()->least_free_bytes() / std::int64_t{sizeof(double)};
    auto cut = cut_within(free, [&](auto ranges, auto left, auto right) { return elements_for(ranges, left, right); });
    if (cut) cut->seconds = seconds_on_host();
    if (cut) return *cut;
    throw OutOfMemory("(T) over " + std::to_string(v_) + " virtual orbitals needs " +
                      std::to_string(elements_for(v_, least_left(v_), least_right()) * 4 / 3 * std::int64_t{sizeof(double)}) +
                      " bytes of free memory on each rank at least; use more ranks or raise the limit");
}

/// L_i(x,a,b) with a and b in two ranges; number = i, then the range of a, then that of b, the latter fastest.
Part TriplesEnergy::left_part(std::int64_t number) const {
    const std::int64_t b = number % cut_.ranges, a = number / cut_.ranges % cut_.ranges, i = number / (cut_.ranges * cut_.ranges);
    return {{0, range_begin(a), range_begin(b), i}, {v_ + o_, range_begin(a + 1), range_begin(b + 1), i + 1}};
}

/// R_jk; number = j, then k, the latter fastest.
Part TriplesEnergy::right_part(std::int64_t number) const {
    const std::int64_t j = number / o_, k = number % o_;
    return {{0, 0, j, k}, {2 * v_ + o_, v_, j + 1, k + 1}};
}

/// Calls f for all tasks; neighbours use many of the same parts.
template <class F>
void TriplesEnergy::for_each_task(F&& f) const {
    const std::int64_t batches = ceil_div(o_, cut_.batch);
    const auto for_triples = [](std::int64_t count, auto&& g) {
        for (std::int64_t x = 0; x < count; ++x)
            for (std::int64_t y = 0; y <= x; ++y)
                for (std::int64_t z = 0; z <= y; ++z) g(x, y, z);
    };
    const auto end = [&](std::int64_t batch) { return std::min(o_, (batch + 1) * cut_.batch); };
    for_triples(batches, [&](std::int64_t I, std::int64_t J, std::int64_t K) {
        for_triples(cut_.ranges, [&](std::int64_t A, std::int64_t B, std::int64_t C) {
            for (std::int64_t i = I * cut_.batch; i < end(I); ++i)
                for (std::int64_t j = J * cut_.batch; j < std::min(end(J), i + 1); ++j)
                    for (std::int64_t k = K * cut_.batch; k < std::min(end(K), j + 1); ++k)
                        if (i != k) f(TripleTask{{i, j, k}, {A, B, C}});
        });
    });
}

/// This rank's tasks. @param most  gets the largest number of a rank
std::vector<TripleTask> TriplesEnergy::my_tasks(std::int64_t& most) const {
    std::int64_t count = 0;
    for_each_task([&](const TripleTask&) { ++count; });
    const std::int64_t rank = world().rank(), begin = count * rank / ranks(), end = count * (rank + 1) / ranks();
    most = ceil_div(count, ranks());
    std::vector<TripleTask> tasks;
    world().state()->agree([&] {
        std::int64_t at = 0;
        for_each_task([&](const TripleTask& task) {
            if (at >= begin && at < end) tasks.push_back(task);
            ++at;
        });
    });
    return tasks;
}

/// A task without its parts.
TripleBlock TriplesEnergy::block_of(const TripleTask& task) const {
    TripleBlock block;
    block.virtuals = v_;
    block.summed = v_ + o_;
    block.energies = V_.virtuals.data();
    for (std::size_t p = 0; p < 3; ++p) {
        block.begin[p] = range_begin(task.ranges[p]);
        block.length[p] = range_begin(task.ranges[p] + 1) - block.begin[p];
        block.occupied[p] = V_.occupied[task.orbitals[p]];
    }
    return block;
}

/// Calls f(number, pointer) for each part of L that a task uses.
template <class F>
void TriplesEnergy::for_each_left(const TripleTask& task, TripleBlock& block, F&& f) const {
    for (std::size_t p = 0; p < 3; ++p)
        for (std::size_t q = 0; q < 3; ++q) {
            const bool twice = (p < 2 && block.range(p + 1) == p);
            if (block.range(p) != p || block.range(q) != q || (p == q && !twice)) continue;
            for (std::size_t x = 0; x < 3; ++x)
                f((task.orbitals[x] * cut_.ranges + task.ranges[p]) * cut_.ranges + task.ranges[q], block.left[x][p][q]);
        }
}

/// Calls f(number, pointer) for each part of R that a task uses.
template <class F>
void TriplesEnergy::for_each_right(const TripleTask& task, TripleBlock& block, F&& f) const {
    for (std::size_t x = 0; x < 3; ++x)
        for (std::size_t y = 0; y < 3; ++y)
            if (x != y) f(task.orbitals[x] * o_ + task.orbitals[y], block.right[x][y]);
}

double TriplesEnergy::value(const PartDone& done) const {
    WorldState& state = *world().state();
    const bool on_device = cut_.device != nullptr;
    const auto elements = on_device ? elements_beside(cut_.ranges) : elements_for(cut_.ranges, cut_.left, cut_.right);
    const std::int64_t bytes = elements * std::int64_t{sizeof(double)};
    state.make_room(bytes);
    state.note_working(bytes, 0, on_device ? 0 : TripleBlock::blas_memory(v_ + o_, ceil_div(v_, cut_.ranges)));
    state.note_seconds(cut_.seconds / static_cast<double>(ranks()));
    if (world().is_dry_run()) return 0;
    const HeldMemory room(state, on_device ? elements_there(cut_.ranges, cut_.left, cut_.right) * std::int64_t{sizeof(double)} : 0, true);
    const auto* const space = on_device ? cut_.device->space : nullptr;
    const std::vector<double> t1 = t1_.gather();
    std::int64_t steps = 0;
    const std::vector<TripleTask> tasks = my_tasks(steps);
    KeptParts left(
        left_, space, [&](std::int64_t number) { return left_part(number); }, left_part_elements(cut_.ranges), cut_.left);
    KeptParts right(
        right_, space, [&](std::int64_t number) { return right_part(number); }, right_part_elements(), cut_.right);
    Buffer<double> work;
    std::optional<DeviceTriples> there;
    state.agree([&] {
        std::int64_t most = 0;
        for (const TripleTask& task : tasks) {
            const TripleBlock block = block_of(task);
            most = std::max(most, on_device ? DeviceTriples::elements_of(block) : block.connected_elements());
        }
        if (on_device)
            there.emplace(*cut_.device, V_.virtuals, t1, most);
        else
            work = Buffer<double>(most);
    });

    double energy = 0;
    FirstError error;
    std::vector<std::int64_t> numbers;
    const auto note = [&](std::int64_t number, const double*) { numbers.push_back(number); };
    for (std::int64_t step = 0; step < steps; ++step) {
        const TripleTask* const task = step < std::ssize(tasks) ? &tasks[step] : nullptr;
        TripleBlock block = task != nullptr ? block_of(*task) : TripleBlock();
        for (const bool is_left : {true, false}) {
            numbers.clear();
            if (task != nullptr) is_left ? for_each_left(*task, block, note) : for_each_right(*task, block, note);
            const std::vector<const double*> here = (is_left ? left : right).use(numbers);
            auto part = here.begin();
            const auto take = [&](std::int64_t, const double*& pointer) { pointer = *part++; };
            if (task != nullptr) is_left ? for_each_left(*task, block, take) : for_each_right(*task, block, take);
        }
        if (task != nullptr) {
            for (std::size_t x = 0; x < 3; ++x) block.singles[x] = t1.data() + v_ * task->orbitals[x];
            // How often the orbitals occur among all i, j, k.
            const bool equal = task->orbitals[0] == task->orbitals[1] || task->orbitals[1] == task->orbitals[2];
            error.run([&] { energy += (equal ? 3 : 6) * (there ? there->energy(block, task->orbitals) : block.energy(work.data())); });
        }
        if (done) done(static_cast<double>(step + 1) / steps);
    }
    state.agree([&] { error.rethrow(); });
    if (const Communicator* const comm = state.movement_communicator()) comm->sum(&energy, 1);
    return energy / 3;
}

}  // namespace

double rtriples_energy(const SpatialIntegrals& integrals, const TensorSet& t, const PartDone& done) {
    const std::int64_t o = integrals.spaces.occupied, v = integrals.spaces.virtuals;
    const Tensor<double>&t1 = t["T1"], &t2 = t["T2"];
    if (t1.extents() != std::vector<std::int64_t>{v, o} || t2.extents() != integrals.V.extents() || t2.symmetry() != integrals.V.symmetry())
        throw InvalidArgument("rtriples_energy: T1 and T2 have not the shapes and symmetries of rmp2_amplitudes()");
    if (o == 0 || v == 0) return 0;
    return TriplesEnergy(integrals, t).value(done);
}

}  // namespace arges::chemistry

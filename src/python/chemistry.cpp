// Coupled cluster on integrals in memory, or in a file.
#include "python/chemistry.hpp"

#include "python/arrays.hpp"

namespace arges::python {

namespace {

using chemistry::CcOptions;
using chemistry::CcProgress;
using chemistry::CcResult;
using chemistry::Fcidump;
using chemistry::TensorSet;

/// Elements that are written at once: what the first rank sends at a time.
constexpr std::size_t round_elements = std::size_t(1) << 20;

/// Keys of the pairs p >= q, row by row: p + n q.
std::vector<std::int64_t> pair_keys(std::int64_t n) {
    std::vector<std::int64_t> keys;
    for (std::int64_t p = 0; p < n; ++p)
        for (std::int64_t q = 0; q <= p; ++q) keys.push_back(p + n * q);
    return keys;
}

/// Keys of one element of each orbit of a tensor of integrals, in the order in which the package gives their values: h(p,q) of the pairs
/// p >= q; (pq|rs) of pairs row by row, where both count the same orbitals of those rows the lower triangle only.
class OrbitKeys {
public:
    OrbitKeys(const Tensor<double>& tensor, bool joint)
        : n_(tensor.extents()[0]), pairs_(pair_keys(n_)), first_(tensor.order() == 2 ? std::vector<std::int64_t>{0} : pairs_),
          joint_(joint && tensor.order() == 4), scale_(tensor.order() == 2 ? 1 : n_ * n_) {}

    /// Number of all keys.
    std::size_t count() const { return joint_ ? pairs_.size() * (pairs_.size() + 1) / 2 : first_.size() * pairs_.size(); }
    /// The next keys, at most so many.
    std::vector<std::int64_t> next(std::size_t most) {
        std::vector<std::int64_t> keys;
        for (; row_ < first_.size() && keys.size() < most; column_ = 0, ++row_) {
            const std::size_t length = joint_ ? row_ + 1 : pairs_.size();
            for (; column_ < length && keys.size() < most; ++column_)
                keys.push_back(scale_ == 1 ? pairs_[column_] : first_[row_] + scale_ * pairs_[column_]);
            if (column_ < length) break;
        }
        return keys;
    }

private:
    std::int64_t n_;
    std::vector<std::int64_t> pairs_, first_;
    bool joint_;
    std::int64_t scale_;
    std::size_t row_ = 0, column_ = 0;
};

/// Writes integrals that the first rank has. Collective. @param values  counted on the first rank only
void write_from_first(Tensor<double>& tensor, bool joint, std::span<const double> values) {
    const World& world = tensor.world();
    if (world.is_dry_run()) return;
    OrbitKeys keys(tensor, joint);
    const auto count = keys.count();
    world.agree([&] {
        if (world.rank() == 0 && values.size() != count)
            throw InvalidArgument(tensor.name() + ": " + std::to_string(values.size()) + " integrals for " + std::to_string(count));
    });
    for (std::size_t begin = 0; begin < count; begin += round_elements) {
        const auto length = std::min(round_elements, count - begin);
        if (world.rank() == 0)
            tensor.write(keys.next(length), values.subspan(begin, length));
        else
            tensor.write({}, {});
    }
}

chemistry::FcidumpHeader header_of(const nb::dict& given) {
    chemistry::FcidumpHeader header;
    take(given, "orbitals", header.orbitals, "electrons", header.electrons, "ms2", header.ms2);
    if (nb::cast<bool>(given["unrestricted"])) header.form = chemistry::OrbitalForm::spin_blocks;
    return header;
}

}  // namespace

Fcidump integrals_of(const World& world, const nb::dict& given) {
    chemistry::FcidumpHeader header;
    double core_energy = 0;
    world.agree([&] {
        header = header_of(given);
        core_energy = nb::cast<double>(given["core_energy"]);
    });
    Fcidump data = chemistry::empty_fcidump(world, header);
    data.core_energy = core_energy;
    const auto fill = [&](Tensor<double>& tensor, const char* name, bool joint) {
        std::optional<ConstArray> array;
        std::span<const double> values;
        world.agree([&] {
            if (world.rank() != 0) return;
            array = nb::cast<ConstArray>(given[name]);
            values = span_of<double>(*array);
        });
        write_from_first(tensor, joint, values);
    };
    fill(data.one_electron, "h", true);
    fill(data.two_electron, "eri", true);
    if (data.beta) {
        fill(data.beta->one_electron, "h_beta", true);
        fill(data.beta->two_electron, "eri_beta", true);
        fill(data.beta->mixed, "eri_mixed", false);
    }
    return data;
}

TensorSet set_of(const nb::dict& tensors) {
    std::vector<std::pair<std::string, Tensor<double>>> members;
    for (const auto& [name, handle] : tensors) {
        members.emplace_back(nb::cast<std::string>(name), amplitudes_of(nb::cast<const AnyTensor&>(handle)));
    }
    return TensorSet(std::move(members));
}

nb::dict dict_of(TensorSet tensors) {
    nb::dict result;
    for (auto& member : tensors.members()) {
        const std::string name = member.name();
        result[name.c_str()] = static_cast<AnyTensor&&>(member);
    }
    return result;
}

namespace {

CcOptions options_of(const nb::dict& given) {
    CcOptions options;
    options.method = chemistry::parse_method(nb::cast<std::string>(given["method"]));
    auto& solver = options.solver;
    take(given, "max_iterations", solver.max_iterations, "tolerance", solver.tolerance, "diis_vectors", solver.diis_vectors,
         "frozen_virtuals", options.frozen.virtuals, "checkpoint", options.checkpoint.path, "restart", options.checkpoint.restart,
         "keep_amplitudes", options.keep_amplitudes, "core_energy", options.integrals.core_energy);
    options.find_core = nb::isinstance<nb::str>(given["frozen_core"]);
    if (!options.find_core) take(given, "frozen_core", options.frozen.core);
    return options;
}

nb::dict seconds_of(const chemistry::CcSeconds& seconds) {
    return named("reading", seconds.reading, "preparation", seconds.preparation, "iteration", seconds.iteration, "triples",
                 seconds.triples);
}

nb::dict result_of(CcResult found) {
    nb::dict energies;
    for (const auto& [method, correlation] : found.energies) energies[chemistry::name_of(method).c_str()] = correlation;
    return named("scf", found.scf, "energies", energies, "iterations", found.iterations, "seconds", seconds_of(found.seconds),
                 "forecast_seconds", seconds_of(found.forecast_seconds), "peak_memory_bytes", found.peak_memory_bytes,
                 "forecast_memory_bytes", found.forecast_memory_bytes, "ranks", found.ranks, "frozen_core", found.frozen.core,
                 "frozen_virtuals", found.frozen.virtuals, "amplitudes", dict_of(std::move(found.amplitudes)));
}

}  // namespace

chemistry::Progress progress_of(const World& world, const nb::object& progress) {
    return [&world, &progress](const chemistry::IterationReport& now) {
        const nb::gil_scoped_acquire hold;
        raise_interruption(world);
        if (progress.is_none()) return;
        const auto fields = named("number", now.iteration, "energy", now.energy, "residual", now.residual, "seconds", now.seconds);
        agree(world, function_of([&] { return progress(fields); }));
    };
}

void bind_chemistry(nb::module_& module) {
    module.def(
        "coupled_cluster",
        [](const World& world, const nb::object& source, const nb::dict& given, const nb::dict& guess, const nb::object& progress) {
            CcOptions options;
            TensorSet amplitudes;
            std::optional<std::string> path;
            world.agree([&] {
                options = options_of(given);
                amplitudes = set_of(guess);
                if (nb::isinstance<nb::str>(source)) path = nb::cast<std::string>(source);
            });
            if (!amplitudes.members().empty()) options.guess = &amplitudes;
            CcProgress shown;
            shown.iteration = progress_of(world, progress);
            std::optional<chemistry::Fcidump> integrals;
            if (!path) integrals = integrals_of(world, nb::cast<nb::dict>(source));
            return result_of(outside_interpreter([&] {
                return path ? run_coupled_cluster(world, *path, options, shown)
                            : run_coupled_cluster(*std::move(integrals), options, shown);
            }));
        },
        nb::arg("world"), nb::arg("source"), nb::arg("options"), nb::arg("guess"), nb::arg("progress").none());
    bind_chemistry_pieces(module);
    module.def("plan_coupled_cluster", [](const World& world, const nb::dict& header, const nb::dict& given, std::int64_t ranks) {
        chemistry::FcidumpHeader head;
        CcOptions options;
        world.agree([&] {
            head = header_of(header);
            options = options_of(given);
        });
        return result_of(outside_interpreter([&] { return plan_coupled_cluster(world, head, options, ranks); }));
    });
    module.def("write_integrals", [](const World& world, const std::string& path, const nb::dict& integrals) {
        chemistry::write_integrals(path, integrals_of(world, integrals));
    });
}

}  // namespace arges::python

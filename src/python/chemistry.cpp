// Coupled cluster on integrals in memory, or in a file.
#include "python/arrays.hpp"
#include "python/bindings.hpp"

#include "arges/chemistry.hpp"

namespace arges::python {

namespace {

using chemistry::CcOptions;
using chemistry::CcProgress;
using chemistry::CcResult;
using chemistry::Fcidump;

/// This rank's share of some pairs that every rank has.
void write_share(Tensor<double>& tensor, const ConstArray& keys, const ConstArray& values) {
    const auto all = span_of<std::int64_t>(keys);
    const auto numbers = span_of<double>(values);
    const auto count = static_cast<std::int64_t>(all.size()), size = tensor.world().size(), rank = tensor.world().rank();
    const auto begin = static_cast<std::size_t>(count * rank / size), end = static_cast<std::size_t>(count * (rank + 1) / size);
    if (tensor.world().is_dry_run()) return;
    tensor.write(all.subspan(begin, end - begin), numbers.subspan(begin, end - begin));
}

chemistry::FcidumpHeader header_of(const nb::dict& given) {
    chemistry::FcidumpHeader header;
    header.orbitals = nb::cast<std::int64_t>(given["orbitals"]);
    header.electrons = nb::cast<std::int64_t>(given["electrons"]);
    header.ms2 = nb::cast<std::int64_t>(given["ms2"]);
    if (nb::cast<bool>(given["unrestricted"])) header.form = chemistry::OrbitalForm::spin_blocks;
    return header;
}

/// @param given  core_energy; h, eri and, unrestricted, h_beta, eri_beta, eri_mixed: pairs of keys and values
Fcidump integrals_of(const World& world, const nb::dict& given) {
    Fcidump data;
    world.agree([&] {
        const auto header = header_of(given);
        data.header = header;
        data.core_energy = nb::cast<double>(given["core_energy"]);
    });
    const auto core_energy = data.core_energy;
    data = chemistry::empty_fcidump(world, data.header);
    data.core_energy = core_energy;
    const auto fill = [&](Tensor<double>& tensor, const char* name) {
        std::pair<ConstArray, ConstArray> pairs;
        world.agree([&] {
            const auto both = nb::cast<nb::tuple>(given[name]);
            pairs = {nb::cast<ConstArray>(both[0]), nb::cast<ConstArray>(both[1])};
        });
        write_share(tensor, pairs.first, pairs.second);
    };
    fill(data.one_electron, "h");
    fill(data.two_electron, "eri");
    if (data.beta) {
        fill(data.beta->one_electron, "h_beta");
        fill(data.beta->two_electron, "eri_beta");
        fill(data.beta->mixed, "eri_mixed");
    }
    return data;
}

CcOptions options_of(const nb::dict& given) {
    CcOptions options;
    options.method = chemistry::parse_method(nb::cast<std::string>(given["method"]));
    options.solver.max_iterations = nb::cast<int>(given["max_iterations"]);
    options.solver.tolerance = nb::cast<double>(given["tolerance"]);
    options.solver.diis_vectors = nb::cast<int>(given["diis_vectors"]);
    options.frozen.core = nb::cast<std::int64_t>(given["frozen_core"]);
    options.frozen.virtuals = nb::cast<std::int64_t>(given["frozen_virtuals"]);
    options.checkpoint.path = nb::cast<std::string>(given["checkpoint"]);
    options.checkpoint.restart = nb::cast<bool>(given["restart"]);
    return options;
}

nb::dict seconds_of(const chemistry::CcSeconds& seconds) {
    nb::dict result;
    result["reading"] = seconds.reading;
    result["preparation"] = seconds.preparation;
    result["iteration"] = seconds.iteration;
    result["triples"] = seconds.triples;
    return result;
}

nb::dict result_of(const CcResult& found) {
    nb::dict result, energies;
    for (const auto& [method, correlation] : found.energies) energies[chemistry::name_of(method).c_str()] = correlation;
    result["scf"] = found.scf;
    result["energies"] = energies;
    result["iterations"] = found.iterations;
    result["seconds"] = seconds_of(found.seconds);
    result["forecast_seconds"] = seconds_of(found.forecast_seconds);
    result["peak_memory_bytes"] = found.peak_memory_bytes;
    result["forecast_memory_bytes"] = found.forecast_memory_bytes;
    result["ranks"] = found.ranks;
    return result;
}

CcProgress progress_of(const World& world, const nb::object& progress) {
    CcProgress result;
    result.iteration = [&world, progress](const chemistry::IterationReport& now) {
        raise_interruption(world);
        if (progress.is_none()) return;
        nb::dict fields;
        fields["number"] = now.iteration;
        fields["energy"] = now.energy;
        fields["residual"] = now.residual;
        fields["seconds"] = now.seconds;
        agree(world, function_of([&] { return progress(fields); }));
    };
    return result;
}

}  // namespace

void bind_chemistry(nb::module_& module) {
    module.def(
        "coupled_cluster",
        [](const World& world, const nb::dict& integrals, const nb::dict& given, const nb::object& progress) {
            CcOptions options;
            world.agree([&] { options = options_of(given); });
            return result_of(run_coupled_cluster(integrals_of(world, integrals), options, progress_of(world, progress)));
        },
        nb::arg("world"), nb::arg("integrals"), nb::arg("options"), nb::arg("progress").none());
    module.def(
        "coupled_cluster_file",
        [](const World& world, const std::string& path, const nb::dict& given, const nb::object& progress) {
            CcOptions options;
            world.agree([&] { options = options_of(given); });
            return result_of(run_coupled_cluster(world, path, options, progress_of(world, progress)));
        },
        nb::arg("world"), nb::arg("path"), nb::arg("options"), nb::arg("progress").none());
    module.def("plan_coupled_cluster", [](const World& world, const nb::dict& header, const nb::dict& given, std::int64_t ranks) {
        return result_of(plan_coupled_cluster(world, header_of(header), options_of(given), ranks));
    });
    module.def("write_integrals", [](const World& world, const std::string& path, const nb::dict& integrals) {
        chemistry::write_integrals(path, integrals_of(world, integrals));
    });
}

}  // namespace arges::python

// What methods of one's own are made of: blocks of integrals, DIIS, denominators, the solver.
#include "python/chemistry.hpp"

#include <nanobind/stl/tuple.h>

namespace arges::python {

namespace {

using chemistry::Fcidump;
using chemistry::TensorSet;
using Numbers = std::vector<double>;

/// Integrals that are cut into blocks, and their reference.
struct Prepared {
    Fcidump data;
    chemistry::Reference reference;
};

/// Without frozen orbitals, and over semicanonical ones. Collective. @param source  a path, or what integrals_of() takes
Prepared prepared(const World& world, const nb::object& source, std::int64_t core, std::int64_t virtuals, bool find_core) {
    std::string path;
    world.agree([&] {
        if (nb::isinstance<nb::str>(source)) path = nb::cast<std::string>(source);
    });
    const std::string title = path.empty() ? "integrals in memory" : path;
    Fcidump data = path.empty() ? integrals_of(world, nb::cast<nb::dict>(source)) : chemistry::read_integrals(world, path);
    chemistry::FrozenOrbitals frozen{core, virtuals};
    if (find_core) frozen.core = chemistry::core_orbitals(data, title);
    if (frozen.any()) data = without_frozen(data, frozen);
    auto reference = chemistry::build_reference(data, title);
    if (!reference.is_semicanonical()) {
        data = semicanonical(data, reference);
        reference = chemistry::build_reference(data, title);
    }
    return {std::move(data), std::move(reference)};
}

/// The tensors of a dict by the names of others and in their order. They are those of the dict, not copies.
TensorSet set_in_order(const nb::dict& tensors, const TensorSet& names) {
    nb::dict ordered;
    for (const auto& member : names.members()) {
        if (!tensors.contains(member.name().c_str()))
            throw InvalidArgument("there is no tensor '" + member.name() + "' among the residuals; give one for each of the amplitudes");
        ordered[member.name().c_str()] = tensors[member.name().c_str()];
    }
    return set_of(ordered);
}

nb::tuple solve(const World& world, const std::string& method, const std::pair<nb::callable, nb::callable>& functions,
                const nb::dict& start, const std::pair<Numbers, Numbers>& energies, const std::tuple<int, double, int>& options,
                const nb::object& progress) {
    chemistry::AmplitudeEquations equations{method};
    // The solver changes what it is given: both sides get copies.
    equations.residuals = [&](const TensorSet& t) {
        const TensorSet found = set_in_order(nb::cast<nb::dict>(functions.first(dict_of(t))), t);
        return TensorSet(found);
    };
    equations.energy = [&](const TensorSet& t) { return nb::cast<double>(nb::float_(functions.second(dict_of(t)))); };
    equations.divide = [&](Tensor<double>& residual) { chemistry::divide_by_denominators(residual, energies.first, energies.second); };
    chemistry::SolverHooks hooks;
    hooks.progress = progress_of(world, progress);
    const auto& [iterations, tolerance, vectors] = options;
    const TensorSet first = set_of(start);
    auto solution = solve_amplitudes(equations, first, {iterations, tolerance, vectors}, hooks);
    return nb::make_tuple(solution.energy, dict_of(std::move(solution.amplitudes)), solution.iterations);
}

/// Moves blocks into a dict, names and blocks in turn.
template <class... Rest>
nb::dict blocks_of(nb::dict result, const char* name, Tensor<double>& block, Rest&... rest) {
    block.set_name(name);
    result[name] = static_cast<AnyTensor&&>(block);
    if constexpr (sizeof...(rest) > 0) blocks_of(result, rest...);
    return result;
}

/// Blocks, orbital energies, energy of the reference and first-order amplitudes.
nb::tuple spin_integrals(const World& world, const nb::object& source, std::int64_t core, std::int64_t virtuals, bool find_core) {
    auto [data, reference] = prepared(world, source, core, virtuals, find_core);
    auto found = build_integrals(data, reference, chemistry::IntegralSet::coupled_cluster);
    data = {};
    auto first = first_order_amplitudes(found, 2);
    const auto blocks = blocks_of({}, "oovv", found.oovv, "oooo", found.oooo, "ooov", found.ooov, "ovvo", found.ovvo, "ovvv", found.ovvv,
                                  "vvvv", found.vvvv, "f_oo", found.f_oo, "f_ov", found.f_ov, "f_vv", found.f_vv);
    return nb::make_tuple(blocks, found.occupied, found.virtuals, reference.energy, dict_of(std::move(first)));
}

nb::tuple spatial_integrals(const World& world, const nb::object& source, std::int64_t core, std::int64_t virtuals, bool find_core) {
    auto [data, reference] = prepared(world, source, core, virtuals, find_core);
    auto found = build_spatial_integrals(data, reference, chemistry::IntegralSet::coupled_cluster);
    data = {};
    auto first = rmp2_amplitudes(found);
    const auto blocks =
        blocks_of({}, "V", found.V, "L", found.L, "M", found.M, "J", found.J, "K", found.K, "N", found.N, "oovv_plus", found.oovv.plus,
                  "oovv_minus", found.oovv.minus, "oooo_plus", found.oooo.plus, "oooo_minus", found.oooo.minus, "ovvv_plus",
                  found.ovvv.plus, "ovvv_minus", found.ovvv.minus, "vvvv_plus", found.vvvv.plus, "vvvv_minus", found.vvvv.minus, "f_oo",
                  found.f_oo, "f_ov", found.f_ov, "f_vv", found.f_vv);
    return nb::make_tuple(blocks, found.occupied, found.virtuals, reference.energy, dict_of(std::move(first)));
}

}  // namespace

void bind_chemistry_pieces(nb::module_& module) {
    module.def("spin_integrals", &spin_integrals);
    module.def("spatial_integrals", &spatial_integrals);
    module.def("solve_amplitudes", &solve, nb::arg("world"), nb::arg("method"), nb::arg("functions"), nb::arg("start"), nb::arg("energies"),
               nb::arg("options"), nb::arg("progress").none());
    module.def("divide_by_denominators", [](const AnyTensor& tensor, const Numbers& occupied, const Numbers& virtuals) {
        auto residual = amplitudes_of(tensor);
        chemistry::divide_by_denominators(residual, occupied, virtuals);
    });
    nb::class_<chemistry::Diis>(module, "Diis")
        .def(nb::init<int>())
        .def("extrapolate", [](chemistry::Diis& self, const nb::dict& iterate, const nb::dict& error) {
            const TensorSet given = set_of(iterate);
            TensorSet own = given;
            self.extrapolate(own, set_in_order(error, own));
            return dict_of(std::move(own));
        });
}

}  // namespace arges::python

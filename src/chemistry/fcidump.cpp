#include "arges/chemistry/fcidump.hpp"

namespace arges::chemistry {

Fcidump empty_fcidump(const World& world, const FcidumpHeader& header) {
    const std::int64_t n = header.orbitals;
    const auto one = [&](const char* name) { return Tensor<double>(world, {n, n}, "pq", "sym(p,q)", name); };
    const auto two = [&](const char* symmetry, const char* name) { return Tensor<double>(world, {n, n, n, n}, "pqrs", symmetry, name); };
    const char* const all = "sym(sym(p,q),sym(r,s))";
    Fcidump data{header, 0.0, {}, one("h"), two(all, "(pq|rs)"), {}};
    if (header.form != OrbitalForm::restricted)
        data.beta = BetaIntegrals{{}, one("h of beta"), two(all, "(pq|rs) of beta"), two("sym(p,q) sym(r,s)", "(pq|rs) of alpha and beta")};
    return data;
}

}  // namespace arges::chemistry

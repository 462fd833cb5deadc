// Wrong uses of the library and what it answers; docs/errors.md shows the messages.
#include "base/options.hpp"
#include "interface/wrong_uses.hpp"

namespace arges::test {
namespace {

constexpr const char* memory = "OutOfMemory";

/// The two cures of a right-hand side without the symmetry of the output.
const std::vector<std::string> antisymmetric_cures{"by structure", "antisymmetrized(...)", "canonical(...)"};

TEST(WrongUses, OfIndexStringsAreRefused) {
    check_uses({
        {ARGES_USE(N["ij"] = M["i"]), invalid, {"M[\"i\"]", "1 labels", "order 2", "one label per dimension"}},
        {ARGES_USE(N["ij"] = M["ijk"]), invalid, {"M[\"ijk\"]", "3 labels", "order 2", "one label per dimension"}},
        {ARGES_USE(N["i"] = 1.0), invalid, {"N[\"i\"]", "1 labels", "order 2"}},
        {ARGES_USE(N["ijk"] *= 2.0), invalid, {"N[\"ijk\"]", "3 labels", "order 2"}},
        {ARGES_USE(x[""] = N["i?"]), invalid, {"N[\"i?\"]", "\"?\" is not a label", "letters, digits and underscores"}},
        {ARGES_USE(x[""] = N["i "]), invalid, {"\" \" is not a label"}},
        {ARGES_USE(x[""] = N[{"a1", ""}]), invalid, {"\"\" is not a label", "list of names"}},
        {ARGES_USE(N["ij"] = M["ij"]),
         invalid,
         {"label 'j'", "extent 5 in dimension 1 of M[\"ij\"]", "4 in dimension 1 of N[\"ij\"]", "one extent"}},
        {ARGES_USE(N["ij"] = M["ik"] * N["kj"]),
         invalid,
         {"label 'k'", "extent 5 in dimension 1 of M[\"ik\"]", "4 in dimension 0 of N[\"kj\"]"}},
        {ARGES_USE(contract(2.0, M, "ik", N, "kj", 0.0, N, "ij")), invalid, {"label 'k'", "extent 5", "but 4"}},
        {ARGES_USE(x[""] = M["ii"]), invalid, {"label 'i'", "extent 4 in dimension 0 of M[\"ii\"]", "5 in dimension 1"}},
        {ARGES_USE(M["ii"] = v["i"]), invalid, {"label 'i'", "extent 4 in dimension 0 of v[\"i\"]", "5 in dimension 1 of M"}},
        {ARGES_USE(N["ij"] += N["ij"] + v["k"] * M["ik"]), invalid, {"label 'k'", "extent 4", "but 5 in dimension 1 of M"}},
        {ARGES_USE(explain(N["ij"], M["ij"])), invalid, {"label 'j'", "extent 5", "but 4"}},
        {ARGES_USE(N["ij"] = N["ik"] * S["kl"]),
         invalid,
         {"'j' of the output", "'l' occurs only once", "broadcast(\"j\", ...)", "sum(\"l\", ...)"}},
        {ARGES_USE(N["ij"] = broadcast("j", N["ij"])), invalid, {"broadcast(\"j\")", "leave it out"}},
        {ARGES_USE(x[""] = sum("i", N["ii"])), invalid, {"sum(\"i\")", "leave it out"}},
        {ARGES_USE(N["ij"] = F["ij"]), invalid, {"N and F", "different worlds", "transfer()"}},
        {ARGES_USE(N["ij"] = D["ij"]), invalid, {"has no shape yet", "construct it"}},
    });
}

TEST(WrongUses, OfTheSymmetryOfTheOutputAreRefusedWithTwoCures) {
    check_uses({
        {ARGES_USE(A["ij"] = N["ij"]), invalid, antisymmetric_cures},
        {ARGES_USE(A["ij"] = N["ij"] + N["ji"]), invalid, antisymmetric_cures},
        {ARGES_USE(A["ij"] = N["ij"] - 2.0 * N["ji"]), invalid, antisymmetric_cures},
        {ARGES_USE(A["ij"] = N["ik"] * S["kj"]),
         invalid,
         {"their exchange leads to N[\"jk\"]*S[\"ki\"]", "with the opposite sign; antisymmetrized(...)"}},
        {ARGES_USE(A["ij"] += S["ij"]), invalid, {"A is antisymmetric in (i) and (j)", "antisymmetrized(...)"}},
        {ARGES_USE(A["ij"] = 1.0), invalid, antisymmetric_cures},
        {ARGES_USE(S["ij"] = N["ik"] * N["kj"]),
         invalid,
         {"S is symmetric in (i) and (j)", "by structure", "symmetrized(...)", "canonical(...)"}},
        {ARGES_USE(H["ij"] = S["ij"]), invalid, {"H is hollow", "i,j", "canonical(...)", "symmetrized(...)"}},
        {ARGES_USE(Z["ij"] = Q["ij"]), invalid, {"Z is hermitian in (i) and (j)", "canonical(...)"}},
        {ARGES_USE(Z["ij"] = Complex(0, 1) * Z["ij"]), invalid, {"Z is hermitian", "by structure"}},
        {ARGES_USE(Z["ij"] *= Complex(0, 1)), invalid, {"Z is hermitian", "not real"}},
        {ARGES_USE(E["pqrs"] = E["prqs"]), invalid, {"E is symmetric in"}},
        {ARGES_USE(N["ij"] = antisymmetrized(N["ij"])), invalid, {"N has no antisymmetric group", "declare the symmetry"}},
        {ARGES_USE(N["ij"] = symmetrized(N["ij"])), invalid, {"N has no symmetric group", "leave the projection out"}},
        {ARGES_USE(A["ij"] = symmetrized(N["ij"])), invalid, antisymmetric_cures},
        {ARGES_USE(A["ij"] = antisymmetrized(N["ik"]) * antisymmetrized(N["kj"])),
         invalid,
         {"multiplied by a number only", "put the whole product inside"}},
        {ARGES_USE(S["ij"] = canonical(N["ik"]) * N["kj"]), invalid, {"multiplied by a number only"}},
        {ARGES_USE(A["ii"] = v["i"]), invalid, {"A: the diagonal over i,i is zero by symmetry", "no symmetry there"}},
        {ARGES_USE(Z["ii"] = Q["ii"]), invalid, {"Z: the diagonal over i,i is real by symmetry", "by structure", "canonical(...)"}},
        {ARGES_USE(S3["iij"] = N["ij"]), unsupported, {"S3", "i,i,j", "part of the diagonal", "canonical(...)"}},
    });
}

TEST(WrongUses, OfSymmetryDeclarationsAreRefused) {
    check_uses({
        {ARGES_USE(Symmetry::parse("ij", "anti(i,j)")), invalid, {"unknown node \"anti\"", "known: product, sym", "position 1"}},
        {ARGES_USE(Symmetry::parse("ij", "sym(i,j")), invalid, {"closing parenthesis is missing", "position 8", "write e.g."}},
        {ARGES_USE(Symmetry::parse("ij", "sym(i,)")), invalid, {"a dimension or a node is missing"}},
        {ARGES_USE(Symmetry::parse("ij", "sym(i,k)")), invalid, {"unknown dimension \"k\" at position 7", "letters of \"ij\""}},
        {ARGES_USE(Symmetry::parse("ij", "sym(i,i)")), invalid, {"dimension 0 is named twice", "once"}},
        {ARGES_USE(Symmetry::parse("ii", "sym(i,i)")), invalid, {"'i' names two dimensions", "its own letter"}},
        {ARGES_USE(Symmetry::parse("ij", "sym(i)")), invalid, {"sym needs at least two children, got 1"}},
        {ARGES_USE(Symmetry::parse("ijk", "sym(i,product(j,k))")), invalid, {"children of sym", "same shape", "e.g."}},
        {ARGES_USE(Symmetry::parse("ijk", "hermitian(i,j,k)")), invalid, {"hermitian needs exactly two children, got 3"}},
        {ARGES_USE(Symmetry(2, symmetric({leaf(0), leaf(2)}))), invalid, {"dimension 2", "order 2", "counted from 0"}},
        {ARGES_USE(Symmetry::from_relations({AS, AS, AS})), invalid, {"{AS, AS, AS}", "did you mean {AS, AS, NS}?"}},
        {ARGES_USE(Symmetry::from_relations({SY, AS, NS})), invalid, {"{SY, AS, NS}", "did you mean {SY, SY, NS}?"}},
        {ARGES_USE(Tensor<double>(world, {4, 4}, {NS, SH})), invalid, {"{NS, SH}", "last of a group is NS", "{NS, NS}?"}},
        {ARGES_USE(Tensor<double>(world, {4, 4, 4}, {AS, NS}, "B")), invalid, {"B", "2 entries", "order 3", "one entry per"}},
        {ARGES_USE(Tensor<double>(world, {4, 4}, "ijk", "sym(i,j)", "B")), invalid, {"3 letters in \"ijk\"", "order 2"}},
        {ARGES_USE(Tensor<double>(world, {4, 4}, symmetric({leaf(0), leaf(2)}), "B")),
         invalid,
         {"B: a symmetry of order 3", "order 2", "leave out"}},
        {ARGES_USE(Tensor<double>(world, {4, 5}, {SY, NS}, "B")),
         invalid,
         {"B: dimensions 0 and 1", "extents 4 and 5", "make them equal or remove the symmetry"}},
        {ARGES_USE(M.with_symmetry(antisymmetric({leaf(0), leaf(1)}))), invalid, {"extents 4 and 5"}},
        {ARGES_USE(N.with_symmetry(antisymmetric({leaf(1), leaf(2)}))), invalid, {"order 3", "order 2"}},
    });
}

TEST(WrongUses, OfExtentsAndMemoryAreRefused) {
    check_uses({
        {ARGES_USE(Tensor<double>(world, {4, -1}, "B")), invalid, {"B: extent -1 of dimension 1", "must not be negative"}},
        {ARGES_USE(Tensor<double>(world, {1L << 32, 1L << 31})), invalid, {"more than 2^63 - 1 elements", "64-bit keys"}},
        {ARGES_USE(Tensor<double>(world, {1L << 31, 1L << 31}, "B")), memory, {"B: ", "over the limit", "more ranks", "raise"}},
        {ARGES_USE(Tensor<double>(small, {640, 640}, "B")), memory, {"B: ", "over the limit of", "set_memory_limit"}},
        {ARGES_USE(W["ij"] = conj(W["ik"]) * W["kj"]),
         memory,
         {"a copy of W, which is on both sides, takes", "limit", "ARGES_MEMORY_LIMIT"}},
        {ARGES_USE(world.set_memory_limit(-1)), invalid, {"-1 bytes", "must not be negative"}},
        {ARGES_USE(world.set_memory_limit(world.rank() == 0 ? -1 : 1L << 40)), invalid, {"-1 bytes"}},
        {ARGES_USE(parse_bytes("lots", "ARGES_MEMORY_LIMIT")), invalid, {"ARGES_MEMORY_LIMIT: \"lots\"", "e.g. 512M or 2G"}},
        {ARGES_USE(parse_bytes("-2G", "ARGES_MEMORY_LIMIT")), invalid, {"\"-2G\" is not a size"}},
        {ARGES_USE(parse_bytes("2GG", "ARGES_MEMORY_LIMIT")), invalid, {"\"2GG\" is not a size"}},
        {ARGES_USE(Environment e("ARGES_MEMORY_LIMIT", "2 gigabytes"); World w), invalid, {"ARGES_MEMORY_LIMIT", "not a size"}},
        {ARGES_USE(Environment e("ARGES_GROUP_MAPPING", "cyclic"); World w), invalid, {"\"cyclic\"", "use packed, blocks or best"}},
        {ARGES_USE(Environment e("ARGES_DEVICE", "opencl"); World w), invalid, {"\"opencl\"", "use cuda or none"}},
        {ARGES_USE(World w(Device(DeviceKind::none, -1))), invalid, {"-1 bytes", "must not be negative"}},
        {ARGES_USE(Environment e("ARGES_RANK_ORDER", "node"); World w), invalid, {"\"node\"", "use given or machine"}},
        {ARGES_USE(Environment e("ARGES_COORDINATES", "/nowhere/xyz"); World w), invalid, {"/nowhere/xyz", "cannot be read", "unset it"}},
    });
}

double squared(double x) { return x * x; }
double product(double x, double y) { return x * y; }
void square(double& x) { x *= x; }

TEST(WrongUses, OfElementTypesAndFunctionsAreRefused) {
    check_uses({
        {ARGES_USE(Tensor<bool>(world, {4, 4}, "ij", "antisym(i,j)")), invalid, {"antisym", "negative"}},
        {ARGES_USE(N["ii"] = map(squared, v["i"])), invalid, {"N[\"ii\"]", "a label is repeated"}},
        {ARGES_USE(N["i"] = map(squared, v["i"])), invalid, {"N[\"i\"]", "1 labels", "order 2"}},
        {ARGES_USE(N["ij"] = map(squared, v["ij"])), invalid, {"v[\"ij\"]", "2 labels", "order 1"}},
        {ARGES_USE(N["ij"] = map(squared, M["ij"])), invalid, {"M[\"ij\"]", "'j' has extents 5 and 4"}},
        {ARGES_USE(v["i"] = map(squared, N["ij"])), invalid, {"no label 'j'", "sum over it"}},
        {ARGES_USE(N["ij"] = map(squared, F["ij"])), invalid, {"different worlds", "transfer()"}},
        {ARGES_USE(S["ij"] = map(squared, N["ij"])),
         invalid,
         {"N[\"ij\"]", "does not have the symmetry", "make a tensor with that symmetry"}},
        {ARGES_USE(A["ij"] = map(product, A["ij"], A["ij"])), invalid, {"the function's result does not have the symmetry"}},
        {ARGES_USE(H["ij"] = map(squared, S["ij"])), invalid, {"H[\"ij\"] = map(...)", "zero where indices are equal", "give zero"}},
        {ARGES_USE(update(A["ij"], square)), invalid, {"the function's result does not have the symmetry"}},
    });
}

}  // namespace
}  // namespace arges::test

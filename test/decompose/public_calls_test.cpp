// Every public function on worlds of dry runs, on objects that were default-constructed or moved from, on World::outside(), and
// with arguments that do not fit together: it works, or throws one of the library's exceptions, the same on every rank.
#include "arges/arges.hpp"
#include "arges/checkpoint.hpp"
#include "arges/complete.hpp"
#include "arges/cpd.hpp"
#include "arges/einsum.hpp"
#include "arges/linalg.hpp"
#include "arges/sparse_io.hpp"
#include "arges/tensor_io.hpp"
#include "arges/tucker.hpp"
#include "comm/values.hpp"
#include "io/temporary_folder.hpp"
#include "support/public_calls.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace arges::test {
namespace {

using Keys = std::vector<std::int64_t>;
using Reals = std::vector<double>;
using Rows = std::vector<Keys>;
using Factors = std::vector<Reals>;
using Operands = std::vector<const Tensor<double>*>;
using Complex = std::complex<double>;
constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A model with rows on the first rank of its world.
CpModel<double> some_model(const World& world) {
    const bool has = world.rank() == 0;
    return {world, {2, 3}, {1}, has ? Rows{{0, 1}, {0, 2}} : Rows{{}, {}}, has ? Factors{{1, 2}, {3, 4}} : Factors{{}, {}}};
}

TuckerModel<double> some_tucker(const World& world) {
    const bool has = world.rank() == 0;
    return {{2, 3},
            Tensor<double>(world, {1, 1}, "core"),
            has ? Rows{{0, 1}, {0, 2}} : Rows{{}, {}},
            has ? Factors{{1, 2}, {3, 4}} : Factors{{}, {}}};
}

template <class T>
T moved_from(T object) {
    const T other(std::move(object));
    return object;
}

/// What calls are made on: `w` is a world of real ranks, `d` a dry run, `out` is outside.
struct Objects {
    explicit Objects(const World& world, const TemporaryFolder& where)
        : w(world), A(w, {4, 4}, "A"), S(w, {4, 4}, "ij", "sym(i,j)", "S"), v(w, {4}, "v"), Z(w, {4, 4}, "Z"), DA(d, {4, 4}, "DA"),
          DZ(d, {4, 4}, "ij", "hermitian(i,j)", "DZ"), X(w, {2, 3}, "X"), model(some_model(w)), dry_model(some_model(d)),
          tucker(some_tucker(w)), dry_tucker(some_tucker(d)), file(where / "file"), folder(where / "folder") {
        A.fill_random(1);
        S.fill_random(2);
        X.write(w.rank() == 0 ? Keys{1, 4} : Keys{}, w.rank() == 0 ? Reals{1, 2} : Reals{}, Duplicates::refuse);
        tucker_options.ranks = {1, 1};
        cp.rank = 1;
    }
    World w, d = World::dry_run(8), out = World::outside();
    Tensor<double> A, S, v;
    Tensor<Complex> Z;
    Tensor<double> DA;
    Tensor<Complex> DZ;
    Tensor<double> none;
    SparseTensor<double> X, no_sparse;
    CpModel<double> model, dry_model;
    TuckerModel<double> tucker, dry_tucker, no_tucker{{}, {}, {}, {}};
    CpOptions cp;
    TuckerOptions tucker_options;
    std::string file, folder;
    std::ostringstream stream;
};

enum Answer { works, refuses };

using Call = PublicCall<Objects>;

#define ARGES_CALL(...)                                                                                                                    \
    {                                                                                                                                      \
#__VA_ARGS__, [](Objects& objects) {                                                                                  \
         [[maybe_unused]] auto& [w, d, out, A, S, v, Z, DA, DZ, none, X, no_sparse, model, dry_model, tucker, dry_tucker,  \
                                 no_tucker, cp, tucker_options, file, folder, stream] = objects;                           \
         (void)(__VA_ARGS__);                                                                                              \
     }                    \
    }

void check_calls(Answer answer, const std::vector<Call>& calls) {
    const World world;
    const TemporaryFolder folder(world);
    for (const auto& call : calls) {
        Objects objects(world, folder);
        const auto found = outcome(call, objects);
        EXPECT_EQ(found.empty(), answer == works) << call.text << ": " << found;
        const Communicator comm(world.communicator());
        const auto all = gathered(comm, to_bytes(std::vector<char>(found.begin(), found.end())));
        std::string expected;
        for (std::int64_t r = 0; r < comm.size(); ++r) expected += found;
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(all.data()), all.size()), expected) << call.text;
    }
}

TEST(PublicCalls, OnTensorsOfADryRunDoNothing) {
    check_calls(works, {
                           ARGES_CALL(d.size()),
                           ARGES_CALL(d.rank()),
                           ARGES_CALL(d.torus()),
                           ARGES_CALL(d.is_dry_run()),
                           ARGES_CALL(d.communicator()),
                           ARGES_CALL(d.maximum(1)),
                           ARGES_CALL(d.sum(std::int64_t{1}), d.sum(1.0)),
                           ARGES_CALL(d.from_first("text")),
                           ARGES_CALL(machine_of(d)),
                           ARGES_CALL(listed_modes(dry_model)),
                           ARGES_CALL(d.memory_limit()),
                           ARGES_CALL(d.set_memory_limit(1 << 20)),
                           ARGES_CALL(d.group_mapping()),
                           ARGES_CALL(d.set_group_mapping(GroupMapping::best)),
                           ARGES_CALL(d.set_group_mapping(GroupMapping::packed)),
                           ARGES_CALL(d.memory_in_use()),
                           ARGES_CALL(d.memory_peak()),
                           ARGES_CALL(d.reset_peak()),
                           ARGES_CALL(d.last_report()),
                           ARGES_CALL(DA.order(), DA.extents(), DA.symmetry(), DA.world(), DA.name(), DA.size(), DA.packed_size()),
                           ARGES_CALL(DA.set_name("B")),
                           ARGES_CALL(DA.layout_to_string()),
                           ARGES_CALL(DA.fill(1.0)),
                           ARGES_CALL(DA.fill(1)),
                           ARGES_CALL(DA.fill([](Index) { return 1.0; })),
                           ARGES_CALL(DA.fill_random(1)),
                           ARGES_CALL(DA.write(Keys{1}, Reals{1})),
                           ARGES_CALL(DA.accumulate(Keys{1}, Reals{1})),
                           ARGES_CALL(DA.read(Keys{1})),
                           ARGES_CALL(DA.key(Keys{1, 1})),
                           ARGES_CALL(DA.index(3)),
                           ARGES_CALL(DA.local_pairs()),
                           ARGES_CALL(DA.for_each_local([](Index, double&) {})),
                           ARGES_CALL(std::as_const(DA).for_each_local([](Index, const double&) {})),
                           ARGES_CALL(DA.gather()),
                           ARGES_CALL(DA.gather_to(0)),
                           ARGES_CALL(DA.slice({0, 0}, {2, 2})),
                           ARGES_CALL(DA.set_slice({0, 0}, DA.slice({0, 0}, {2, 2}))),
                           ARGES_CALL(DA.with_symmetry(Symmetry::parse("ij", "sym(i,j)"))),
                           ARGES_CALL(DA.sum(), DA.count_nonzero(), DA.norm1(), DA.norm(), DA.norm_max(), DA.dot(DA)),
                           ARGES_CALL(Tensor<double>(d, {}).scalar()),
                           ARGES_CALL(DA.largest_magnitude(), DA.minimum(), DA.maximum()),
                           ARGES_CALL(DA.print(stream)),
                           ARGES_CALL(Tensor<double>(DA)),
                           ARGES_CALL(Tensor<double>(std::move(DA))),
                           ARGES_CALL(none = DA),
                           ARGES_CALL(conj(DZ)),
                           ARGES_CALL(real(DZ)),
                           ARGES_CALL(imag(DZ)),
                           ARGES_CALL(conj(DA)),
                           ARGES_CALL(DA["ij"] = 0.5 * DA["ik"] * DA["kj"] + DA["ji"]),
                           ARGES_CALL(DA["ij"] *= 2.0),
                           ARGES_CALL(DA["ij"] *= 0.0),
                           ARGES_CALL(DA["ij"] = Expression<double>()),
                           ARGES_CALL(DA["ii"] += 1.0),
                           ARGES_CALL(explain(DA["ij"], DA["ji"])),
                           ARGES_CALL(contract(1.0, DA, "ik", DA, "kj", 0.0, DA, "ij")),
                           ARGES_CALL(einsum("ij,jk", DA, DA)),
                           ARGES_CALL(transfer(d, DA, d)),
                           ARGES_CALL(transfer(d, DA, World::dry_run(3)).gather()),
                           ARGES_CALL(explain_cp(DA, cp)),
                           ARGES_CALL(reconstruct(dry_model)),
                           ARGES_CALL(reconstruct(dry_tucker)),
                           ARGES_CALL(relative_error(Tensor<double>(d, {2, 3}), dry_tucker)),
                           ARGES_CALL(dry_tucker.compression()),
                           ARGES_CALL(dry_model.rows(0), dry_model.factor(1)),
                           ARGES_CALL(from_replicated<double>(d, {2}, Reals{1, 2})),
                       });
}

TEST(PublicCalls, ThatNeedDataAreRefusedInADryRun) {
    check_calls(refuses, {
                             ARGES_CALL(explain_cp(Tensor<double>(World::dry_run((std::int64_t{1} << 31) - 1), {4, 4}), cp)),
                             ARGES_CALL(transfer(w, DA, w)),
                             ARGES_CALL(transfer(w, A, d)),
                             ARGES_CALL(transfer(d, A, d)),
                             ARGES_CALL(transfer(d, DA, w)),
                             ARGES_CALL(transfer(w, w.rank() == 0 ? DA : none, w)),
                             ARGES_CALL(transfer(d, none, d)),
                             ARGES_CALL(transfer(d, DA, out)),
                             ARGES_CALL(SparseTensor<double>(d, {4, 4})),
                             ARGES_CALL(SparseTensor<double>::from_dense(DA)),
                             ARGES_CALL(read_sparse<double>(d, file)),
                             ARGES_CALL(write_map(d, {1, 2}, file)),
                             ARGES_CALL(dry_model.gather(0)),
                             ARGES_CALL(dry_tucker.gather(0)),
                             ARGES_CALL(save_model(dry_model, folder)),
                             ARGES_CALL(save_model(dry_tucker, file)),
                             ARGES_CALL(load_model<double>(d, folder)),
                             ARGES_CALL(load_tucker_model<double>(d, file)),
                             ARGES_CALL(cp_decompose(DA, cp)),
                             ARGES_CALL(tucker_decompose(DA, tucker_options)),
                             ARGES_CALL(CheckpointWriter(d, file)),
                             ARGES_CALL(CheckpointReader(d, file)),
                             ARGES_CALL(CheckpointWriter(w, file).add("A", DA)),
                             ARGES_CALL(is_tensor_file(d, file)),
                             ARGES_CALL(SparseFileForecast(d, file, ElementType::float64)),
                             ARGES_CALL(DenseFileForecast(d, file, ElementType::float64)),
                             ARGES_CALL(measure_machine(d)),
                             ARGES_CALL(tensor_file_info(d, file)),
                             ARGES_CALL(read_tensor<double>(d, file)),
                             ARGES_CALL(write_npy(DA, file)),
                             ARGES_CALL(qr(DA["i|j"])),
                             ARGES_CALL(svd(DA["i|j"])),
                             ARGES_CALL(eigh(DA["i|j"])),
                             ARGES_CALL(cholesky(DA["i|j"])),
                             ARGES_CALL(solve_positive(DA["i|j"], DA["i|k"])),
                             ARGES_CALL(solve_triangular(DA["i|j"], DA["i|k"])),
                             ARGES_CALL(least_squares(DA["i|j"], DA["i|k"])),
                             ARGES_CALL(from_block_cyclic(BlockCyclic<double>{d})),
                             ARGES_CALL(to_block_cyclic(A["i|j"], BlockCyclic<double>{d})),
                             ARGES_CALL(from_block_cyclic(BlockCyclic<double>{d}, A["i|j"])),
                             ARGES_CALL(cholesky(BlockCyclic<double>{d})),
                             ARGES_CALL(DA["ij"] = A["ij"]),
                             ARGES_CALL(A["ij"] = DA["ij"]),
                             ARGES_CALL(A.dot(DA)),
                             ARGES_CALL(einsum("ij,jk", A, DA)),
                             ARGES_CALL(relative_error(X.to_dense(), dry_tucker)),
                             ARGES_CALL(World::dry_run(0)),
                             ARGES_CALL(World::dry_run(-1)),
                             ARGES_CALL(World::dry_run(least)),
                             ARGES_CALL(World::dry_run(most)),
                         });
}

TEST(PublicCalls, OnWorldsThatThisRankIsNotInAreRefused) {
    check_calls(works, {ARGES_CALL(out.takes_part()), ARGES_CALL(out == out)});
    check_calls(refuses, {
                             ARGES_CALL(out.size()),
                             ARGES_CALL(out.rank()),
                             ARGES_CALL(out.torus()),
                             ARGES_CALL(out.is_dry_run()),
                             ARGES_CALL(out.communicator()),
                             ARGES_CALL(out.memory_limit()),
                             ARGES_CALL(out.set_memory_limit(1)),
                             ARGES_CALL(out.group_mapping()),
                             ARGES_CALL(out.set_group_mapping(GroupMapping::blocks)),
                             ARGES_CALL(out.memory_in_use()),
                             ARGES_CALL(out.memory_peak()),
                             ARGES_CALL(out.reset_peak()),
                             ARGES_CALL(out.last_report()),
                             ARGES_CALL(Tensor<double>(out, {4})),
                             ARGES_CALL(Tensor<double>(out, {4}, "ij", "")),
                             ARGES_CALL(Tensor<double>(out, {4}, {NS})),
                             ARGES_CALL(transfer(out, A, w)),
                             ARGES_CALL(transfer(w, A, out)),
                             ARGES_CALL(SparseTensor<double>(out, {4})),
                             ARGES_CALL(read_sparse<double>(out, file)),
                             ARGES_CALL(write_map(out, {1}, file)),
                             ARGES_CALL(some_model(out)),
                             ARGES_CALL(CpModel<double>(out, {}, {}, {}, {})),
                             ARGES_CALL(load_model<double>(out, folder)),
                             ARGES_CALL(load_tucker_model<double>(out, file)),
                             ARGES_CALL(CheckpointWriter(out, file)),
                             ARGES_CALL(CheckpointReader(out, file)),
                             ARGES_CALL(is_tensor_file(out, file)),
                             ARGES_CALL(SparseFileForecast(out, file, ElementType::float64)),
                             ARGES_CALL(DenseFileForecast(out, file, ElementType::float64)),
                             ARGES_CALL(measure_machine(out)),
                             ARGES_CALL(machine_of(out)),
                             ARGES_CALL(out.maximum(1)),
                             ARGES_CALL(out.sum(std::int64_t{1})),
                             ARGES_CALL(out.sum(1.0)),
                             ARGES_CALL(out.from_first("")),
                             ARGES_CALL(tensor_file_info(out, file)),
                             ARGES_CALL(read_tensor<double>(out, file)),
                             ARGES_CALL(from_replicated<double>(out, {1}, Reals{1})),
                             ARGES_CALL(from_block_cyclic(BlockCyclic<double>{out})),
                             ARGES_CALL(BlockCyclic<double>{out}.local_rows()),
                             ARGES_CALL(BlockCyclic<double>{out}.local_columns()),
                             ARGES_CALL(to_block_cyclic(A["i|j"], BlockCyclic<double>{out})),
                             ARGES_CALL(qr(BlockCyclic<double>{out}, BlockCyclic<double>{out})),
                         });
}

TEST(PublicCalls, OnObjectsWithoutContentsAreRefused) {
    check_calls(works, {ARGES_CALL(Tensor<double>(none)), ARGES_CALL(A = none), ARGES_CALL(SparseTensor<double>(no_sparse)),
                        ARGES_CALL(X = no_sparse), ARGES_CALL(no_tucker.order(), no_tucker.lengths(), no_tucker.core()),
                        ARGES_CALL(CpModel<double>(w, {}, {}, {}, {}))});
    check_calls(refuses, {
                             ARGES_CALL(none.order()),
                             ARGES_CALL(none.extents()),
                             ARGES_CALL(none.symmetry()),
                             ARGES_CALL(none.world()),
                             ARGES_CALL(none.name()),
                             ARGES_CALL(none.set_name("B")),
                             ARGES_CALL(none.size()),
                             ARGES_CALL(none.packed_size()),
                             ARGES_CALL(none.layout_to_string()),
                             ARGES_CALL(none["ij"]),
                             ARGES_CALL(none.fill(0.0)),
                             ARGES_CALL(none.fill(0)),
                             ARGES_CALL(none.fill([](Index) { return 1.0; })),
                             ARGES_CALL(none.fill_random(1)),
                             ARGES_CALL(none.write({}, {})),
                             ARGES_CALL(none.accumulate({}, {})),
                             ARGES_CALL(none.read({})),
                             ARGES_CALL(none.key({})),
                             ARGES_CALL(none.index(0)),
                             ARGES_CALL(none.local_pairs()),
                             ARGES_CALL(none.for_each_local([](Index, double&) {})),
                             ARGES_CALL(none.gather()),
                             ARGES_CALL(none.gather_to(0)),
                             ARGES_CALL(none.slice({}, {})),
                             ARGES_CALL(none.set_slice({}, A)),
                             ARGES_CALL(A.set_slice({0, 0}, none)),
                             ARGES_CALL(none.with_symmetry({})),
                             ARGES_CALL(none.sum()),
                             ARGES_CALL(none.norm1()),
                             ARGES_CALL(none.norm()),
                             ARGES_CALL(none.norm_max()),
                             ARGES_CALL(none.dot(A)),
                             ARGES_CALL(A.dot(none)),
                             ARGES_CALL(none.scalar()),
                             ARGES_CALL(none.largest_magnitude()),
                             ARGES_CALL(none.minimum()),
                             ARGES_CALL(none.maximum()),
                             ARGES_CALL(none.print(stream)),
                             ARGES_CALL(conj(none)),
                             ARGES_CALL(real(Tensor<Complex>())),
                             ARGES_CALL(imag(Tensor<Complex>())),
                             ARGES_CALL(moved_from(A).norm()),
                             ARGES_CALL(transfer(w, none, w)),
                             ARGES_CALL(einsum("ij,jk", A, none)),
                             ARGES_CALL(einsum("ij,jk", Operands{&A, nullptr})),
                             ARGES_CALL(einsum("ij", Operands{nullptr})),
                             ARGES_CALL(einsum("", Operands{})),
                             ARGES_CALL(IndexedTensor<double>(Factor{nullptr, "ij"}) = A["ij"]),
                             ARGES_CALL(A["ij"] = IndexedTensor<double>(Factor{nullptr, "ij"})),
                             ARGES_CALL(explain(A["ij"], IndexedTensor<double>(Factor{nullptr, "ij"}))),
                             ARGES_CALL(svd(IndexedTensor<double>(Factor{nullptr, "i|j"}))),
                             ARGES_CALL(Labels(static_cast<const char*>(nullptr))),
                             ARGES_CALL(Labels({"i", static_cast<const char*>(nullptr)})),
                             ARGES_CALL(SparseTensor<double>::from_dense(none)),
                             ARGES_CALL(no_sparse.to_dense()),
                             ARGES_CALL(no_sparse.order()),
                             ARGES_CALL(no_sparse.lengths()),
                             ARGES_CALL(no_sparse.world()),
                             ARGES_CALL(no_sparse.name()),
                             ARGES_CALL(no_sparse.set_name("")),
                             ARGES_CALL(no_sparse.nonzeros()),
                             ARGES_CALL(no_sparse.density()),
                             ARGES_CALL(no_sparse.has_keys()),
                             ARGES_CALL(no_sparse.write({}, {}, Duplicates::refuse)),
                             ARGES_CALL(no_sparse.write_at({}, {}, Duplicates::refuse)),
                             ARGES_CALL(no_sparse.fill(1)),
                             ARGES_CALL(no_sparse.erase()),
                             ARGES_CALL(no_sparse.drop()),
                             ARGES_CALL(no_sparse.drop(1)),
                             ARGES_CALL(no_sparse.drop_if([](double) { return true; })),
                             ARGES_CALL(no_sparse.accumulate({}, {})),
                             ARGES_CALL(no_sparse.read({})),
                             ARGES_CALL(no_sparse.read_at({})),
                             ARGES_CALL(no_sparse.local_nonzeros()),
                             ARGES_CALL(no_sparse.local_indices(0)),
                             ARGES_CALL(no_sparse.local_values()),
                             ARGES_CALL(no_sparse.gather()),
                             ARGES_CALL(no_sparse.sum()),
                             ARGES_CALL(no_sparse.norm()),
                             ARGES_CALL(write_sparse(no_sparse, file + ".tns")),
                             ARGES_CALL(sparse_statistics(no_sparse)),
                             ARGES_CALL(value_statistics(no_sparse)),
                             ARGES_CALL(not_finite(none)),
                             ARGES_CALL(known_elements(none, MissingElements::nan)),
                             ARGES_CALL(residuals(no_sparse, model, NotStored::zeros, 3)),
                             ARGES_CALL(residuals(none, model, 3)),
                             ARGES_CALL(residuals(none, tucker, 3)),
                             ARGES_CALL(write_hypergraph(no_sparse, file)),
                             ARGES_CALL(compacted(no_sparse)),
                             ARGES_CALL(moved_from(X).norm()),
                             ARGES_CALL(cp_decompose(none, cp)),
                             ARGES_CALL(cp_decompose(no_sparse, cp)),
                             ARGES_CALL(cp_decompose(SparseTensor<double>(), cp)),
                             ARGES_CALL(complete(no_sparse, CompletionOptions())),
                             ARGES_CALL(complete(X, CompletionOptions(), {}, nullptr, &no_sparse)),
                             ARGES_CALL(explain_cp(none, cp)),
                             ARGES_CALL(tucker_decompose(none, tucker_options)),
                             ARGES_CALL(tucker_decompose(no_sparse, tucker_options)),
                             ARGES_CALL(no_tucker.ranks()),
                             ARGES_CALL(no_tucker.world()),
                             ARGES_CALL(no_tucker.gather(0)),
                             ARGES_CALL(no_tucker.rows(0)),
                             ARGES_CALL(no_tucker.factor(0)),
                             ARGES_CALL(reconstruct(no_tucker)),
                             ARGES_CALL(relative_error(A, no_tucker)),
                             ARGES_CALL(relative_error(none, tucker)),
                             ARGES_CALL(save_model(no_tucker, file)),
                             ARGES_CALL(reconstruct(CpModel<double>(w, {}, {}, {}, {}))),
                             ARGES_CALL(CpModel<double>(w, {}, {}, {}, {}).gather(0)),
                             ARGES_CALL(write_npy(none, file)),
                             ARGES_CALL(CheckpointWriter(w, file).add("A", none)),
                             ARGES_CALL(from_block_cyclic(BlockCyclic<double>{w, nullptr, 4, 4})),
                             ARGES_CALL(svd(none["i|j"])),
                         });
}

TEST(PublicCalls, WithArgumentsThatDoNotFitTogetherAreRefused) {
    check_calls(refuses, {
                             ARGES_CALL(A.write(Keys{1, 2}, Reals{1})),
                             ARGES_CALL(A.write(Keys{-1}, Reals{1})),
                             ARGES_CALL(A.write(Keys{16}, Reals{1})),
                             ARGES_CALL(A.write(Keys{most}, Reals{1})),
                             ARGES_CALL(A.accumulate(Keys{1}, Reals{})),
                             ARGES_CALL(A.read(Keys{least})),
                             ARGES_CALL(A.key(Keys{})),
                             ARGES_CALL(A.key(Keys{-1, 0})),
                             ARGES_CALL(A.index(-1)),
                             ARGES_CALL(A.index(most)),
                             ARGES_CALL(A.gather_to(-1)),
                             ARGES_CALL(A.gather_to(most)),
                             ARGES_CALL(A.slice({0, 0}, {5, 5})),
                             ARGES_CALL(A.slice({-1, 0}, {1, 1})),
                             ARGES_CALL(A.slice({3, 0}, {1, 1})),
                             ARGES_CALL(A.slice({}, {})),
                             ARGES_CALL(A.slice({0}, {1, 1})),
                             ARGES_CALL(A.slice({least, 0}, {most, 1})),
                             ARGES_CALL(A.set_slice({most, most}, A)),
                             ARGES_CALL(A.set_slice({least, 0}, A)),
                             ARGES_CALL(A.set_slice({0}, A)),
                             ARGES_CALL(A.set_slice({0, 0}, v)),
                             ARGES_CALL(A.with_symmetry(Symmetry::none(3))),
                             ARGES_CALL(A.dot(v)),
                             ARGES_CALL(A.scalar()),
                             ARGES_CALL(A["i"] = A["ij"]),
                             ARGES_CALL(A[""] = 1.0),
                             ARGES_CALL(A["i-"] = 1.0),
                             ARGES_CALL(Tensor<double>(w, {-1})),
                             ARGES_CALL(Tensor<double>(w, {least})),
                             ARGES_CALL(Tensor<double>(w, {most, most})),
                             ARGES_CALL(Tensor<double>(w, {4, 4}, {NS})),
                             ARGES_CALL(Tensor<double>(w, {4, 4}, "i", "")),
                             ARGES_CALL(Tensor<double>(w, Keys(2000, 1))),
                             ARGES_CALL(w.set_memory_limit(-1)),
                             ARGES_CALL(w.set_memory_limit(least)),
                             ARGES_CALL(d.set_memory_limit(-1)),
                             ARGES_CALL(einsum("ij,jk", A)),
                             ARGES_CALL(einsum("ij->kk", A)),
                             ARGES_CALL(einsum("i", A)),
                             ARGES_CALL(einsum("ij->ji->ij", A)),
                             ARGES_CALL(einsum(std::string(100000, ','), A)),
                             ARGES_CALL(Torus({0})),
                             ARGES_CALL(Torus({most, most})),
                             ARGES_CALL(Torus({least})),
                             ARGES_CALL(Torus::parse("x")),
                             ARGES_CALL(World(MPI_COMM_NULL)),
                             ARGES_CALL(World(MPI_COMM_WORLD, Torus({3, 5, 7}))),
                             ARGES_CALL(SparseTensor<double>(w, {})),
                             ARGES_CALL(SparseTensor<double>(w, {-1})),
                             ARGES_CALL(SparseTensor<double>(w, {most})),
                             ARGES_CALL(SparseTensor<double>(w, Keys(17, 1))),
                             ARGES_CALL(X.write(Keys{6}, Reals{1}, Duplicates::refuse)),
                             ARGES_CALL(X.accumulate(Keys{6}, Reals{1})),
                             ARGES_CALL(X.accumulate(Keys{1}, Reals{})),
                             ARGES_CALL(X.read(Keys{6})),
                             ARGES_CALL(X.read_at(Keys{1})),
                             ARGES_CALL(X.read_at(Keys{2, 0})),
                             ARGES_CALL(X.write(Keys{-1}, Reals{1}, Duplicates::refuse)),
                             ARGES_CALL(X.write(Keys{1}, Reals{}, Duplicates::refuse)),
                             ARGES_CALL(X.write_at(Keys{1}, Reals{1}, Duplicates::refuse)),
                             ARGES_CALL(X.write_at(Keys{2, 0}, Reals{1}, Duplicates::refuse)),
                             ARGES_CALL(X.write_at(Keys{0, -1}, Reals{1}, Duplicates::refuse)),
                             ARGES_CALL(X.local_indices(-1)),
                             ARGES_CALL(X.local_indices(2)),
                             ARGES_CALL(read_sparse<double>(w, file + "-")),
                             ARGES_CALL(read_sparse<double>(w, "")),
                             ARGES_CALL(write_sparse(X, file)),
                             ARGES_CALL(write_sparse(X, "")),
                             ARGES_CALL(check_sparse_name("")),
                             ARGES_CALL(sparse_statistics(A)),
                             ARGES_CALL(value_statistics(X, 0)),
                             ARGES_CALL(not_finite(DA)),
                             ARGES_CALL(known_elements(DA, MissingElements::zeros)),
                             ARGES_CALL(residuals(X, dry_model, NotStored::zeros, -1)),
                             ARGES_CALL(residuals(A, model, 3)),
                             ARGES_CALL(residuals(DA, dry_tucker, 3)),
                             ARGES_CALL(row_profiles(model, 7, 3)),
                             ARGES_CALL(row_profiles(dry_tucker, 0, -1)),
                             ARGES_CALL(write_text(w, "a", "/none/b")),
                             ARGES_CALL(read_text(d, "/")),
                             ARGES_CALL(sparse_statistics(X, {{0}})),
                             ARGES_CALL(sparse_statistics(X, {{2}, 0})),
                             ARGES_CALL(sparse_statistics(X, {{2}, 1, "none"})),
                             ARGES_CALL(write_hypergraph(A, file)),
                             ARGES_CALL(write_hypergraph(X, folder + "/-/file")),
                             ARGES_CALL(check_layer_policy("")),
                             ARGES_CALL(check_row_rule("")),
                             ARGES_CALL(check_nonzero_format("")),
                             ARGES_CALL(SparseFileForecast(w, file + "-", ElementType::float64)),
                             ARGES_CALL(DenseFileForecast(w, file + "-", ElementType::float64)),
                             ARGES_CALL(measure_machine(w, w.size() + 1)),
                             ARGES_CALL(plan_einsum({"ij,jk->ik"})),
                             ARGES_CALL(plan_einsum({"i->i", {{'i', 0}}})),
                             ARGES_CALL(plan_einsum({"i->i", {{'i', 1}, {'j', 1}}})),
                             ARGES_CALL(OutputClaim("/")),
                             ARGES_CALL(write_map(w, {1}, "")),
                             ARGES_CALL(write_map(w, {1}, "/")),
                             ARGES_CALL(read_tensor<double>(w, "")),
                             ARGES_CALL(is_tensor_file(w, "")),
                             ARGES_CALL(tensor_file_info(w, "")),
                             ARGES_CALL(write_npy(A, "")),
                             ARGES_CALL(CheckpointWriter(w, "")),
                             ARGES_CALL(CheckpointReader(w, "")),
                             ARGES_CALL(CheckpointWriter(w, file).add("", A)),
                             ARGES_CALL(CheckpointWriter(w, file).set("a/b", 1.0)),
                             ARGES_CALL(save_model(model, "")),
                             ARGES_CALL(load_model<double>(w, "")),
                             ARGES_CALL(save_model(tucker, "")),
                             ARGES_CALL(load_tucker_model<double>(w, "")),
                             ARGES_CALL(BlockCyclic<double>{w, nullptr, 4, 4, 0, 0}.local_rows()),
                             ARGES_CALL(BlockCyclic<double>{w, nullptr, 4, 4, 1, 0}.local_columns()),
                             ARGES_CALL(BlockCyclic<double>{w, nullptr, 4, 4, 1, 1, 0, 0}.local_rows()),
                             ARGES_CALL(BlockCyclic<double>{w, nullptr, -4, 4}.local_rows()),
                             ARGES_CALL(BlockCyclic<double>{w, nullptr, 4, 4, 1, 1, most, most}.local_rows()),
                             ARGES_CALL(from_block_cyclic(BlockCyclic<double>{w, nullptr, -1, 4})),
                             ARGES_CALL(from_block_cyclic(BlockCyclic<double>{w, nullptr, 4, 4, 0})),
                             ARGES_CALL(from_block_cyclic(BlockCyclic<double>{w, nullptr, 4, 4, 1, 1, most, most})),
                             ARGES_CALL(from_block_cyclic(BlockCyclic<double>{w, nullptr, most, most})),
                             ARGES_CALL(from_replicated<double>(w, {3}, Reals{1})),
                             ARGES_CALL(from_replicated<double>(w, {-1}, Reals{})),
                             ARGES_CALL(qr(A["i|j"], {false, {-1, 0, 0}})),
                             ARGES_CALL(qr(A["i|j"], {false, {most, most, 1}})),
                             ARGES_CALL(qr(A["i|j"], {false, {0, 0, -1}})),
                             ARGES_CALL(svd(A["i|j"], {.rank = 0})),
                             ARGES_CALL(svd(A["i|j"], {.tolerance = nan})),
                             ARGES_CALL(svd(A["i|j"], {.absolute_tolerance = -1})),
                             ARGES_CALL(eigh(S["i|j"], {.first = -1})),
                             ARGES_CALL(eigh(S["i|j"], {.first = 5})),
                             ARGES_CALL(eigh(S["i|j"], {.count = -1})),
                             ARGES_CALL(eigh(S["i|j"], {.first = 1, .count = most})),
                             ARGES_CALL(least_squares(A["i|j"], A["i|k"], {.tolerance = nan})),
                             ARGES_CALL(solve_triangular(A["i|j"], v["i|"])),
                             ARGES_CALL(svd(A["ij"])),
                         });
}

CpOptions changed(CpOptions options, void (*change)(CpOptions&)) {
    change(options);
    return options;
}

CompletionOptions changed(CompletionOptions options, void (*change)(CompletionOptions&)) {
    change(options);
    return options;
}

TuckerOptions changed(TuckerOptions options, void (*change)(TuckerOptions&)) {
    change(options);
    return options;
}

TEST(PublicCalls, WithOptionsOfDecompositionsThatAreWrongAreRefused) {
    check_calls(
        refuses,
        {
            ARGES_CALL(cp_decompose(A, changed(cp, [](auto& o) { o.rank = 0; }))),
            ARGES_CALL(cp_decompose(A, changed(cp, [](auto& o) { o.rank = -1; }))),
            ARGES_CALL(cp_decompose(X, changed(cp, [](auto& o) { o.rank = 1025; }))),
            ARGES_CALL(cp_decompose(X, changed(cp, [](auto& o) { o.rank = 0; }))),
            ARGES_CALL(cp_decompose(A, changed(cp, [](auto& o) { o.max_iterations = 0; }))),
            ARGES_CALL(cp_decompose(X, changed(cp, [](auto& o) { o.max_iterations = -5; }))),
            ARGES_CALL(cp_decompose(A, changed(cp, [](auto& o) { o.tolerance = nan; }))),
            ARGES_CALL(cp_decompose(X, changed(cp, [](auto& o) { o.tolerance = -1; }))),
            ARGES_CALL(cp_decompose(A, changed(cp, [](auto& o) { o.regularization = nan; }))),
            ARGES_CALL(cp_decompose(X, changed(cp, [](auto& o) { o.regularization = -1; }))),
            ARGES_CALL(cp_decompose(A, changed(cp, [](auto& o) { o.perturbation_threshold = nan; }))),
            ARGES_CALL(cp_decompose(A, changed(cp, [](auto& o) { o.algorithm = static_cast<CpAlgorithm>(9); }))),
            ARGES_CALL(cp_decompose(X, changed(cp, [](auto& o) { o.algorithm = static_cast<CpAlgorithm>(9); }))),
            ARGES_CALL(cp_decompose(X, changed(cp, [](auto& o) { o.distribution = "none"; }))),
            ARGES_CALL(cp_decompose(X, changed(cp, [](auto& o) { o.distribution = "medium", o.grid = "0x0"; }))),
            ARGES_CALL(cp_decompose(X, changed(cp, [](auto& o) { o.distribution = "medium", o.grid = std::string(40, '9'); }))),
            ARGES_CALL(cp_decompose(X, changed(cp, [](auto& o) { o.policy = "ordered--1"; }))),
            ARGES_CALL(cp_decompose(X, changed(cp, [](auto& o) { o.rows = "?"; }))),
            ARGES_CALL(cp_decompose(X, changed(cp, [](auto& o) { o.format = ""; }))),
            ARGES_CALL(cp_decompose(X, changed(cp, [](auto& o) { o.distribution = "fine", o.partition_file = "/nowhere"; }))),
            ARGES_CALL(cp_decompose(A, cp, {}, &model)),
            ARGES_CALL(cp_decompose(SparseTensor<double>(w, {4}), cp)),
            ARGES_CALL(complete(SparseTensor<double>(w, {4, 4}), CompletionOptions())),
            ARGES_CALL(complete(X, changed(CompletionOptions(), [](auto& o) { o.holdout = nan; }))),
            ARGES_CALL(complete(X, changed(CompletionOptions(), [](auto& o) { o.learning_rate = nan; }))),
            ARGES_CALL(complete(X, changed(CompletionOptions(), [](auto& o) { o.decay = nan; }))),
            ARGES_CALL(complete(X, changed(CompletionOptions(), [](auto& o) { o.regularization = nan; }))),
            ARGES_CALL(complete(X, changed(CompletionOptions(), [](auto& o) { o.algorithm = static_cast<CompletionAlgorithm>(9); }))),
            ARGES_CALL(complete(X, changed(CompletionOptions(), [](auto& o) { o.policy = "ordered--1"; }))),
            ARGES_CALL(complete(X, changed(CompletionOptions(), [](auto& o) { o.rows = "?"; }))),
            ARGES_CALL(complete(X, CompletionOptions(), {}, &model)),
            ARGES_CALL(cp_decompose(v, cp)),
            ARGES_CALL(cp_decompose(Tensor<double>(w, {}), cp)),
            ARGES_CALL(explain_cp(v, cp)),
            ARGES_CALL(explain_cp(A, changed(cp, [](auto& o) { o.rank = -1; }))),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options, [](auto& o) { o.ranks = {}; }))),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options, [](auto& o) { o.ranks = {1}; }))),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options,
                                                   [](auto& o) {
                                                       o.ranks = {0, 1};
                                                   }))),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options,
                                                   [](auto& o) {
                                                       o.ranks = {5, 1};
                                                   }))),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options, [](auto& o) { o.relative_error = nan; }))),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options, [](auto& o) { o.relative_error = -1; }))),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options,
                                                   [](auto& o) {
                                                       o.order = {0, 0};
                                                   }))),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options,
                                                   [](auto& o) {
                                                       o.order = {-1, 7};
                                                   }))),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options, [](auto& o) { o.tolerance = nan; }))),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options, [](auto& o) { o.max_iterations = 0; }))),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options, [](auto& o) { o.method = static_cast<TuckerMethod>(9); }))),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options, [](auto& o) { o.kernel = static_cast<TuckerKernel>(9); }))),
            ARGES_CALL(tucker_decompose(X, changed(tucker_options, [](auto& o) { o.ranks = {}; }))),
            ARGES_CALL(tucker_decompose(X, changed(tucker_options,
                                                   [](auto& o) {
                                                       o.ranks = {3, 1};
                                                   }))),
            ARGES_CALL(tucker_decompose(X, changed(tucker_options,
                                                   [](auto& o) {
                                                       o.ranks = {-1, -1};
                                                   }))),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options, [](auto& o) { o.method = TuckerMethod::hooi; }), {}, &tucker)),
            ARGES_CALL(tucker_decompose(A, changed(tucker_options, [](auto& o) { o.method = TuckerMethod::hooi; }), {}, &no_tucker)),
        });
}

TEST(PublicCalls, WithModelsThatAreNoneAreRefused) {
    check_calls(refuses, {
                             ARGES_CALL(CpModel<double>(w, {2}, {1}, {}, {})),
                             ARGES_CALL(CpModel<double>(w, {2}, {1}, {{0}}, {})),
                             ARGES_CALL(CpModel<double>(w, {2}, {1}, {{0}}, {{}})),
                             ARGES_CALL(CpModel<double>(w, {2}, {1}, {{0}}, {{1, 2}})),
                             ARGES_CALL(CpModel<double>(w, {2}, {1, 1}, {{0}}, {{1}})),
                             ARGES_CALL(CpModel<double>(w, {2}, {1}, {{2}}, {{1}})),
                             ARGES_CALL(CpModel<double>(w, {2}, {1}, {{-1}}, {{1}})),
                             ARGES_CALL(CpModel<double>(w, {2}, {1}, {{1, 0}}, {{1, 2}})),
                             ARGES_CALL(CpModel<double>(w, {2}, {1}, {{0, 0}}, {{1, 2}})),
                             ARGES_CALL(CpModel<double>(w, {-1}, {1}, {{}}, {{}})),
                             ARGES_CALL(CpModel<double>(w, {most}, {1}, {{most}}, {{1}})),
                             ARGES_CALL(CpModel<float>(w, {}, {}, {{}}, {{}})),
                             ARGES_CALL(model.gather(-1)),
                             ARGES_CALL(model.gather(2)),
                             ARGES_CALL(model.rows(-1)),
                             ARGES_CALL(model.rows(2)),
                             ARGES_CALL(model.factor(-1)),
                             ARGES_CALL(model.factor(2)),
                             ARGES_CALL(CpModel<double>(w, {most}, {1, 2}, {{}}, {{}}).gather(0)),
                             ARGES_CALL(reconstruct(model, {0}, {1})),
                             ARGES_CALL(reconstruct(model, {0, 0}, {3, 3})),
                             ARGES_CALL(reconstruct(model, {1, 1}, {0, 0})),
                             ARGES_CALL(reconstruct(model, {-1, 0}, {1, 1})),
                             ARGES_CALL(reconstruct(model, {}, {1, 1})),
                             ARGES_CALL(TuckerModel<double>({2}, A, {{}}, {{}})),
                             ARGES_CALL(TuckerModel<double>({2, 2}, A, {{0}, {0}}, {{1}, {1}})),
                             ARGES_CALL(TuckerModel<double>({2, 2}, A, {{5}, {}}, {{1, 2, 3, 4}, {}})),
                             ARGES_CALL(TuckerModel<double>({2, 2}, A, {}, {})),
                             ARGES_CALL(TuckerModel<double>({2}, {}, {{}}, {{}})),
                             ARGES_CALL(TuckerModel<double>({-2, 2}, A, {{}, {}}, {{}, {}})),
                             ARGES_CALL(tucker.gather(-1)),
                             ARGES_CALL(tucker.gather(2)),
                             ARGES_CALL(tucker.rows(2)),
                             ARGES_CALL(tucker.factor(-1)),
                             ARGES_CALL(reconstruct(tucker, {0}, {1})),
                             ARGES_CALL(reconstruct(tucker, {0, 0}, {3, 3})),
                             ARGES_CALL(relative_error(A, tucker)),
                             ARGES_CALL(relative_error(Tensor<double>(w, {}), TuckerModel<double>({}, Tensor<double>(w, {}), {}, {}))),
                         });
    check_calls(works, {
                           ARGES_CALL(model.gather(0)),
                           ARGES_CALL(tucker.gather(1)),
                           ARGES_CALL(reconstruct(model)),
                           ARGES_CALL(reconstruct(tucker)),
                           ARGES_CALL(save_model(model, folder), load_model<double>(w, folder)),
                           ARGES_CALL(save_model(tucker, file), load_tucker_model<double>(w, file)),
                           ARGES_CALL(CpModel<double>(w, {0, 3}, {}, {{}, {}}, {{}, {}}).gather(0)),
                           ARGES_CALL(write_map(w, {}, file)),
                       });
}

TEST(PublicCalls, OnACheckpointThatWasMovedOrIsCompleteAreRefused) {
    const World world;
    const TemporaryFolder folder(world);
    const auto path = folder / "file";
    Tensor<double> A(world, {4}, "A");
    CheckpointWriter out(world, path);
    out.add("A", A);
    out.set("n", 1.0);
    out.commit();
    EXPECT_THROW(out.commit(), InvalidArgument);
    EXPECT_THROW(out.set("m", 1.0), InvalidArgument);
    EXPECT_THROW(out.add("B", A), InvalidArgument);
    CheckpointReader first(world, path);
    const auto in = std::move(first);
    EXPECT_EQ(in.value<double>("n"), 1.0);
    EXPECT_THROW(in.value<double>(""), InvalidArgument);
    EXPECT_THROW(in.value<std::string>("n"), InvalidArgument);
    EXPECT_THROW(in.read<double>("C"), InvalidArgument);
    EXPECT_THROW(in.read<float>("A"), InvalidArgument);
    EXPECT_THROW(in.tensor("C"), InvalidArgument);
    Tensor<double> none;
    EXPECT_THROW(in.read_into("A", none), InvalidArgument);
    EXPECT_THROW(first.tensors(), InvalidArgument);
    EXPECT_THROW(first.value_names(), InvalidArgument);
    EXPECT_THROW(first.has_tensor("A"), InvalidArgument);
    EXPECT_THROW(first.has_value("n"), InvalidArgument);
    EXPECT_THROW(first.tensor("A"), InvalidArgument);
    EXPECT_THROW(first.read<double>("A"), InvalidArgument);
    EXPECT_THROW(first.read_into("A", A), InvalidArgument);
    EXPECT_THROW(first.value<double>("n"), InvalidArgument);
}

}  // namespace
}  // namespace arges::test

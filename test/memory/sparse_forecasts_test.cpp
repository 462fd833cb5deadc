// What steps on sparse tensors say that they take, against what they do take.
#include "arges/complete.hpp"
#include "arges/cpd.hpp"
#include "arges/predict.hpp"
#include "arges/sparse_io.hpp"
#include "arges/table_io.hpp"
#include "arges/tucker.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/distribution/distribute.hpp"
#include "decompose/distribution/slice_counts.hpp"
#include "decompose/sparse_memory.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/sparse/sparse_tensor_merge.hpp"
#include "interface/sparse/sparse_tensor_slices.hpp"
#include "io/sparse/reading_memory.hpp"
#include "io/sparse_files.hpp"
#include "io/temporary_folder.hpp"
#include "memory/counted_memory.hpp"
#include "partition/value_counts.hpp"
#include "sparse/device_nonzeros.hpp"
#include "sparse/mttkrp.hpp"
#include "sparse/ttmc.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <optional>
#include <random>
#include <sstream>

namespace arges::test {
namespace {

/// Blocks that no forecast of a step counts: what objects are made of, messages of agreement, what MPI allocates when it is first used.
constexpr std::int64_t small_sparse_change = 700000;

void expect_covered(std::int64_t taken, std::int64_t forecast, const std::string& what, double least = 0.7) {
    EXPECT_LE(taken, forecast + small_sparse_change) << what;
    EXPECT_GE(static_cast<double>(taken), least * static_cast<double>(forecast) - static_cast<double>(small_sparse_change)) << what;
}

struct Sizes {
    std::vector<std::int64_t> lengths;
    std::int64_t count = 0;
    std::string text() const {
        std::string result = std::to_string(count) + " in";
        for (auto n : lengths) result += " " + std::to_string(n);
        return result;
    }
};

/// Tensors whose factors are below 2 MiB; slices of very different weight.
std::vector<Sizes> sizes() {
    return {{{300, 400, 200}, 200000},
            {{5000, 3000, 4000}, 150000},
            {{40, 30, 20, 50}, 150000},
            {{20000, 100}, 150000},
            {{200, 300, 100, 50, 20}, 150000}};
}

/// Coordinates that are likely to be distinct, more of them at low indices.
sparse::Nonzeros<double> random_nonzeros(const Sizes& sizes, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    sparse::Nonzeros<double> x{sizes.lengths, std::vector<std::vector<std::int64_t>>(sizes.lengths.size()), {}};
    for (std::size_t m = 0; m < sizes.lengths.size(); ++m) {
        x.indices[m].reserve(static_cast<std::size_t>(sizes.count));
        for (std::int64_t i = 0; i < sizes.count; ++i) {
            const auto a = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(sizes.lengths[m])),
                       b = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(sizes.lengths[m]));
            x.indices[m].push_back(std::min(a, b));
        }
    }
    x.values.assign(static_cast<std::size_t>(sizes.count), 1.5);
    return x;
}

sparse::LocalNonzeros<double> local(const sparse::Nonzeros<double>& x) {
    sparse::LocalNonzeros<double> result{x.lengths, {}, x.values};
    for (const auto& column : x.indices) result.indices.emplace_back(column.begin(), column.end());
    return result;
}

std::vector<int> all_modes(int order) {
    std::vector<int> modes;
    for (int m = 0; m < order; ++m) modes.push_back(m);
    return modes;
}

TEST(SparseForecasts, CoverFormats) {
    using sparse::Format;
    for (const auto& shape : sizes()) {
        const auto x = local(random_nonzeros(shape, 1));
        const auto modes = all_modes(x.order());
        for (auto format : {Format::coordinates, Format::csf_one, Format::csf_two, Format::csf_all, Format::hicoo, Format::linear}) {
            const auto forecast = sparse::mttkrp_memory(sizeof(double), x.rows, x.count(), format, modes);
            std::unique_ptr<sparse::Mttkrp<double>> made;
            const auto taken = most_held([&] { made = sparse::make_mttkrp(x, format, modes); });
            expect_covered(taken, forecast.peak(), to_string(format) + ", " + shape.text());
            expect_covered(made->bytes(), forecast.held(), to_string(format) + " at the end, " + shape.text(),
                           format == Format::hicoo ? 0.3 : 0.7);
        }
        expect_covered(most_held([&] { sparse::make_mttkrp(x, Format::device, modes, &device_kernels<double>()); }),
                       sparse::mttkrp_memory(sizeof(double), x.rows, x.count(), Format::device, modes).peak(), "device, " + shape.text());
        constexpr int columns = 12;
        std::vector<double> matrix(static_cast<std::size_t>(*std::max_element(x.rows.begin(), x.rows.end()) * columns));
        std::vector<sparse::RowMatrix<const double>> factors;
        for (auto rows : x.rows) factors.push_back({matrix.data(), rows, columns, columns});
        for (int m = 0; m < x.order(); ++m) {
            TestDevice::reset_peak();
            const auto before = TestDevice::peak();
            const auto made = sparse::make_mttkrp(x, Format::device, std::vector{m}, &device_kernels<double>());
            std::vector<double> out(matrix.size());
            made->multiply(m, factors, {out.data(), x.rows[static_cast<std::size_t>(m)], columns, columns});
            std::int64_t matrices = 0;
            for (auto rows : x.rows) matrices += array_memory(rows * columns * 8);
            expect_covered(TestDevice::peak() - before,
                           matrices + sparse::device_nonzeros_bytes(sizeof(double), x.rows, x.count(), m, columns),
                           "on the device, " + shape.text());
        }
        for (int m = 0; m < x.order(); ++m)
            expect_covered(most_held([&] { const sparse::Ttmc<double> made(x, m); }),
                           sparse::ttmc_memory(sizeof(double), x.rows, x.count(), m).peak(), "ttmc, " + shape.text());
    }
}

TEST(SparseForecasts, CoverCountsOfValues) {
    for (const std::int64_t largest : {10, 1000, 100000, 100000000}) {
        std::mt19937_64 random(static_cast<std::uint64_t>(largest));
        std::vector<std::int64_t> values;
        for (int i = 0; i < 60000; ++i) values.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(largest + 1)));
        const auto text = "values to " + std::to_string(largest);
        expect_covered(most_held([&] { partition::counted(values); }), partition::counting_memory(60000, largest).peak(), text, 0.3);
        expect_covered(most_held([&] { partition::distinct(values); }), partition::counting_memory(60000, largest, true).peak(), text, 0.3);
    }
}

class ForecastsOnRanks : public testing::Test {
protected:
    World world_;
    const Communicator& comm() const { return world_.state()->communicator(); }
    std::int64_t most(std::int64_t bytes) const { return comm().maximum(bytes); }
    /// How near a forecast comes for small tensors: the choice of a distribution on several ranks is bounded by the samples of larger ones.
    double least_share(bool is_hypergraph) const { return is_hypergraph ? 0.1 : comm().size() > 1 ? 0.1 : 0.55; }
};

TEST_F(ForecastsOnRanks, CoverMergingAndLists) {
    for (const auto& shape : sizes()) {
        auto x = random_nonzeros(shape, 2 + static_cast<std::uint64_t>(comm().rank()));
        for (std::size_t i = 0; i < x.values.size(); ++i)  // distinct over the ranks
            x.indices[0][i] = x.indices[0][i] * comm().size() + comm().rank();
        std::vector<std::int64_t> numbers(x.values.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i) * comm().size() + comm().rank();
        MergeReport report;
        AnyNonzeros merged(std::move(x));
        const auto join = join_for(element_kernels<double>(), Duplicates::sum);
        const auto taken = most(most_held([&] { report = merge_in_place(comm(), merged, join, numbers); }));
        x = std::move(merged).take<double>();
        expect_covered(taken, merging_memory(comm().size(), x.order(), 8, shape.count, report.duplicates).peak(),
                       "merging, " + shape.text(), 0.1);
        for (std::size_t m = 0; m < x.indices.size(); ++m) {
            const auto list = most(most_held([&] { nonempty_slices(comm(), x.indices[m]); }));
            expect_covered(list, slice_list_memory(comm().size(), x.count(), shape.lengths[m] * (m == 0 ? comm().size() : 1)).peak(),
                           "list of mode " + std::to_string(m) + ", " + shape.text(), 0);
        }
    }
}

TEST_F(ForecastsOnRanks, CoverWeightsOfElements) {
    const auto made = [&](const Sizes& shape, std::uint64_t seed) {
        auto x = random_nonzeros(shape, seed + static_cast<std::uint64_t>(comm().rank()));
        return SparseTensor<double>::from_entries(world_, shape.lengths, {std::move(x.indices), std::move(x.values)},
                                                  Duplicates::keep_first);
    };
    for (const Sizes& shape : {Sizes{{300, 400, 200}, 100000}, Sizes{{40, 30, 20, 50}, 60000}})
        for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::opt}) {
            const auto tensor = made(shape, 3), weights = made(shape, 30);
            CpOptions options;
            options.rank = 4;
            options.max_iterations = 2;
            options.algorithm = algorithm;
            std::int64_t forecast = 0;
            options.planned = [&](std::int64_t bytes, std::int64_t) { forecast = most(bytes); };
            const auto before = most(world_.memory_in_use());
            const auto taken = before + most(most_held([&] { cp_decompose(tensor, options, {}, nullptr, &weights); }));
            expect_covered(taken, forecast, "weights, " + shape.text(), 0.3);
        }
    for (const Sizes& shape : {Sizes{{300, 400, 200}, 100000}, Sizes{{40, 30, 20, 50}, 60000}}) {
        const auto tensor = made(shape, 3);
        std::int64_t forecast = 0;
        std::optional<SparseTensor<double>> weights(made(shape, 30));
        const auto before = most(world_.memory_in_use());
        TuckerOptions tucker;
        tucker.ranks.assign(shape.lengths.size(), 3);
        tucker.max_iterations = 2;
        tucker.planned = [&](std::int64_t bytes) { forecast = most(bytes); };
        const auto of_tucker = before + most(most_held([&] { tucker_decompose(tensor, tucker, {}, nullptr, &*weights); }));
        expect_covered(of_tucker, forecast, "Tucker with weights, " + shape.text(), 0.3);
        weights.emplace(made(shape, 3));
        for (const auto algorithm : {CompletionAlgorithm::als, CompletionAlgorithm::ccd, CompletionAlgorithm::sgd})
            for (const double holdout : {0.0, 0.3}) {
                CompletionOptions options;
                options.rank = 4;
                options.algorithm = algorithm;
                options.holdout = holdout;
                options.max_iterations = 2;
                options.planned = [&](std::int64_t bytes, std::int64_t) { forecast = most(bytes); };
                const auto taken = before + most(most_held([&] { complete(tensor, options, {}, nullptr, nullptr, &*weights); }));
                expect_covered(taken, forecast,
                               "completion " + std::to_string(static_cast<int>(algorithm)) + " with weights, " + std::to_string(holdout) +
                                   ", " + shape.text(),
                               0.3);
            }
    }
}

TEST_F(ForecastsOnRanks, RefuseToCompactInTooLittleMemory) {
    const auto limit = world_.memory_limit();
    for (const auto& shape : sizes()) {
        SparseTensor<double> tensor(world_, shape.lengths, "X");
        tensor.state()->replace(random_nonzeros(shape, 2 + static_cast<std::uint64_t>(comm().rank())), SparsePattern::Place::anywhere);
        const auto held = world_.memory_in_use();
        world_.set_memory_limit(held);
        std::int64_t wanted = 0;
        const auto taken = most(most_held([&] {
            try {
                compacted(tensor);
                ADD_FAILURE() << "not refused, " << shape.text();
            } catch (const OutOfMemory& error) {
                const std::string text = error.what();
                EXPECT_NE(text.find("--memory"), std::string::npos) << text;
                wanted = std::stoll(text.substr(text.find(" takes ") + 7));
            }
        }));
        EXPECT_LE(taken, small_sparse_change) << shape.text();
        world_.set_memory_limit(held + wanted);
        CompactTensor<double> compact;
        expect_covered(most(most_held([&] { compact = compacted(tensor); })), wanted, "compacting, " + shape.text(), 0.5);
        EXPECT_EQ(compact.tensor.nonzeros(), tensor.nonzeros());
        world_.set_memory_limit(limit);
    }
}

TEST_F(ForecastsOnRanks, CoverReading) {
    const TemporaryFolder folder(world_);
    for (const auto& shape : sizes()) {
        const auto x = random_nonzeros(shape, 3);
        std::ostringstream text;
        for (std::size_t i = 0; i < x.values.size(); ++i) {
            for (const auto& column : x.indices) text << column[i] + 1 << ' ';
            text << "1.5\n";
        }
        const auto file = folder.write("x.tns", text.str());
        auto tensor = read_sparse<double>(world_, file).tensor;
        const auto packed = folder / "x.tns.gz", binary = folder / "x.atns";
        write_sparse(tensor, packed);
        write_sparse(tensor, binary);
        tensor = {};
        for (const auto& path : {file, packed, binary}) {
            const auto outline = io::sparse_outline(comm(), path, {}, 8);
            EXPECT_NEAR(static_cast<double>(outline.entries), static_cast<double>(shape.count), 0.3 * static_cast<double>(shape.count))
                << path;
            EXPECT_EQ(outline.shape.order, x.order());
            std::int64_t duplicates = 0;
            const auto taken = most(most_held([&] { duplicates = read_sparse<double>(world_, path).report.duplicates; }));
            auto known = outline.shape;
            known.lengths = shape.lengths;
            const auto count = (shape.count + comm().size() - 1) / comm().size() + shape.count / 50;
            expect_covered(taken, io::reading_memory(known, count, duplicates).peak(), path + ", " + shape.text(), 0.3);
        }
    }
}

TEST_F(ForecastsOnRanks, CoverDecompositions) {
    for (const auto& shape : sizes())
        for (const char* distribution : {"auto", "coarse", "coarse-allgather", "fine", "coarse-hypergraph", "fine-hypergraph"})
            // The algorithms; als with constraints on rows, and on columns; other starts; constraints with missing elements.
            for (const int way : {0, 1, 2, 3, 4, 5, 6, 7, 8}) {
                const auto algorithm = way < 3 ? static_cast<CpAlgorithm>(way) : CpAlgorithm::als;
                const bool is_hypergraph = std::string(distribution).ends_with("-hypergraph");
                if (way > 0 && std::string(distribution) != "auto") continue;
                if (is_hypergraph && shape.lengths.size() > 3) continue;  // they take long
                const auto count = shape.count / (is_hypergraph ? 5 : 1);
                SparseTensor<double> tensor(world_, shape.lengths, "x");
                const auto x = random_nonzeros({shape.lengths, count / comm().size()}, 4 + static_cast<std::uint64_t>(comm().rank()));
                std::vector<std::int64_t> tuples;
                for (std::size_t i = 0; i < x.values.size(); ++i)
                    for (const auto& column : x.indices) tuples.push_back(column[i]);
                tensor.write_at(tuples, x.values, Duplicates::sum);
                std::vector<std::int64_t>().swap(tuples);
                CpOptions options;
                options.rank = 6;
                options.algorithm = algorithm;
                if (way == 5 || way == 6) options.init = way == 5 ? CpInit::hosvd : CpInit::sketched;
                if (way == 3 || way == 7) options.constraints = {parse_constraint("nonnegative")};
                if (way == 4 || way == 8) options.constraints = {parse_constraint("smooth=0.1")};
                options.missing = way >= 7;
                options.max_iterations = way == 4 || way >= 7 ? 3 : 12;
                options.tolerance = 0;
                options.regularization = 1e-3;
                options.distribution = distribution;
                std::int64_t forecast = 0;
                const auto held = SparsePattern::bytes(tensor.order() + 1, tensor.local_nonzeros());
                const auto taken = most(held + most_held([&] { forecast = cp_decompose(std::move(tensor), options).forecast_bytes; }));
                // The choice of "auto" takes samples that pay in the time of the iterations, which machines differ in; the forecast is for
                // the largest ones.
                const bool chooses = std::string(distribution) == "auto" && comm().size() > 1;
                expect_covered(taken, forecast, std::string(distribution) + ", " + shape.text(), chooses ? 0 : least_share(is_hypergraph));
            }
}

TEST_F(ForecastsOnRanks, CoverCompletions) {
    for (const auto& shape : sizes())
        for (const char* distribution : {"medium", "coarse", "fine"})
            for (const auto algorithm : {CompletionAlgorithm::als, CompletionAlgorithm::ccd, CompletionAlgorithm::sgd})
                for (const double holdout : {0.0, 0.3}) {
                    if (algorithm == CompletionAlgorithm::ccd && std::string(distribution) == "coarse") continue;
                    SparseTensor<double> tensor(world_, shape.lengths, "x");
                    const auto x =
                        random_nonzeros({shape.lengths, shape.count / comm().size()}, 8 + static_cast<std::uint64_t>(comm().rank()));
                    std::vector<std::int64_t> tuples;
                    for (std::size_t i = 0; i < x.values.size(); ++i)
                        for (const auto& column : x.indices) tuples.push_back(column[i]);
                    tensor.write_at(tuples, x.values, Duplicates::sum);
                    std::vector<std::int64_t>().swap(tuples);
                    CompletionOptions options;
                    options.rank = 6;
                    options.algorithm = algorithm;
                    options.max_iterations = 2;
                    options.tolerance = 0;
                    options.regularization = 1e-3;
                    options.distribution = distribution;
                    options.holdout = holdout;
                    std::int64_t forecast = 0;
                    const auto held = SparsePattern::bytes(tensor.order() + 1, tensor.local_nonzeros());
                    const auto taken = most(held + most_held([&] { forecast = complete(std::move(tensor), options).forecast_bytes; }));
                    expect_covered(taken, forecast,
                                   std::string(distribution) + ", " + std::to_string(static_cast<int>(algorithm)) + ", " +
                                       std::to_string(holdout) + ", " + shape.text(),
                                   std::string(distribution) == "medium" && comm().size() > 1 ? 0 : least_share(false));
                }
}

/// A tensor that is too large for rank 0 to partition as it is.
TEST_F(ForecastsOnRanks, CoverPredictionsOfTables) {
    const TemporaryFolder folder(world_);
    for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{300, 400, 200}, {60000, 50}, {20000, 30000, 10000, 40}}) {
        std::vector<std::vector<std::int64_t>> rows(lengths.size());
        std::vector<std::vector<double>> factors(lengths.size());
        std::vector<ModeIds> ids;
        std::string text;
        for (std::size_t m = 0; m < lengths.size(); ++m) {
            for (auto i = std::int64_t{world_.rank()}; i < lengths[m]; i += world_.size()) rows[m].push_back(i);
            factors[m].assign(4 * rows[m].size(), 0.5);
            ids.push_back({"mode" + std::to_string(m), lengths[m], {}});
            for (std::int64_t i = 0; world_.rank() == 0 && i < lengths[m]; ++i) ids[m].mine.push_back("id " + std::to_string(i));
            text += (m == 0 ? "mode" : ",mode") + std::to_string(m);
        }
        const CpModel<double> model(world_, lengths, {4, 3, 2, 1}, rows, factors);
        std::mt19937_64 random(5);
        for (int x = 0; x < 150000; ++x)
            for (std::size_t m = 0; m < lengths.size(); ++m)
                text += (m == 0 ? "\nid " : ",id ") + std::to_string(random() % static_cast<std::uint64_t>(lengths[m] + 9));
        const auto known = folder / "model.ids", written = folder / "p.csv";
        write_ids(world_, ids, known);
        for (const auto& path : {folder.write("q.csv", text + "\n"), folder.write("q.csv.gz", zipped(text))})
            for (const auto& output : {std::string(), written}) {
                predict_table(model, path, known, {}, output);  // MPI has what it needs
                const auto taken = most(most_held([&] { predict_table(model, path, known, {}, output); }));
                expect_covered(taken, prediction_bytes(model, path, known, {}, output),
                               path + " to " + output + ", " + std::to_string(lengths[0]), 0.4);
            }
    }
}

TEST_F(ForecastsOnRanks, CoverPredictionsAtIndices) {
    const TemporaryFolder folder(world_);
    for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{300, 400, 200}, {60000, 50}, {20000, 30000, 10000, 40}}) {
        std::vector<std::vector<std::int64_t>> rows(lengths.size());
        std::vector<std::vector<double>> factors(lengths.size());
        for (std::size_t m = 0; m < lengths.size(); ++m) {
            for (auto i = std::int64_t{world_.rank()}; i < lengths[m]; i += world_.size()) rows[m].push_back(i);
            factors[m].assign(4 * rows[m].size(), 0.5);
        }
        const CpModel<double> model(world_, lengths, {4, 3, 2, 1}, rows, factors);
        std::mt19937_64 random(5);
        std::string text;
        for (int x = 0; x < 150000; ++x) {
            for (auto length : lengths) text += std::to_string(1 + random() % static_cast<std::uint64_t>(length)) + " ";
            text += lengths.size() > 2 ? "2.5\n" : "\n";
        }
        const auto written = folder / "p.tns";
        for (const auto& path : {folder.write("q.tns", text), folder.write("q.tns.gz", zipped(text))})
            for (const auto& output : {std::string(), written}) {
                predict_file(model, path, output);  // MPI has what it needs
                const auto taken = most(most_held([&] { predict_file(model, path, output); }));
                expect_covered(taken, prediction_bytes(model, path, output), path + " to " + output + ", " + std::to_string(lengths[0]),
                               0.3);
            }
    }
}

TEST_F(ForecastsOnRanks, CoverSpreadPartitions) {
    const Sizes shape{{60000, 40000, 50}, 200000};
    const auto x = random_nonzeros({shape.lengths, shape.count / comm().size()}, 7 + static_cast<std::uint64_t>(comm().rank()));
    decompose::SparseShare share;
    share.ranks = comm().size();
    share.lengths = shape.lengths;
    share.before = x.count();
    for (const char* distribution : {"fine-hypergraph", "coarse-hypergraph"}) {
        decompose::DistributionRequest request;
        request.distribution = distribution;
        const auto taken = most(most_held([&] { decompose::choose_distribution(comm(), x, request); }));
        expect_covered(taken, decompose::choice_memory(share, distribution, false).peak(), distribution, 0.05);
    }
}

TEST_F(ForecastsOnRanks, CoverSparseTucker) {
    for (const std::string kind : {"plain", "missing", "nonnegative"})
        for (const auto& shape : sizes()) {
            SparseTensor<double> tensor(world_, shape.lengths, "x");
            const auto x = random_nonzeros({shape.lengths, shape.count / comm().size()}, 5 + static_cast<std::uint64_t>(comm().rank()));
            std::vector<std::int64_t> tuples;
            for (std::size_t i = 0; i < x.values.size(); ++i)
                for (const auto& column : x.indices) tuples.push_back(column[i]);
            tensor.write_at(tuples, x.values, Duplicates::sum);
            std::vector<std::int64_t>().swap(tuples);
            TuckerOptions options;
            options.ranks.assign(shape.lengths.size(), 2);
            options.max_iterations = 2;
            options.missing = kind == "missing";
            if (kind == "nonnegative") options.method = TuckerMethod::nonnegative;
            std::int64_t forecast = 0;
            const auto held = SparsePattern::bytes(tensor.order() + 1, tensor.local_nonzeros());
            const auto taken = most(held + most_held([&] { forecast = tucker_decompose(std::move(tensor), options).forecast_bytes; }));
            expect_covered(taken, forecast, "tucker, " + kind + ", " + shape.text(), least_share(false));
        }
}

TEST_F(ForecastsOnRanks, CoverSparseTuckerWithAnError) {
    SparseTensor<double> tensor(world_, {300, 400, 20}, "x");
    const auto x = random_nonzeros({{300, 400, 20}, 20000 / comm().size()}, 5 + static_cast<std::uint64_t>(comm().rank()));
    std::vector<std::int64_t> tuples;
    for (std::size_t i = 0; i < x.values.size(); ++i)
        for (const auto& column : x.indices) tuples.push_back(column[i]);
    tensor.write_at(tuples, x.values, Duplicates::sum);
    std::vector<std::int64_t>().swap(tuples);
    TuckerOptions options;
    options.relative_error = 0.985;
    std::int64_t forecast = 0;
    std::vector<std::int64_t> ranks;
    const auto taken = most(most_held([&] {
        const auto result = tucker_decompose(tensor, options);
        forecast = result.forecast_bytes;
        ranks = result.model.ranks();
    }));
    const auto held = SparsePattern::bytes(tensor.order() + 1, tensor.local_nonzeros());
    EXPECT_GT(*std::max_element(ranks.begin(), ranks.end()), 4);
    expect_covered(taken + held, forecast, "tucker with an error", least_share(false));
}

/// A forecast over the limit is refused by all ranks, before anything is made.
TEST_F(ForecastsOnRanks, AreRefusedOverTheLimit) {
    SparseTensor<double> tensor(world_, {300, 400, 20}, "x");
    const auto x = random_nonzeros({{300, 400, 20}, 20000}, 6);
    std::vector<std::int64_t> tuples;
    for (std::size_t i = 0; i < x.values.size() && comm().rank() == 0; ++i)
        for (const auto& column : x.indices) tuples.push_back(column[i]);
    tensor.write_at(tuples, std::span(x.values).first(tuples.size() / 3), Duplicates::sum);
    const auto limit = world_.memory_limit();
    CpOptions options;
    options.max_iterations = 1;
    const auto forecast = cp_decompose(tensor, options).forecast_bytes;
    world_.set_memory_limit(world_.memory_in_use() + forecast / 4);
    EXPECT_THROW(cp_decompose(tensor, options), OutOfMemory);
    TuckerOptions tucker;
    tucker.ranks = {2, 2, 2};
    EXPECT_THROW(tucker_decompose(tensor, tucker), OutOfMemory);
    world_.set_memory_limit(limit);
    EXPECT_EQ(cp_decompose(tensor, options).forecast_bytes, forecast);
}

}  // namespace
}  // namespace arges::test

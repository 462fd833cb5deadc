// Biases of completions against a sequential oracle, and predictions of models, in memory and in files.
#include "arges/complete.hpp"
#include "arges/error.hpp"
#include "arges/predict.hpp"
#include "arges/table_io.hpp"
#include "comm/values.hpp"
#include "decompose/tensor_of.hpp"
#include "interface/world/world_state.hpp"
#include "io/temporary_folder.hpp"

#include "decompose/completion/elements.hpp"
#include "decompose/completion/held_out.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace arges::test {
namespace {

using sparse::Nonzeros;

/// Ratings from 1 to 5 of which a part is known: a bias for each row, a little interaction, and noise.
Nonzeros<double> ratings(const std::vector<std::int64_t>& lengths, double part, std::uint64_t seed) {
    Nonzeros<double> result;
    result.lengths = lengths;
    result.indices.resize(lengths.size());
    std::vector<std::int64_t> index(lengths.size(), 0);
    std::int64_t size = 1;
    for (auto n : lengths) size *= n;
    const auto noise = [&](std::uint64_t salt, std::int64_t i) {
        const std::vector<std::int64_t> one{i};
        return 2 * unit_interval(decompose::element_hash(salt, one)) - 1;
    };
    for (std::int64_t x = 0; x < size; ++x) {
        auto rest = x;
        double value = 3.2 + 0.5 * noise(99, x), product = 1;
        for (std::size_t m = 0; m < lengths.size(); ++m) {
            index[m] = rest % lengths[m];
            rest /= lengths[m];
            value += noise(m + 1, index[m]);
            product *= noise(m + 11, index[m]);
        }
        if (unit_interval(decompose::element_hash(seed, index)) >= part) continue;
        for (std::size_t m = 0; m < lengths.size(); ++m) result.indices[m].push_back(index[m]);
        result.values.push_back(std::clamp(std::round(value + product), 1.0, 5.0));
    }
    return result;
}

/// Mean and biases as complete() says that it finds them, on one rank.
struct BiasOracle {
    double mean = 0;
    std::vector<std::vector<double>> biases;

    explicit BiasOracle(const Nonzeros<double>& tensor) {
        for (double value : tensor.values) mean += value / static_cast<double>(tensor.count());
        for (auto n : tensor.lengths) biases.emplace_back(n, 0.0);
        for (int sweep = 0; sweep < 8; ++sweep)
            for (std::size_t m = 0; m < biases.size(); ++m) {
                std::vector<double> sum(biases[m].size(), 0), count(biases[m].size(), 5);
                for (std::size_t x = 0; x < tensor.values.size(); ++x) {
                    const auto row = static_cast<std::size_t>(tensor.indices[m][x]);
                    sum[row] += tensor.values[x] - at(tensor, x) + biases[m][row];
                    ++count[row];
                }
                for (std::size_t i = 0; i < sum.size(); ++i) biases[m][i] = sum[i] / count[i];
            }
    }
    double at(const Nonzeros<double>& tensor, std::size_t x) const {
        double sum = mean;
        for (std::size_t m = 0; m < biases.size(); ++m) sum += biases[m][static_cast<std::size_t>(tensor.indices[m][x])];
        return sum;
    }
    double rmse(const Nonzeros<double>& tensor) const {
        double sum = 0;
        for (std::size_t x = 0; x < tensor.values.size(); ++x) sum += std::pow(tensor.values[x] - at(tensor, x), 2);
        return std::sqrt(sum / static_cast<double>(tensor.count()));
    }
};

/// Elements of a model, found from whole factors; where a row is not among `known`, without the part of the components.
template <class T>
double slow_element(const CpModel<T>& model, const std::vector<std::vector<T>>& factors, const std::vector<std::vector<T>>& biases,
                    const Nonzeros<double>& tensor, std::size_t x) {
    double sum = model.mean();
    for (std::size_t m = 0; m < biases.size(); ++m) sum += static_cast<double>(biases[m][static_cast<std::size_t>(tensor.indices[m][x])]);
    const auto rank = static_cast<std::size_t>(model.rank());
    for (std::size_t r = 0; r < rank; ++r) {
        double product = model.lambda()[r];
        for (std::size_t m = 0; m < factors.size(); ++m)
            product *= static_cast<double>(factors[m][static_cast<std::size_t>(tensor.indices[m][x]) * rank + r]);
        sum += product;
    }
    return sum;
}

template <class T>
std::vector<double> slow_elements(const CpModel<T>& model, const Nonzeros<double>& tensor) {
    std::vector<std::vector<T>> factors, biases;
    for (int m = 0; m < model.order(); ++m) {
        factors.push_back(model.gather(m));
        biases.push_back(model.gather_bias(m));
    }
    std::vector<double> result;
    for (std::size_t x = 0; x < tensor.values.size(); ++x) result.push_back(slow_element(model, factors, biases, tensor, x));
    return result;
}

double rmse_of(const std::vector<double>& found, const Nonzeros<double>& tensor) {
    double sum = 0;
    for (std::size_t x = 0; x < found.size(); ++x) sum += std::pow(tensor.values[x] - found[x], 2);
    return std::sqrt(sum / static_cast<double>(found.size()));
}

CompletionOptions few(CompletionAlgorithm algorithm) {
    CompletionOptions options;
    options.rank = 2;
    options.algorithm = algorithm;
    options.max_iterations = 6;
    options.tolerance = 0;
    return options;
}

const auto every_algorithm = {CompletionAlgorithm::als, CompletionAlgorithm::ccd, CompletionAlgorithm::sgd};

TEST(Predict, biases_are_those_of_the_oracle) {
    const World world;
    for (const auto& lengths : {std::vector<std::int64_t>{30, 25}, {12, 11, 7}, {6, 5, 4, 3}}) {
        const auto known = ratings(lengths, 0.5, 1), held = ratings(lengths, 0.2, 2);
        const BiasOracle oracle(known);
        const auto V = tensor_of(world, held);
        for (const auto algorithm : every_algorithm)
            for (const char* distribution : {"medium", "fine", "coarse"}) {
                if (algorithm == CompletionAlgorithm::ccd && distribution == std::string("coarse")) continue;
                auto options = few(algorithm);
                options.distribution = distribution;
                const auto result = complete(tensor_of(world, known), options, {}, nullptr, &V);
                ASSERT_TRUE(result.has_biases);
                EXPECT_EQ(result.different_values, std::ssize(std::set<double>(known.values.begin(), known.values.end())));
                EXPECT_NEAR(result.model.mean(), oracle.mean, 1e-12);
                for (std::size_t m = 0; m < lengths.size(); ++m) {
                    const auto found = result.model.gather_bias(static_cast<int>(m));
                    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], oracle.biases[m][i], 1e-10);
                }
                EXPECT_NEAR(result.fitted_bias_rmse, oracle.rmse(known), 1e-10);
                EXPECT_NEAR(result.held_out_bias_rmse, oracle.rmse(held), 1e-10);
                EXPECT_NEAR(result.held_out_rmse, rmse_of(slow_elements(result.model, held), held), 1e-9);
                EXPECT_NEAR(result.rmse, rmse_of(slow_elements(result.model, known), known), 1e-9);
                EXPECT_LT(result.held_out_rmse, result.held_out_mean_rmse);
            }
    }
}

TEST(Predict, biases_are_for_ratings_unless_asked_for) {
    const World world;
    auto known = ratings({20, 15}, 0.6, 1);
    auto options = few(CompletionAlgorithm::als);
    options.biases = CompletionBiases::off;
    EXPECT_FALSE(complete(tensor_of(world, known), options).has_biases);
    for (std::size_t x = 0; x < known.values.size(); ++x) known.values[x] += 1e-3 * static_cast<double>(x);
    options.biases = CompletionBiases::detect;
    const auto off = complete(tensor_of(world, known), options);
    EXPECT_FALSE(off.has_biases);
    EXPECT_EQ(off.different_values, rating_values + 1);
    options.biases = CompletionBiases::on;
    const auto on = complete(tensor_of(world, known), options);
    EXPECT_TRUE(on.has_biases);
    EXPECT_LT(on.fitted_bias_rmse, on.fitted_deviation);
    // Noise has no biases, whatever its values are.
    auto noise = known;
    for (std::size_t x = 0; x < noise.values.size(); ++x) {
        const std::vector<std::int64_t> place{static_cast<std::int64_t>(x)};
        noise.values[x] = unit_interval(decompose::element_hash(5, place)) < 0.5 ? 1 : 2;
    }
    options.biases = CompletionBiases::detect;
    EXPECT_FALSE(complete(tensor_of(world, noise), options).has_biases);
    // What mean and biases say is all.
    for (auto& value : noise.values) value = 4;
    options.biases = CompletionBiases::on;
    for (const auto algorithm : every_algorithm) {
        options.algorithm = algorithm;
        const auto same = complete(tensor_of(world, noise), options);
        EXPECT_LT(same.rmse, 1e-12);
    }
}

/// In unknown slices the other biases tell; the start keeps its biases, also from a file.
TEST(Predict, models_with_biases_are_saved_started_from_and_reconstructed) {
    const World world, alone(MPI_COMM_SELF);
    const TemporaryFolder folder(world);
    const auto known = ratings({16, 14, 9}, 0.3, 1);
    const auto lengths = std::vector<std::int64_t>{18, 14, 10};
    auto larger = known;
    larger.lengths = lengths;
    const auto X = tensor_of(world, larger);
    auto options = few(CompletionAlgorithm::als);
    const auto wanted = complete(X, options);
    options.max_iterations = 3;
    const auto half = complete(X, options);
    for (const auto form : {ModelForm::npy, ModelForm::text}) {
        save_model(half.model, folder / "model", form);
        const auto loaded = load_model<double>(world, folder / "model");
        EXPECT_EQ(loaded.mean(), half.model.mean());
        for (int m = 0; m < 3; ++m) EXPECT_EQ(loaded.gather_bias(m), half.model.gather_bias(m));
        const auto found = complete(X, options, {}, &loaded);
        EXPECT_TRUE(found.has_biases);
        EXPECT_NEAR(found.losses.back(), wanted.losses.back(), 1e-8 * wanted.losses.back());
        const auto single = load_model<float>(alone, folder / "model");
        EXPECT_NEAR(single.mean(), half.model.mean(), 1e-6);
        EXPECT_EQ(single.bias(1).size(), single.rows(1).size());
    }
    options.biases = CompletionBiases::off;
    EXPECT_THROW(complete(X, options, {}, &half.model), InvalidArgument);
    const auto whole = ratings(lengths, 2, 1);
    const auto elements = slow_elements(wanted.model, whole);
    const auto tensor = reconstruct(wanted.model);
    std::vector<std::int64_t> keys;
    for (std::size_t x = 0; x < elements.size(); ++x)
        keys.push_back(whole.indices[0][x] + 18 * (whole.indices[1][x] + 14 * whole.indices[2][x]));
    const auto read = tensor.read(keys);
    for (std::size_t x = 0; x < elements.size(); ++x) ASSERT_NEAR(read[x], elements[x], 1e-10);
    const auto part = reconstruct(wanted.model, {2, 3, 4}, {9, 10, 10}).read({5 + 7 * (2 + 7 * 3)});
    EXPECT_NEAR(part[0], tensor.read({7 + 18 * (5 + 14 * 7)})[0], 1e-12);
    // Each rank asks for elements of its own; slices 16 and 17 of the first mode and 9 of the last are unknown.
    std::vector<std::vector<std::int64_t>> mine(3);
    std::vector<double> expected;
    for (std::size_t x = 0; x < elements.size(); ++x)
        if (x % static_cast<std::size_t>(world.size() + 1) == static_cast<std::size_t>(world.rank())) {
            for (std::size_t m = 0; m < 3; ++m) mine[m].push_back(whole.indices[m][x]);
            expected.push_back(elements[x]);
        }
    const auto found = predict(wanted.model, mine);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t x = 0; x < found.size(); ++x) ASSERT_NEAR(found[x], expected[x], 1e-10);
    std::vector<std::vector<std::int64_t>> none(3);
    EXPECT_TRUE(predict(wanted.model, none).empty());
}

/// Trials are completions of the same parts, whatever the number of ranks.
TEST(Predict, chooses_by_elements_that_are_left_out) {
    const World world, alone(MPI_COMM_SELF);
    const auto known = ratings({30, 25}, 0.5, 1);
    auto options = few(CompletionAlgorithm::als);
    options.holdout = 0.2;
    const auto choice = choose_completion(tensor_of(world, known), options, false, true);
    ASSERT_EQ(choice.trials.size(), 8U);
    auto fitted = known;
    decompose::split_off(fitted, 0.2, options.seed);
    const auto judge = decompose::split_off(fitted, 0.1, options.seed + 1);
    const auto V = tensor_of(alone, judge);
    options.holdout = 0;
    for (const auto& trial : choice.trials) {
        options.regularization = trial.regularization;
        const auto wanted = complete(tensor_of(alone, fitted), options, {}, nullptr, &V);
        EXPECT_NEAR(trial.held_out_rmse, wanted.held_out_rmse, 1e-8);
        EXPECT_LE(choice.best.held_out_rmse, trial.held_out_rmse);
        EXPECT_EQ(trial.rank, 2);
    }
    options.max_iterations = 2;
    int seen = 0;
    const auto both = choose_completion(tensor_of(world, known), options, true, true, [&](const CompletionTrial&) { ++seen; });
    EXPECT_EQ(seen, std::ssize(both.trials));
    EXPECT_GE(both.trials.size(), 13U);
    EXPECT_EQ(choose_completion(tensor_of(world, known), options, true, false).trials.size(), 6U);
}

TEST(Predict, refuses_what_is_outside) {
    const World world;
    const auto known = ratings({8, 7}, 0.7, 1);
    const auto model = complete(tensor_of(world, known), few(CompletionAlgorithm::als)).model;
    const auto last = world.rank() + 1 == world.size();
    EXPECT_THROW(predict(model, {{0}, {last ? 7 : 0}}), InvalidArgument);
    EXPECT_THROW(predict(model, {{0}}), InvalidArgument);
    EXPECT_THROW(predict(model, {{0}, {0, 1}}), InvalidArgument);
    auto biased = model;
    EXPECT_THROW(biased.set_biases(0, {{}, {}, {}}), InvalidArgument);
    EXPECT_THROW(model.bias(2), InvalidArgument);
    EXPECT_THROW(model.gather_bias(-1), InvalidArgument);
}

TEST(Predict, files_have_the_predictions_of_their_lines) {
    const World world;
    const TemporaryFolder folder(world);
    const auto known = ratings({8, 7}, 0.7, 1), all = ratings({8, 7}, 2, 1);
    const auto model = complete(tensor_of(world, known), few(CompletionAlgorithm::als)).model;
    const auto elements = slow_elements(model, all);
    std::string indices = "# some lines\n\n", values;
    for (std::size_t x = 0; x < elements.size(); ++x) {
        const auto place = std::to_string(all.indices[0][x] + 1) + " " + std::to_string(all.indices[1][x] + 1);
        indices += place + "\n";
        values += place + "\t" + std::to_string(all.values[x]) + "\n";
    }
    const auto without = folder.write("without.tns", indices), with = folder.write("with.tns", values), out = folder / "out.tns";
    const auto report = predict_file(model, without, out);
    EXPECT_EQ(report.predictions, 56);
    EXPECT_EQ(report.index_base, 1);
    EXPECT_EQ(report.lines, 58);
    EXPECT_FALSE(report.has_values);
    const auto again = predict_file(model, with, "");
    EXPECT_TRUE(again.has_values);
    EXPECT_NEAR(again.rmse, rmse_of(elements, all), 1e-9);
    EXPECT_EQ(again.text, world.rank() == 0 ? TemporaryFolder::read(out) : "");
    const auto written = read_sparse<double>(world, out);
    EXPECT_EQ(written.tensor.nonzeros(), 56);
    EXPECT_EQ(predict_file(model, out, folder / "twice.tns.gz").rmse, 0);
    EXPECT_LT(predict_file(model, folder / "twice.tns.gz", "").rmse, 1e-15);
    const auto refuses = [&](const char* text, const char* message, IndexBase base = IndexBase::detect) {
        const auto file = folder.write("wrong.tns", text);
        try {
            predict_file(model, file, "", base);
            ADD_FAILURE() << message;
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
        }
    };
    refuses("# none\n", "no line with indices");
    refuses("1 1\n1 8\n", "line 2: index 8 in mode 2 of a model whose indices are 1 to 7 there");
    refuses("1 0\n1 7\n", "line 2: index 7 in mode 2 of a model whose indices are 0 to 6 there");
    refuses("1 0\n", "line 1: index 0 in mode 2", IndexBase::one);
    refuses("1 1\n1 2 3\n", "3 columns, and another line has 2");
    refuses("1 1\n\n1 2 3 4\n", "line 3: 4 columns; a line has 2 indices");
    refuses("1 x\n", "line 1: 'x' is no index");
    refuses("1 1 nan\n", "line 1: 'nan' is no finite number");
}

/// Ids in memory, in a file, and in a table are the same elements; in unknown slices the other biases tell.
TEST(Predict, rows_of_ids_are_those_of_a_table) {
    const World world;
    const TemporaryFolder folder(world);
    const auto known = ratings({8, 7}, 0.7, 1);
    const auto model = complete(tensor_of(world, known), few(CompletionAlgorithm::als)).model;
    std::vector<std::vector<std::string>> lists(2);
    for (int i = 0; i < 8; ++i) lists[0].push_back("user " + std::to_string(i) + (i == 3 ? "\\\n" : ""));
    for (int i = 0; i < 7; ++i) lists[1].push_back("2024-03-0" + std::to_string(i + 1));
    std::vector<ModeIds> ids{{"who", 8, {}}, {"when:1d", 7, {}}};
    if (world.rank() == 0)
        for (std::size_t m = 0; m < 2; ++m) ids[m].mine = lists[m];
    const auto file = folder / "model.ids";
    write_ids(world, ids, file);
    std::vector<std::vector<std::string>> rows, times;
    std::vector<double> expected;
    std::string table = "when,who\n";
    const auto add = [&](int i, int j) {
        rows.push_back({i < 0 ? "nobody" : lists[0][static_cast<std::size_t>(i)], lists[1][static_cast<std::size_t>(j)]});
        times.push_back({rows.back()[0], rows.back()[1] + " 13:05"});
        table += times.back()[1] + ",\"" + rows.back()[0] + "\"\n";
        double sum = model.mean() + model.gather_bias(1)[static_cast<std::size_t>(j)];
        if (i >= 0) {
            sum += model.gather_bias(0)[static_cast<std::size_t>(i)];
            for (int r = 0; r < 2; ++r)
                sum += model.lambda()[static_cast<std::size_t>(r)] * model.gather(0)[static_cast<std::size_t>(2 * i + r)] *
                       model.gather(1)[static_cast<std::size_t>(2 * j + r)];
        }
        expected.push_back(sum);
    };
    for (int k = 0; k < 20; ++k) add(k % 6 == 5 ? -1 : k % 8, (3 * k) % 7);
    TableOptions options;
    options.columns = {"who", "when"};
    const auto of_table = predict_table(model, folder.write("q.csv", table), file, options, "");
    for (const auto& report :
         {predict_ids(model, rows, lists), predict_ids(model, rows, file), predict_ids(model, times, file), of_table}) {
        EXPECT_EQ(report.predictions, 20);
        EXPECT_EQ(report.unknown, 3);
        EXPECT_EQ(report.unknown_ids, (std::vector<std::int64_t>{3, 0}));
        const auto all = gathered(communicator_of(world, "test"), report.elements);
        ASSERT_EQ(all.size(), expected.size());
        for (std::size_t x = 0; x < all.size(); ++x) EXPECT_NEAR(all[x], expected[x], 1e-12);
    }
    EXPECT_EQ(predict_ids(model, times, lists).unknown_ids[1], 20);
    EXPECT_EQ(predict_ids(model, {}, file).predictions, 0);
    const auto message = [&](const auto& wrong, const auto& known_ids) -> std::string {
        try {
            predict_ids(model, wrong, known_ids);
        } catch (const InvalidArgument& error) {
            return error.what();
        }
        return "";
    };
    using Rows = std::vector<std::vector<std::string>>;
    EXPECT_EQ(message(Rows{{"a", "2024-03-01"}, {"a"}}, file), "predict: row 2 has 1 ids for the 2 modes of the model; give one for each");
    EXPECT_NE(message(Rows{{"a", "2024-03-01"}, {"a", "soon"}}, file).find("line 2"), std::string::npos);
    EXPECT_NE(message(Rows{{"a", "b"}}, Rows{{"a"}, {"b"}}).find("ids of a tensor of 1 x 1, and the model is 8 x 7"), std::string::npos);
    EXPECT_NE(message(rows, folder / "none.ids").find("there are no ids"), std::string::npos);
}

}  // namespace
}  // namespace arges::test

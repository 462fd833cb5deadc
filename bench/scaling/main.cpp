// Times cases on the ranks that it is started on, and appends a line for each to a file of comma-separated values.
// bench/scaling/run.sh starts it on one number of ranks after the other, and prints tables of all; docs/cluster.md.
#include "scaling_case.hpp"

#include "arges/error.hpp"
#include "interface/world/world_state.hpp"

#include <CLI/CLI.hpp>
#include <omp.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace {

using bench::Outcome;
using bench::ScalingCase;

const char* const heading =
    "scaling,case,size,ranks,threads,unit,work,first_seconds,seconds,predicted_seconds,bytes_sent,bytes_planned,messages,not_as_planned";

std::vector<ScalingCase> all_cases() {
    auto cases = bench::product_cases();
    for (const auto& more : {bench::exchange_cases(), bench::method_cases()}) cases.insert(cases.end(), more.begin(), more.end());
    return cases;
}

/// The cases of these names, or all of them.
std::vector<ScalingCase> chosen_cases(const std::vector<std::string>& names) {
    const auto cases = all_cases();
    if (names.empty()) return cases;
    std::vector<ScalingCase> chosen;
    for (const auto& name : names) {
        const auto found = std::find_if(cases.begin(), cases.end(), [&](const auto& c) { return c.name == name; });
        if (found == cases.end()) throw arges::InvalidArgument("there is no case " + name + "; --list prints those that there are");
        chosen.push_back(*found);
    }
    return chosen;
}

/// -1 stands for what is not known.
std::string line_of(const std::string& scaling, const std::string& name, const Outcome& o, std::int64_t ranks) {
    char text[512];
    std::snprintf(text, sizeof text, "%s,%s,%s,%lld,%d,%s,%.6g,%.6g,%.6g,%.6g,%.0f,%.0f,%.0f,%lld", scaling.c_str(), name.c_str(),
                  o.size.c_str(), static_cast<long long>(ranks), omp_get_max_threads(), o.unit.c_str(), o.work, o.first, o.seconds,
                  o.predicted, o.sent, o.planned, o.messages, static_cast<long long>(o.ranks_not_as_planned));
    return text;
}

struct Command {
    std::vector<std::string> cases;
    std::string scaling = "weak", csv;
    bench::Setting setting;
    bool list = false;
};

void declare(CLI::App& app, Command& command) {
    auto& setting = command.setting;
    app.add_option("--cases", command.cases, "names, separated by commas; without them all")->delimiter(',');
    app.add_option("--scaling", command.scaling, "what these runs are part of: weak or strong")
        ->check(CLI::IsMember({"weak", "strong"}))
        ->capture_default_str();
    app.add_option("--words", setting.words, "elements of the largest tensor of a case, for each rank")
        ->check(CLI::Range(std::int64_t{64}, std::int64_t{1} << 40))
        ->capture_default_str();
    app.add_option("--sized-for", setting.sized_for, "ranks for which cases are as large; without it those that there are")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31));
    app.add_flag("--paper", setting.paper, "deinsum-2022's products in the sizes of its Table V");
    app.add_option("--settle", setting.settle, "runs before those that are timed")->check(CLI::Range(0, 1000))->capture_default_str();
    app.add_option("--repetitions", setting.repetitions, "runs that are timed; the median counts")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--csv", command.csv, "file to append to; without it lines are printed");
    app.add_flag("--list", command.list, "print the names of all cases");
}

/// Where lines go, on rank 0. Collective. @throws InvalidArgument if the file cannot be written
std::ofstream opened(const arges::World& world, const std::string& csv) {
    std::ofstream file;
    world.state()->communicator().agree([&] {
        if (csv.empty() || world.rank() != 0) return;
        const bool is_new = !std::ifstream(csv).good();
        file.open(csv, std::ios::app);
        if (is_new) file << heading << "\n";
        if (!file.flush()) throw arges::InvalidArgument("cannot write to " + csv + "; name another file with --csv");
    });
    return file;
}

/// False if a rank sent another number of bytes than was planned.
bool run(const Command& command, const arges::World& world) {
    const auto cases = chosen_cases(command.cases);
    auto file = opened(world, command.csv);
    bool kept = true;
    for (const auto& c : cases) {
        const auto outcome = c.run(world, command.setting);
        kept = kept && outcome.ranks_not_as_planned == 0;
        if (world.rank() != 0) continue;
        const auto line = line_of(command.scaling, c.name, outcome, world.size());
        if (command.csv.empty())
            std::printf("%s\n", line.c_str());
        else
            file << line << std::endl;
    }
    return kept;
}

/// Exit code: 1 for bytes that were not planned, 2 for an error.
int run_program(int argc, char** argv) {
    Command command;
    command.setting.sized_for = 0;
    CLI::App app("Times cases on the ranks that it is started on.", "scaling");
    declare(app, command);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    try {
        app.parse(argc, argv);
        if (command.list) {
            for (const auto& c : all_cases())
                if (rank == 0) std::printf("%-14s %s\n", c.name.c_str(), c.about.c_str());
            return 0;
        }
        const arges::World world;
        if (command.setting.sized_for == 0) command.setting.sized_for = world.size();
        return run(command, world) ? 0 : 1;
    } catch (const CLI::ParseError& error) {
        return rank == 0 ? app.exit(error) : error.get_exit_code();
    } catch (const std::exception& error) {
        if (rank == 0) std::fprintf(stderr, "scaling: error: %s\n", error.what());
        return 2;
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int status = run_program(argc, argv);
    MPI_Finalize();
    return status;
}

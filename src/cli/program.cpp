#include "cli/program.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"
#include "base/text_width.hpp"
#include "cli/interruption.hpp"
#include "cli/subcommand.hpp"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace arges::cli {

const std::vector<Subcommand>& subcommands() {
    static const std::vector<Subcommand> table{
        {"plan", "what a product of tensors would move and compute, on any number of ranks", declare_plan},
        {"calibrate", "measure this machine, for plans and their predicted seconds", declare_calibrate},
        {"machine", "what ranks, torus, memory limit and constants plans are made for here", declare_machine},
        {"cpd", "CP decomposition of a sparse or dense tensor, by least squares, without negative elements, or all at once", declare_cpd},
        {"complete", "CP model of the stored elements of a sparse tensor only; others are unknown", declare_complete},
        {"predict", "elements of a CP model at the indices of a text", declare_predict},
        {"tucker", "Tucker decomposition of a dense or sparse tensor, by ranks or to a relative error", declare_tucker},
        {"show", "what weighs most in each component of a decomposition, with the ids of a table", declare_show},
        {"report", "a decomposition as a page of HTML: components by mode, history, residuals by slice", declare_report},
        {"stats", "what a sparse tensor looks like, and what its distributions would load and move", declare_stats},
        {"convert", "a table, a sparse tensor or integrals, from one file form to another", declare_convert},
        {"cc", "coupled cluster and MP2 energies of a molecule from its integrals, in FCIDUMP or TREXIO form", declare_cc},
    };
    return table;
}

namespace {

constexpr std::size_t widest_line = 100, gap = 2;

/// The columns of a table in groups that fit into a line, each behind the first columns, which name the rows.
std::vector<std::vector<std::size_t>> fitting_groups(const std::vector<std::size_t>& width, std::size_t names) {
    std::vector<std::vector<std::size_t>> groups;
    std::size_t taken = 0;
    for (std::size_t c = 0; c < width.size(); ++c) {
        const bool is_full = c > names && taken + gap + width[c] > widest_line;
        if (c == 0 || (is_full && groups.back().size() > names)) {
            groups.emplace_back();
            taken = 0;
            for (std::size_t n = 0; n < names && c > 0; ++n) {
                groups.back().push_back(n);
                taken += width[n] + (n > 0 ? gap : 0);
            }
        }
        groups.back().push_back(c);
        taken += width[c] + (groups.back().size() > 1 ? gap : 0);
    }
    return groups;
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& left, std::size_t names) {
    std::vector<std::size_t> width(left.size(), 0);
    for (const auto& row : rows)
        for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], text_width(row[c]));
    std::string text;
    for (const auto& columns : fitting_groups(width, names)) {
        if (!text.empty()) text += "\n";
        for (const auto& row : rows) {
            std::string line;
            for (auto c : columns)
                line += (c == 0 ? "" : std::string(gap, ' ')) + (left[c] ? pad(row[c], width[c]) : pad_left(row[c], width[c]));
            text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        }
    }
    return text;
}

namespace {

constexpr const char* version = "arges " ARGES_VERSION;

/// One line, whatever the message was.
int fail(const Console& console, std::string message, int code) {
    for (char& c : message)
        if (c == '\n') c = ' ';
    console.err << "arges: error: " << message << std::endl;
    return code;
}

}  // namespace

int run_program(int argc, const char* const* argv, const Console& console) {
    CLI::App app("Arges: distributed tensors with permutational symmetry", "arges");
    app.set_version_flag("--version", version);
    app.require_subcommand(0, 1);
    app.footer(
        "With several threads arges sets GOMP_SPINCOUNT=1000, so that threads which wait give their cores to others soon, and starts\n"
        "itself again, unless GOMP_SPINCOUNT or OMP_WAIT_POLICY is set.");
    std::vector<std::pair<CLI::App*, Action>> actions;
    for (const Subcommand& subcommand : subcommands()) {
        CLI::App* sub = app.add_subcommand(subcommand.name, subcommand.summary);
        actions.emplace_back(sub, subcommand.declare(*sub));
    }
    try {
        app.parse(argc, argv);
        for (const auto& [sub, action] : actions)
            if (sub->parsed()) {
                action(console);
                return exit_success;
            }
        return fail(console, "a subcommand is required (see arges --help)", exit_usage);
    } catch (const CLI::Success& request) {  // --help, --version
        return app.exit(request, console.out, console.err);
    } catch (const CLI::ExtrasError& error) {
        return fail(console, error.what() + spelling_hint(app) + " (see arges --help)", exit_usage);
    } catch (const CLI::ParseError& error) {
        return fail(console, std::string(error.what()) + " (see arges --help)", exit_usage);
    } catch (const Interrupted& end) {
        console.err << "arges: interrupted; " << end.left << std::endl;
        return exit_signal + end.signal;
    } catch (const Error& error) {
        return fail(console, error.what(), exit_error);
    }
}

}  // namespace arges::cli

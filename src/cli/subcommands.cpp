#include "cli/subcommand.hpp"

namespace arges::cli {

const std::vector<Subcommand>& subcommands() {
    static const std::vector<Subcommand> table{
        {"plan", "what a product of tensors would move and compute, on any number of ranks", declare_plan},
        {"calibrate", "measure this machine, for plans and their predicted seconds", declare_calibrate},
        {"machine", "what ranks, torus, memory limit and constants plans are made for here", declare_machine},
        {"cpd", "CP decomposition of a sparse or dense tensor, by least squares, without negative elements, or all at once", declare_cpd},
        {"complete", "CP model of the stored elements of a sparse tensor only; others are unknown", declare_complete},
        {"tucker", "Tucker decomposition of a dense or sparse tensor, by ranks or to a relative error", declare_tucker},
        {"stats", "what a sparse tensor looks like, and what its distributions would load and move", declare_stats},
        {"convert", "a sparse tensor, or integrals, from one file form to another", declare_convert},
        {"cc", "coupled cluster and MP2 energies of a molecule from its integrals, in FCIDUMP or TREXIO form", declare_cc},
    };
    return table;
}

}  // namespace arges::cli

#include "cli/subcommand.hpp"

namespace arges::cli {

const std::vector<Subcommand>& subcommands() {
    static const std::vector<Subcommand> table{
        {"plan", "what a product of tensors would move and compute, on any number of ranks", declare_plan},
        {"calibrate", "measure this machine, for plans and their predicted seconds", declare_calibrate},
        {"ccsd", "MP2, CCSD and CCSD(T) energies of a molecule from an FCIDUMP file", declare_ccsd},
    };
    return table;
}

}  // namespace arges::cli

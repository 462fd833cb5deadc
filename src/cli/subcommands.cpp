#include "cli/subcommand.hpp"

namespace arges::cli {

const std::vector<Subcommand>& subcommands() {
    static const std::vector<Subcommand> table{
        {"ccsd", "MP2, CCSD and CCSD(T) energies of a molecule from an FCIDUMP file", declare_ccsd},
    };
    return table;
}

}  // namespace arges::cli

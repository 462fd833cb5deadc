// The `arges` program.
#include "arges/mpi_session.hpp"
#include "cli/interruption.hpp"
#include "cli/program.hpp"
#include "cli/waiting_threads.hpp"

#include <exception>
#include <iostream>

int main(int argc, char** argv) {
    using namespace arges::cli;
    let_waiting_threads_yield(argv);
    arges::MpiSession session(argc, argv);
    std::ostream nowhere(nullptr);
    const bool speaks = session.rank() == 0;
    watch_interruptions(speaks);
    const Console console{speaks ? std::cout : nowhere, speaks ? std::cerr : nowhere};
    try {
        return run_program(argc, argv, console);
    } catch (const std::exception& error) {
        // Not an error of Arges, which all ranks would see alike: the other ranks may be waiting
        // for this one.
        std::cerr << "arges: error on rank " << session.rank() << ": " << error.what() << std::endl;
        session.abort(exit_error);
    }
}

// The smallest program written for Cyclops against an installed ctf.hpp, built by scripts/check_install.sh.
#include <cstdio>
#include <ctf.hpp>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        CTF::World dw(argc, argv);
        CTF::Matrix<> A(3, 3, SY, dw), B(3, 3, NS, dw);
        A.fill_random(0, 1);
        B["ij"] = A["ik"] * A["kj"];
        double const norm = B.norm2();
        if (dw.rank == 0) std::printf("norm %.6f\n", norm);
    }
    MPI_Finalize();
}

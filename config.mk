# Arges build settings, in six steps. Edit them here, or override one on the command line:
#     make OPT=checked        make MPICXX=mpicxx MPIEXEC=mpiexec

# 1. MPI. MPICH by its own name where that exists (Debian points `mpicxx` at Open MPI as soon as
#    that is installed too), else whatever `mpicxx` is. For Open MPI, edit these four lines to
#        MPICXX := mpicxx.openmpi               MPIEXEC       := mpiexec.openmpi
#        MPI_PACKAGES := libopenmpi-dev         MPIEXEC_FLAGS := --oversubscribe
#    (as root it also wants --allow-run-as-root). MPI_PACKAGES is what `make demo` may install;
#    MPI_CFLAGS leaves out the C++ bindings that MPI has dropped, and their warnings.
MPICXX        := $(if $(shell command -v mpicxx.mpich 2>/dev/null),mpicxx.mpich,mpicxx)
MPIEXEC       := $(if $(shell command -v mpiexec.mpich 2>/dev/null),mpiexec.mpich,mpiexec)
MPIEXEC_FLAGS :=
MPI_PACKAGES  := mpich libmpich-dev
MPI_CFLAGS    := -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX

# 2. BLAS, with the C interface (cblas.h). OpenBLAS built for OpenMP shares our threads.
BLAS_CFLAGS   :=
BLAS_LIBS     := -lopenblas
BLAS_PACKAGES := libopenblas-openmp-dev

# 3. ScaLAPACK, for the linear-algebra layer (src/linalg), built for the same MPI. For Open MPI:
#        SCALAPACK_LIBS := -lscalapack-openmpi  SCALAPACK_PACKAGES := libscalapack-openmpi-dev
#    LAPACK itself comes with OpenBLAS; with another BLAS, add -llapack in front of it.
SCALAPACK_LIBS     := -lscalapack-mpich
SCALAPACK_PACKAGES := libscalapack-mpich-dev

# 4. HDF5, built for the MPI above: Debian has one for each, side by side. For Open MPI: openmpi.
#    Elsewhere, give the folders of hdf5.h and libhdf5 of a parallel HDF5.
HDF5_MPI      := mpich
HDF5_CFLAGS   := -I/usr/include/hdf5/$(HDF5_MPI)
HDF5_LIBS     := $(addprefix -L,$(wildcard /usr/lib/*/hdf5/$(HDF5_MPI))) -lhdf5
HDF5_PACKAGES := libhdf5-$(HDF5_MPI)-dev

# 5. OpenMP.
OPENMP_FLAGS := -fopenmp

# 6. Flags. OPT=fast is for this machine's processor; OPT=checked asserts and sanitizes.
OPT ?= fast
ifeq ($(OPT),fast)
  OPT_FLAGS := -O3 -march=native -DNDEBUG -g1
else ifeq ($(OPT),checked)
  SANITIZE  := -fsanitize=address,undefined -fno-sanitize-recover=undefined
  OPT_FLAGS := -O1 -g -D_GLIBCXX_ASSERTIONS -DARGES_CHECKED $(SANITIZE)
else
  $(error OPT is '$(OPT)'; it must be 'fast' or 'checked')
endif
CXXFLAGS := -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wno-restrict $(OPT_FLAGS) $(OPENMP_FLAGS)
LDFLAGS  := $(SANITIZE) $(OPENMP_FLAGS)
FMT_LIBS := -lfmt
ZLIB_LIBS := -lz

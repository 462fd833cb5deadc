# Arges build settings, in seven steps. Edit them here, or override one on the command line:
#     make OPT=checked        make MPI=openmpi

# 1. MPI: mpich or openmpi, with the names that Debian and Ubuntu give their programs and packages
#    (`mpicxx` alone is Open MPI as soon as that is installed too). On other systems `mpicxx` is
#    taken as it is; name ScaLAPACK and HDF5 for it below. As root Open MPI also wants
#    MPIEXEC_FLAGS="--oversubscribe --allow-run-as-root". MPI_PACKAGES is what `make demo` may
#    install; MPI_CFLAGS leaves out the C++ bindings that MPI has dropped, and their warnings.
MPI           := mpich
MPICXX        := $(if $(shell command -v mpicxx.$(MPI) 2>/dev/null),mpicxx.$(MPI),mpicxx)
MPICC         := $(if $(shell command -v mpicc.$(MPI) 2>/dev/null),mpicc.$(MPI),mpicc)
MPIFC         := $(if $(shell command -v mpifort.$(MPI) 2>/dev/null),mpifort.$(MPI),mpifort)
MPIEXEC       := $(if $(shell command -v mpiexec.$(MPI) 2>/dev/null),mpiexec.$(MPI),mpiexec)
MPIEXEC_FLAGS := $(if $(filter openmpi,$(MPI)),--oversubscribe)
MPI_PACKAGES  := $(if $(filter openmpi,$(MPI)),openmpi-bin libopenmpi-dev,mpich libmpich-dev)
MPI_CFLAGS    := -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX

# 2. BLAS, with the C interface (cblas.h). OpenBLAS built for OpenMP shares our threads.
BLAS_CFLAGS   :=
BLAS_LIBS     := -lopenblas
BLAS_PACKAGES := libopenblas-openmp-dev

# 3. ScaLAPACK, for the linear-algebra layer (src/linalg), built for the same MPI. LAPACK itself
#    comes with OpenBLAS; with another BLAS, add -llapack in front of it.
SCALAPACK_LIBS     := -lscalapack-$(MPI)
SCALAPACK_PACKAGES := libscalapack-$(MPI)-dev

# 4. HDF5, built for the same MPI: Debian has one for each, side by side. Elsewhere, give the folders
#    of hdf5.h and libhdf5 of a parallel HDF5.
HDF5_CFLAGS   := -I/usr/include/hdf5/$(MPI)
HDF5_LIBS     := $(addprefix -L,$(wildcard /usr/lib/*/hdf5/$(MPI))) -lhdf5
HDF5_PACKAGES := libhdf5-$(MPI)-dev

# 5. Devices: GPU=cuda builds kernels for NVIDIA's, by the nvcc of CUDA 12 or newer, for these architectures, and as PTX of the last for
#    newer ones. Without it nothing of CUDA is needed.
GPU               ?=
ifeq ($(GPU),cuda)
NVCC              := $(or $(shell command -v nvcc 2>/dev/null),/usr/local/cuda/bin/nvcc)
GPU_ARCHITECTURES := 80 90
CUDA_LIBRARIES    := $(patsubst %/bin/nvcc,%/lib64,$(NVCC))
GPU_LIBS          := -L$(CUDA_LIBRARIES) -Wl,-rpath,$(CUDA_LIBRARIES) -lcublas -lcudart
else ifneq ($(GPU),)
$(error GPU is '$(GPU)'; it must be 'cuda' or empty)
endif

# 6. OpenMP.
OPENMP_FLAGS := -fopenmp

# 7. Flags. OPT=fast is for this machine's processor; OPT=checked asserts and sanitizes,
#    with the flags that compile soonest and still name lines; what `address` finds need not be found twice.
OPT ?= fast
ifeq ($(OPT),fast)
  OPT_FLAGS := -O3 -march=native -DNDEBUG -ffunction-sections  # a program takes the functions that it calls
  COOL_FLAGS := -O1  # of what is not hot: the program, its documents, calls from C (the folders stand in the Makefile)
  TEST_FLAGS := -O1  # of the tests' own files: these compile in half the time
else ifeq ($(OPT),checked)
  SANITIZE  := -fsanitize=address,undefined -fno-sanitize=null,object-size,vptr -fno-sanitize-recover=undefined
  OPT_FLAGS := -Og -g1 -D_GLIBCXX_ASSERTIONS -DARGES_CHECKED $(SANITIZE)
  OPT_FLAGS += -Wno-psabi  # only our own functions, compiled with the same flags, pass vectors
  TEST_FLAGS := -fno-sanitize=undefined
else
  $(error OPT is '$(OPT)'; it must be 'fast' or 'checked')
endif
# Objects go into libarges.so, too, which shows the functions of arges.h and tapp.h only.
PIC_FLAGS := -fPIC -fvisibility=hidden
# clang calls warnings that only GCC has unknown, and a loop that it does not vectorize a failure.
IS_CLANG := $(findstring clang,$(shell $(MPICXX) --version 2>/dev/null))
CXXFLAGS := -std=c++20 $(PIC_FLAGS) -Wall -Wextra -Wpedantic -Wshadow -Wfloat-conversion $(if $(IS_CLANG),-Wno-unknown-warning-option -Wno-pass-failed,-Wno-restrict) $(OPT_FLAGS) $(OPENMP_FLAGS)
C_FLAGS  := -std=c99 -Wall -Wextra -Wpedantic -Wshadow -O2 -g1
FORTRAN_FLAGS := -std=f2018 -Wall -Wextra -Wno-unused-dummy-argument -O2 -g1
LDFLAGS  := $(SANITIZE) $(OPENMP_FLAGS) -Wl,--gc-sections
FMT_LIBS := -lfmt
ZLIB_LIBS := -lz

#!/usr/bin/env bash
# install_dependencies.sh build|check|check-all|simulate: installs the Debian or Ubuntu packages that are missing for
# building Arges, for checking it, for another compiler, or for simulated machines as well. Says and does nothing when all are there.
# ARGES_SKIP_INSTALL=1 leaves everything as it is. config.mk chooses the MPI, BLAS,
# ScaLAPACK and HDF5 packages.
set -euo pipefail
if [ "${ARGES_SKIP_INSTALL:-0}" = 1 ]; then exit 0; fi

packages="g++ make libfmt-dev libcli11-dev nlohmann-json3-dev zlib1g-dev"
packages+=" ${MPI_PACKAGES-mpich libmpich-dev}"
packages+=" ${BLAS_PACKAGES-libopenblas-openmp-dev} ${SCALAPACK_PACKAGES-libscalapack-mpich-dev}"
packages+=" ${HDF5_PACKAGES-libhdf5-mpich-dev}"
case ${1:-} in
    build) ;;
    check) packages+=" libgtest-dev doxygen cmake pkg-config clang-format gfortran python3-dev python3-venv" ;;
    check-all) packages+=" clang-14 libomp-14-dev" ;;
    simulate) packages+=" libsimgrid-dev" ;;
    *) echo "usage: $0 build|check|check-all|simulate" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    cat >&2 <<'MESSAGE'
This is not Debian or Ubuntu, so nothing is installed. Arges needs
  to build:  make, a C++20 compiler, an MPI (MPICH, Open MPI), a BLAS with cblas.h and LAPACK (OpenBLAS),
             ScaLAPACK and HDF5 built for that MPI, fmt, CLI11, nlohmann-json, zlib
  to check:  GoogleTest, Doxygen, CMake, pkg-config, clang-format 14, gfortran (for the same MPI), Python, as well
  to check all: clang 14 and its OpenMP
  to simulate: SimGrid
Bring them, name them in config.mk, and set ARGES_SKIP_INSTALL=1.
MESSAGE
    exit 1
fi

missing=
for package in $packages; do
    case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) in
        *" installed") ;;
        *) missing+=" $package" ;;
    esac
done
if [ -z "$missing" ]; then exit 0; fi

as_root=
if [ "$(id -u)" != 0 ]; then as_root=sudo; fi
if [ -n "$as_root" ] && ! command -v sudo >/dev/null; then
    echo "Missing packages, and neither root nor sudo to install them:$missing" >&2
    exit 1
fi
echo "Installing:$missing"
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing

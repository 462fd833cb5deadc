#!/usr/bin/env bash
# Copies headers, libraries and program to DESTDIR + PREFIX, and writes the pkg-config files (arges for C++, arges-c for C, arges-cyclops for
# ctf.hpp, and where the Fortran module was built arges-fortran) and the CMake package. They find their tree from where they lie, so it may
# be moved. They carry the flags of the MPI that Arges was built with. Run it by `make install`.
set -euo pipefail
: "${MPICXX:?run this through make install}" "${MPICC:?}" "${BUILD:?}" "${PREFIX:?}" "${VERSION:?}" "${ABI:?}"
root=${DESTDIR-}$PREFIX
pkgconfig=$root/lib/pkgconfig
cmake=$root/lib/cmake/arges

mkdir -p "$root/include" "$pkgconfig" "$cmake"
rm -rf "$root/include/arges"
cp -R include/arges "$root/include/arges"
install -m 644 include/arges.h include/tapp.h "$root/include/"
install -m 644 "$BUILD/libarges.a" "$root/lib/"
install -s -m 755 "$BUILD/libarges.so" "$root/lib/libarges.so.$VERSION"
ln -sf "libarges.so.$VERSION" "$root/lib/libarges.so.$ABI"
ln -sf "libarges.so.$ABI" "$root/lib/libarges.so"
if [ -f "$BUILD/arges" ]; then
    mkdir -p "$root/bin"
    install -s -m 755 "$BUILD/arges" "$root/bin/"  # lines for debuggers stay with the build
fi

# mpi_flags COMPILER KIND: the compiler's or the linker's flags behind a wrapper; `mpicxx -show` prints the line (MPICH, Open MPI and kin).
mpi_flags() {
    local word
    for word in $("$1" -show | cut -d' ' -f2-); do
        case $2:$word in
            compile:-I* | compile:-D* | *:-pthread) printf '%s ' "$word" ;;
            link:-L* | link:-l* | link:-Wl,*) printf '%s ' "$word" ;;
        esac
    done
}
cflags=
if [ "${OPT-}" = checked ]; then cflags=-DARGES_CHECKED; fi
cflags+=" $(mpi_flags "$MPICXX" compile)"
libs="$LIBS $LDFLAGS $(mpi_flags "$MPICXX" link)"
cflags=$(echo $cflags) libs=$(echo $libs)  # single spaces

# With libarges.so beside it the archive must be named: only that has the functions of C++.
cat >"$pkgconfig/arges.pc" <<END
prefix=\${pcfiledir}/../..

Name: arges
Description: Distributed symmetric tensors over MPI
Version: $VERSION
Cflags: -I\${prefix}/include $cflags
Libs: \${prefix}/lib/libarges.a $libs
END

cat >"$pkgconfig/arges-c.pc" <<END
prefix=\${pcfiledir}/../..

Name: arges-c
Description: Distributed symmetric tensors over MPI, the interface of C (arges.h, tapp.h)
Version: $VERSION
Cflags: -I\${prefix}/include $(mpi_flags "$MPICC" compile)
Libs: -L\${prefix}/lib -larges $(mpi_flags "$MPICC" link)
END

if [ -f "$BUILD/libarges_fortran.a" ]; then
    mkdir -p "$root/lib/arges-fortran" "$root/share/arges/fortran"
    install -m 644 "$BUILD/libarges_fortran.a" "$root/lib/"
    install -m 644 "$BUILD"/fortran/*.mod "$root/lib/arges-fortran/"  # for the compiler that made them
    install -m 644 src/fortran/*.* "$BUILD"/fortran/*.f90 "$root/share/arges/fortran/"  # for others
    cat >"$pkgconfig/arges-fortran.pc" <<END
prefix=\${pcfiledir}/../..

Name: arges-fortran
Description: Distributed symmetric tensors over MPI, the module of Fortran
Version: $VERSION
Cflags: -I\${prefix}/lib/arges-fortran $(mpi_flags "${MPIFC:?}" compile)
Libs: -L\${prefix}/lib -larges_fortran -larges $(mpi_flags "$MPIFC" link)
END
fi

cyclops=$root/lib/arges/cyclops
mkdir -p "$cyclops/include" "$cyclops/lib"
install -m 644 "$BUILD"/cyclops/include/*.hpp "$cyclops/include/"
install -m 644 "$BUILD"/cyclops/lib/*.a "$cyclops/lib/"
cat >"$pkgconfig/arges-cyclops.pc" <<END
prefix=\${pcfiledir}/../arges/cyclops

Name: arges-cyclops
Description: Distributed symmetric tensors over MPI, for programs written for Cyclops (ctf.hpp)
Version: $VERSION
Cflags: -I\${prefix}/include $(mpi_flags "$MPICXX" compile)
Libs: -L\${prefix}/lib -lctf $(mpi_flags "$MPICXX" link)
END

cat >"$cmake/argesConfig.cmake" <<END
# Defines arges::arges. Plain flags instead of find_package(MPI), which may find another MPI.
get_filename_component(_arges_prefix "\${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET arges::arges)
    add_library(arges::arges STATIC IMPORTED)
    set_target_properties(arges::arges PROPERTIES
        IMPORTED_LOCATION "\${_arges_prefix}/lib/libarges.a"
        INTERFACE_INCLUDE_DIRECTORIES "\${_arges_prefix}/include"
        INTERFACE_COMPILE_OPTIONS "${cflags// /;}"
        INTERFACE_COMPILE_FEATURES cxx_std_20
        INTERFACE_LINK_LIBRARIES "${libs// /;}")
endif()
unset(_arges_prefix)
END

cat >"$cmake/argesConfigVersion.cmake" <<END
# Before 1.0 a minor version may change the interface: 0.1.x serves a request for 0.1.
set(PACKAGE_VERSION "$VERSION")
string(REGEX MATCH "^[0-9]+\\\\.[0-9]+" _arges_series "\${PACKAGE_VERSION}")
if("\${PACKAGE_FIND_VERSION_MAJOR}.\${PACKAGE_FIND_VERSION_MINOR}" STREQUAL _arges_series
   AND NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
    if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
        set(PACKAGE_VERSION_EXACT TRUE)
    endif()
endif()
unset(_arges_series)
END
echo "installed in $root"

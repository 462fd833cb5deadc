#!/usr/bin/env bash
# Copies headers, library and program to DESTDIR + PREFIX, and writes the pkg-config file and the
# CMake package. Both find their tree from where they lie, so it may be moved. They carry the flags
# of the MPI that Arges was built with. Run it by `make install`.
set -euo pipefail
: "${MPICXX:?run this through make install}" "${BUILD:?}" "${PREFIX:?}" "${VERSION:?}"
root=${DESTDIR-}$PREFIX
pkgconfig=$root/lib/pkgconfig
cmake=$root/lib/cmake/arges

mkdir -p "$root/include" "$pkgconfig" "$cmake"
rm -rf "$root/include/arges"
cp -R include/arges "$root/include/arges"
install -m 644 "$BUILD/libarges.a" "$root/lib/"
if [ -f "$BUILD/arges" ]; then
    mkdir -p "$root/bin"
    install -s -m 755 "$BUILD/arges" "$root/bin/"  # lines for debuggers stay with the build
fi

# `mpicxx -show` prints the compiler line behind the wrapper (MPICH, Open MPI and their kin).
cflags=
if [ "${OPT-}" = checked ]; then cflags=-DARGES_CHECKED; fi
libs="$LIBS $LDFLAGS"
for word in $("$MPICXX" -show | cut -d' ' -f2-); do
    case $word in
        -I* | -D* | -pthread) cflags+=" $word" ;;
    esac
    case $word in
        -L* | -l* | -Wl,* | -pthread) libs+=" $word" ;;
    esac
done
cflags=$(echo $cflags) libs=$(echo $libs)  # single spaces

cat >"$pkgconfig/arges.pc" <<END
prefix=\${pcfiledir}/../..

Name: arges
Description: Distributed symmetric tensors over MPI
Version: $VERSION
Cflags: -I\${prefix}/include $cflags
Libs: -L\${prefix}/lib -larges $libs
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

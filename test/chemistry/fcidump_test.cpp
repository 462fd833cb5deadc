#include "chemistry/integrals/integral_file.hpp"

#include "arges/error.hpp"
#include "chemistry/temporary_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace arges::chemistry {
namespace {

const std::string header = "&FCI NORB=2,NELEC=2,MS2=0,\n ORBSYM=1,1,\n ISYM=1,\n&END\n";  // four lines
const std::string integrals = "0.7 1 1 1 1\n0.2 2 1 2 1\n0.6 2 2 1 1\n0.5 2 2 2 2\n-1.2 1 1 0 0\n-0.4 2 2 0 0\n";
const std::string core = "0.9 0 0 0 0\n";

/// The same with the numbers of the orbitals exchanged.
const std::string swapped = "0.7 2 2 2 2\n0.2 2 1 2 1\n0.6 2 2 1 1\n0.5 1 1 1 1\n-1.2 2 2 0 0\n-0.4 1 1 0 0\n0.9 0 0 0 0\n";

struct GoodFile {
    const char* name;
    std::string text;
};

/// Different ways to write the same Hamiltonian.
const std::vector<GoodFile> good_files{
    {"the usual form", header + integrals + core},
    {"one line header", "&FCI NORB=2,NELEC=2,MS2=0,ORBSYM=1,1,ISYM=1 &END\n" + integrals + core},
    {"any order, lower case, slash", "&fci\n isym = 1\n nelec = 2 norb = 2\n/\n" + integrals + core},
    {"repeat counts, comments, old mark", "$FCI NORB=2, ! orbitals\n NELEC=2\n ORBSYM=2*1 $END\n" + integrals + core},
    {"unknown names", "&FCI NORB=2,NELEC=2,PNTGRP='D2h/x',UHF=.FALSE.,IUHF=0,NPROP(1)= 1 1 1,\n/\n" + integrals + core},
    {"as PySCF writes", " &FCI NORB=   2,NELEC= 2,MS2=0,\n  ORBSYM=1,1,\n  ISYM=1,\n &END\n"
                        " 0.7    1    1    1    1\n 0.2    2    1    2    1\n 0.6    2    2    1    1\n"
                        " 0.5    2    2    2    2\n -1.2    1    1  0  0\n -0.4    2    2  0  0\n"
                        " 0.9  0  0  0  0\n"},
    {"as PySCF writes with a point group", " &FCI NORB=   2,NELEC= 2,MS2=0,\n  ORBSYM=0,5\n  ISYM=1,\n &END\n" + integrals + core},
    {"as Psi4 writes", "&FCI\nNORB=2,\nNELEC=2,\nMS2=0,\nUHF=.FALSE.,\nORBSYM=1,1,\nISYM=1,\n&END\n"
                       "  7.00000000000000000000E-01   1   1   1   1\n"
                       "  2.00000000000000000000E-01   2   1   2   1\n"
                       "  6.00000000000000000000E-01   1   1   2   2\n"
                       "  5.00000000000000000000E-01   2   2   2   2\n"
                       "  -1.20000000000000000000E+00    1    1    0    0\n"
                       "  -4.00000000000000000000E-01    2    2    0    0\n"
                       " -5.00000000000000000000E-01    1    0    0    0\n"
                       "  3.00000000000000000000E-01    2    0    0    0\n"
                       "  9.00000000000000000000E-01    0    0    0    0\n"},
    {"as Molpro writes", " &FCI NORB=  2,NELEC=  2,MS2= 0,\n  ORBSYM=1,1,\n  ISYM=1\n /\n"
                         "  0.7000000000000000D+00  1  1  1  1\n  0.2000000000000000D+00  2  1  2  1\n"
                         "  0.6000000000000000D+00  2  2  1  1\n  0.5000000000000000D+00  2  2  2  2\n"
                         " -0.1200000000000000D+01  1  1  0  0\n -0.4000000000000000D+00  2  2  0  0\n"
                         "  0.9000000000000000D+00  0  0  0  0\n"},
    {"D exponents and blank lines",
     header + "\n7.0D-01 1 1 1 1\n2d-1 1 2 2 1\n+.6 2 2 1 1\n0.5E+00,2,2,2,2\n" + "-1.2D0 1 1 0 0\n\n-4.E-1 2 2 0 0\n\n0.9 0 0 0 0"},
    {"redundant entries", header + integrals + integrals + core + "0.2 1 2 1 2\n0.2 1 2 2 1\n0.6 1 1 2 2\n" + core},
    {"redundant to round-off", header + integrals + core + "0.2000000000001 2 1 2 1\n"},
    {"explicit zeros", header + integrals + core + "0 2 1 1 1\n0.0 2 1 0 0\n"},
    {"windows ends of line", "&FCI NORB=2,NELEC=2,\r\n&END\r\n0.7 1 1 1 1\r\n0.2 2 1 2 1\r\n0.6 2 2 1 1\r\n" +
                                 std::string("0.5 2 2 2 2\r\n-1.2 1 1 0 0\r\n-0.4 2 2 0 0\r\n0.9 0 0 0 0\r\n")},
    {"text behind the end of the header", "&FCI NORB=2,NELEC=2 / i a j b\n" + integrals + core},
    {"more text behind it", "&FCI NORB=2,NELEC=2 &END  ! made on a Monday\n" + integrals + core},
    {"occupied orbitals that come first", "&FCI NORB=2,NELEC=2,ORBSYM=1,2,OCC=1,0,CLOSED=1,0,\n/\n" + integrals + core},
    {"occupied orbitals in a second representation", "&FCI NORB=2,NELEC=2,ORBSYM=1,2,\n OCC=  0,  1,  0,  0,  0,  0,  0,  0,\n"
                                                     " CLOSED=  0,  1,  0,  0,  0,  0,  0,  0,\n /\n" +
                                                         swapped},
    {"energies in any place", header + "-0.5 1 0 0 0\n" + integrals + "0.3 2 0 0 0\n" + core},
};

TEST(Fcidump, reads_all_forms_of_one_hamiltonian) {
    const World world;
    for (const auto& file : good_files) {
        SCOPED_TRACE(file.name);
        const TemporaryFile temporary(world, file.text.c_str());
        const Fcidump data = read_integrals(world, temporary.path());
        EXPECT_EQ(data.header.orbitals, 2);
        EXPECT_EQ(data.header.electrons, 2);
        EXPECT_EQ(data.core_energy, 0.9);
        EXPECT_EQ(data.one_electron.gather(), (std::vector<double>{-1.2, 0, 0, -0.4}));
        const std::vector<double> g = data.two_electron.gather();
        const std::vector<double> expected{0.7, 0, 0, 0.6, 0, 0.2, 0.2, 0, 0, 0.2, 0.2, 0, 0.6, 0, 0, 0.5};
        ASSERT_EQ(g.size(), expected.size());
        for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], expected[i], 1e-12) << i;
    }
}

TEST(Fcidump, orbital_energies_are_optional) {
    const World world;
    const TemporaryFile without(world, good_files.front().text.c_str());
    EXPECT_TRUE(read_integrals(world, without.path()).orbital_energies.empty());
    const TemporaryFile with(world, good_files.back().text.c_str());
    EXPECT_EQ(read_integrals(world, with.path()).orbital_energies, (std::vector<double>{-0.5, 0.3}));
}

struct BadFile {
    const char* name;
    std::string text;
    std::vector<const char*> message;  ///< parts of the error
};

std::string with_header(const std::string& text) { return text + "\n" + integrals + core; }

const std::vector<BadFile> bad_files{
    {"empty", "", {"the file is empty"}},
    {"another kind of file", "hello world\n", {"line 1", "begins with &FCI"}},
    {"header without an end", "&FCI NORB=2,NELEC=2\n" + integrals, {"has no end", "&END"}},
    {"no NORB", with_header("&FCI NELEC=2 &END"), {"NORB"}},
    {"no NELEC", with_header("&FCI NORB=2 &END"), {"NELEC"}},
    {"NORB not a number", with_header("&FCI NORB=two,NELEC=2 &END"), {"line 1", "NORB must be one integer", "TWO"}},
    {"NORB twice", with_header("&FCI NORB=2,\nNORB=3,NELEC=2 &END"), {"line 2", "NORB is given twice"}},
    {"NORB zero", with_header("&FCI NORB=0,NELEC=0 &END"), {"NORB=0"}},
    {"odd electrons", with_header("&FCI NORB=2,\nNELEC=3 &END"), {"line 2", "NELEC=3 and MS2=0 contradict", "MS2=1"}},
    {"too many electrons", with_header("&FCI NORB=2,NELEC=6 &END"), {"NELEC=6 does not fit into NORB=2"}},
    {"MS2 of the wrong parity", with_header("&FCI NORB=2,NELEC=2,MS2=1 &END"), {"NELEC=2 and MS2=1 contradict"}},
    {"MS2 above NELEC", with_header("&FCI NORB=2,NELEC=2,\nMS2=4 &END"), {"line 2", "MS2=4", "3 electrons"}},
    {"MS2 beyond the orbitals", with_header("&FCI NORB=2,NELEC=3,MS2=3 &END"), {"3 electrons of one spin"}},
    {"IUHF and UHF", with_header("&FCI NORB=2,NELEC=2,IUHF=1,\nUHF=T &END"), {"line 2", "exclude each other"}},
    {"UHF with an odd NORB", with_header("&FCI NORB=3,NELEC=2,UHF=.TRUE. &END"), {"NORB=3 is odd", "spin orbitals"}},
    {"UHF with spatial orbitals", with_header("&FCI NORB=2,NELEC=2,UHF=.TRUE. &END"), {"line 3", "(2 1|2 1)", "alpha orbital", "IUHF=1"}},
    {"UHF without the beta integrals",
     "&FCI NORB=2,NELEC=2,UHF=.TRUE. &END\n0.7 1 1 1 1\n-1.2 1 1 0 0\n" + core,
     {"no two-electron beta integrals"}},
    {"IUHF without blocks", with_header("&FCI NORB=2,NELEC=2,IUHF=1 &END"), {"has 1", "a block is missing"}},
    {"IUHF lacking a block",
     "&FCI NORB=1,NELEC=1,MS2=1,IUHF=1 &END\n0.7 1 1 1 1\n0 0 0 0 0\n0.7 1 1 1 1\n0 0 0 0 0\n"
     "-1.2 1 1 0 0\n0 0 0 0 0\n-1.2 1 1 0 0\n0 0 0 0 0\n" +
         core,
     {"has 5", "a block is missing"}},
    {"IUHF with blocks in another order",
     "&FCI NORB=1,NELEC=1,MS2=1,IUHF=1 &END\n-1.2 1 1 0 0\n0 0 0 0 0\n-1.2 1 1 0 0\n0 0 0 0 0\n"
     "0.7 1 1 1 1\n0 0 0 0 0\n0.7 1 1 1 1\n0 0 0 0 0\n0.7 1 1 1 1\n0 0 0 0 0\n" +
         core,
     {"line 2", "(alpha alpha|alpha alpha)", "in this order"}},
    {"IUHF with an empty block",
     "&FCI NORB=1,NELEC=1,MS2=1,IUHF=1 &END\n0.7 1 1 1 1\n0 0 0 0 0\n0 0 0 0 0\n0.7 1 1 1 1\n0 0 0 "
     "0 0\n"
     "-1.2 1 1 0 0\n0 0 0 0 0\n-1.2 1 1 0 0\n0 0 0 0 0\n" +
         core,
     {"no two-electron beta integrals"}},
    {"IUHF with a contradiction",
     "&FCI NORB=1,NELEC=1,MS2=1,IUHF=1 &END\n0.7 1 1 1 1\n0 0 0 0 0\n0.7 1 1 1 1\n0.8 1 1 1 1\n0 0 "
     "0 0 0\n"
     "0.7 1 1 1 1\n0 0 0 0 0\n-1.2 1 1 0 0\n0 0 0 0 0\n-1.2 1 1 0 0\n0 0 0 0 0\n" +
         core,
     {"line 5", "(1b 1b|1b 1b) = 0.8", "line 4"}},
    {"ORBSYM too short", with_header("&FCI NORB=2,NELEC=2,ORBSYM=1 &END"), {"ORBSYM has 1 entries for NORB=2"}},
    {"text behind the header", "&FCI NORB=2,NELEC=2 &END 0.7 1 1 1 1\n" + integrals, {"line 1", "next line"}},
    {"index too large", header + "0.7 1 1 1 1\n0.1 3 1 1 1\n" + integrals + core, {"line 6", "index '3'", "NORB=2"}},
    {"negative index", header + integrals + "0.1 -1 1 1 1\n" + core, {"line 11", "index '-1' is out of range"}},
    {"index not an integer", header + integrals + "0.1 1.0 1 1 1\n" + core, {"line 11", "'1.0' is not an integer"}},
    {"value not a number", header + "abc 1 1 1 1\n" + integrals + core, {"line 5", "'abc' is not a number"}},
    {"NaN", header + integrals + "NaN 2 1 1 1\n" + core, {"line 11", "NaN", "write it again"}},
    {"infinity", header + integrals + "-Infinity 2 1 1 1\n" + core, {"line 11", "Infinity"}},
    {"overflow", header + integrals + "1e999 2 1 1 1\n" + core, {"line 11", "range of double"}},
    {"complex", header + "(0.7,0.0) 1 1 1 1\n" + integrals + core, {"line 5", "complex"}},
    {"too few fields", header + "0.7 1 1 1\n" + integrals + core, {"line 5", "found 4 fields"}},
    {"too many fields", header + integrals + "0.7 1 1 1 1 1\n" + core, {"line 11", "found 6 fields"}},
    {"two numbers", header + integrals + "0.7 0.0E+00 1 1 1 1\n" + core, {"line 11", "look like a complex integral"}},
    {"truncated last line", header + integrals + "0.9 0 0", {"line 11", "found 3 fields", "truncated"}},
    {"truncated value", header + integrals + "0.", {"line 11", "found 1 field", "truncated"}},
    {"meaningless zeros", header + integrals + "0.1 1 0 1 0\n" + core, {"line 11", "no meaning"}},
    {"contradiction", header + integrals + core + "0.25 1 2 1 2\n", {"line 12", "(2 1|2 1) = 0.25", "line 6", "0.2"}},
    {"contradictory h", header + integrals + "-1.3 1 1 0 0\n" + core, {"line 11", "h(1 1) = -1.3", "line 9"}},
    {"contradictory core", header + core + integrals + "0.8 0 0 0 0\n", {"line 12", "core energy", "line 5"}},
    {"contradictory energy", header + integrals + "0.8 1 0 0 0\n0.9 1 0 0 0\n", {"line 12", "orbital 1", "line 11"}},
    {"no two-electron integrals", header + "-1.2 1 1 0 0\n" + core, {"no two-electron integrals"}},
    {"no one-electron integrals", header + "0.7 1 1 1 1\n", {"no one-electron integrals"}},
    {"no core energy", header + integrals, {"the core energy is missing", "a line `value 0 0 0 0`", "truncated", "--core-energy 0"}},
    {"no last diagonal", header + "0.7 1 1 1 1\n-1.2 1 1 0 0\n" + core, {"there is no h(2 2) (", "truncated", "as 0.0"}},
    {"no diagonal and no core energy", header + "0.7 1 1 1 1\n-1.2 2 1 0 0\n", {"there is no h(1 1) and no other one of 2"}},
    {"no beta diagonal",
     "&FCI NORB=4,NELEC=2,UHF=.TRUE. &END\n0.7 1 1 1 1\n0.7 2 2 2 2\n0.7 1 1 2 2\n-1.2 1 1 0 0\n-1 3 3 0 0\n-1.2 2 2 0 0\n" + core,
     {"there is no h(4 4)"}},
    {"no determinant", "&FCI NORB=2,NELEC=2,OCC=2,\nCLOSED=0 /\n" + integrals + core, {"line 1", "do not make one determinant"}},
    {"an unknown representation", "&FCI NORB=2,NELEC=2,ORBSYM=1,0,\nOCC=1 /\n" + integrals + core, {"line 2", "ORBSYM has 0"}},
    {"a contradiction in another order",
     "&FCI NORB=2,NELEC=2,ORBSYM=1,2,OCC=0,1 /\n" + swapped + "0.51 1 1 1 1\n",
     {"line 9", "(1 1|1 1) = 0.51", "line 5"}},
    {"some orbital energies", header + integrals + "0.8 1 0 0 0\n", {"energies for 1 of 2 orbitals"}},
};

TEST(Fcidump, answers_bad_files_with_one_clear_error_on_every_rank) {
    const World world;
    for (const auto& file : bad_files) {
        SCOPED_TRACE(file.name);
        const TemporaryFile temporary(world, file.text.c_str());
        const std::string message = error_of(world, temporary.path());
        EXPECT_TRUE(message.starts_with(temporary.path())) << message;
        for (const char* part : file.message) EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
    }
}

TEST(Fcidump, a_file_that_is_cut_anywhere_is_refused) {
    const World world;
    const std::string blocks = "&FCI NORB=1,NELEC=1,MS2=1,IUHF=1 &END\n0.7 1 1 1 1\n0 0 0 0 0\n0.7 1 1 1 1\n0 0 0 0 0\n0.7 1 1 1 1\n"
                               "0 0 0 0 0\n-1.2 1 1 0 0\n0 0 0 0 0\n-1.2 1 1 0 0\n0 0 0 0 0\n" +
                               core;
    const std::string spins = "&FCI NORB=2,NELEC=1,MS2=1,UHF=T /\n.7 1 1 1 1\n.7 2 2 2 2\n.7 1 1 2 2\n-1 1 1 0 0\n-1 2 2 0 0\n" + core;
    for (const auto& text : {header + integrals + core, blocks, spins}) {
        const TemporaryFile whole(world, text.substr(0, text.size() - 1).c_str());
        EXPECT_EQ(error_of(world, whole.path()), "") << "without its last end of line";
        for (std::size_t end = 1; end + 1 < text.size(); ++end) {
            if (world.size() > 4 ? end % 31 != 0 : end % 13 != 0 && text[end - 1] != '\n' && end + 6 < text.size()) continue;
            const TemporaryFile cut(world, text.substr(0, end).c_str());
            EXPECT_TRUE(error_of(world, cut.path()).starts_with(cut.path())) << text.substr(0, end);
        }
    }
}

TEST(Fcidump, a_model_may_have_no_core_energy_and_no_diagonal) {
    const World world;
    const std::string chain = "&FCI NORB=2,NELEC=2 &END\n4.0 1 1 1 1\n4.0 2 2 2 2\n-1.0 2 1 0 0\n";
    const TemporaryFile without(world, (header + integrals).c_str()), sites(world, (chain + "0.0 0 0 0 0\n").c_str()),
        neither(world, chain.c_str()), with(world, (header + integrals + core).c_str());
    EXPECT_EQ(read_integrals(world, without.path(), {0.25}).core_energy, 0.25);
    EXPECT_EQ(read_integrals(world, with.path(), {0.9}).core_energy, 0.9);
    EXPECT_THROW(read_integrals(world, with.path(), {0.8}), InvalidArgument);
    EXPECT_EQ(read_integrals(world, sites.path()).one_electron.gather(), (std::vector<double>{0, -1, -1, 0}));
    EXPECT_THROW(read_integrals(world, neither.path(), {0.0}), InvalidArgument);
    const TemporaryFile again(world, nullptr);
    write_fcidump(again.path(), read_integrals(world, sites.path()));
    EXPECT_EQ(read_integrals(world, again.path()).one_electron.gather(), (std::vector<double>{0, -1, -1, 0}));
}

/// So many copies of a line that every rank needs several rounds to read its share.
std::string many_copies(const std::string& line, const World& world) {
    std::string text;
    for (std::int64_t copy = 0; copy < 140000 * world.size(); ++copy) text += line;
    return text;
}

TEST(Fcidump, long_files_are_read_and_compared_in_rounds) {
    const World world;
    const std::string text = header + integrals + core + many_copies("0.2 1 2 2 1\n", world);
    const TemporaryFile good(world, text.c_str());
    EXPECT_EQ(read_integrals(world, good.path()).two_electron.gather()[5], 0.2);
    const TemporaryFile bad(world, (text + "0.3 1 2 2 1\n").c_str());
    const std::string message = error_of(world, bad.path());
    const std::string line = "line " + std::to_string(12 + 140000 * world.size());
    EXPECT_NE(message.find(line), std::string::npos) << message;
    EXPECT_NE(message.find("contradicts line 6"), std::string::npos) << message;
}

/// As Psi4 writes larger molecules: (ij|kl) and (kl|ij), which differ in the last digits that count.
TEST(Fcidump, values_that_differ_by_round_off_are_one_integral) {
    const World world;
    const TemporaryFile close(world, (header + integrals + core + "0.2000000003 1 2 2 1\n").c_str());
    const Fcidump data = read_integrals(world, close.path());
    EXPECT_EQ(data.two_electron.gather()[5], 0.2000000003) << "the larger one, on any number of ranks";
    EXPECT_EQ(data.round_off_repeats, 1);
    const TemporaryFile far(world, (header + integrals + core + "0.20000002 2 1 2 1\n").c_str());
    EXPECT_NE(error_of(world, far.path()).find("contradicts line 6"), std::string::npos);
}

TEST(Fcidump, refuses_paths_that_are_no_file) {
    const World world;
    const TemporaryFile none(world, nullptr);
    EXPECT_NE(error_of(world, none.path()).find("no such file"), std::string::npos);
    EXPECT_NE(error_of(world, "/").find("directory"), std::string::npos);
}

TEST(Fcidump, the_header_alone_can_be_read) {
    const World world;
    const TemporaryFile file(world, header.c_str());
    const FcidumpHeader read = IntegralFile(world, file.path()).header();
    EXPECT_EQ(read.orbitals, 2);
    EXPECT_EQ(read.orbital_symmetries, (std::vector<int>{1, 1}));
    EXPECT_EQ(read.data_begin, static_cast<std::int64_t>(header.size()));
}

TEST(Fcidump, what_is_written_is_read_back_to_the_same_bits) {
    const World world;
    const std::int64_t n = 5;
    FcidumpHeader shape;
    shape.orbitals = n;
    shape.electrons = 4;
    shape.orbital_symmetries = {1, 2, 3, 1, 9};
    shape.state_symmetry = 2;
    Fcidump data = empty_fcidump(world, shape);
    data.core_energy = 1.0 / 3;
    data.orbital_energies = {-1.1, -0.1, 0.1, 1e-9, 1.0 / 7};
    data.one_electron.fill_random(1);
    data.two_electron.fill_random(2);
    const TemporaryFile file(world, nullptr);
    write_fcidump(file.path(), data);
    const Fcidump back = read_integrals(world, file.path());
    EXPECT_EQ(back.core_energy, data.core_energy);
    EXPECT_EQ(back.orbital_energies, data.orbital_energies);
    EXPECT_EQ(back.header.orbital_symmetries, data.header.orbital_symmetries);
    EXPECT_EQ(back.header.state_symmetry, 2);
    EXPECT_EQ(back.one_electron.gather(), data.one_electron.gather());
    EXPECT_EQ(back.two_electron.gather(), data.two_electron.gather());
}

/// What the file must be to the byte, printed line by line.
std::string printed(const Fcidump& data, double cutoff) {
    const std::int64_t n = data.header.orbitals;
    std::string text;
    const auto line = [&](double value, std::int64_t p, std::int64_t q, std::int64_t r, std::int64_t s) {
        std::array<char, 100> buffer;
        std::snprintf(buffer.data(), buffer.size(), "%24.16E %4d %4d %4d %4d\n", value, static_cast<int>(p), static_cast<int>(q),
                      static_cast<int>(r), static_cast<int>(s));
        text += buffer.data();
    };
    const auto pair = [](std::int64_t p, std::int64_t q) { return p * (p + 1) / 2 + q; };
    const auto two = [&](const Tensor<double>& tensor, bool pairs_exchange) {
        const std::vector<double> g = tensor.gather();
        for (std::int64_t p = 0; p < n; ++p)
            for (std::int64_t q = 0; q <= p; ++q)
                for (std::int64_t r = 0; r < n; ++r)
                    for (std::int64_t s = 0; s <= r; ++s) {
                        if (pairs_exchange && pair(r, s) > pair(p, q)) continue;
                        const double value = g[static_cast<std::size_t>(p + n * (q + n * (r + n * s)))];
                        if (value != 0 && std::abs(value) >= cutoff) line(value, p + 1, q + 1, r + 1, s + 1);
                    }
        if (data.beta) line(0, 0, 0, 0, 0);
    };
    const auto one = [&](const Tensor<double>& tensor) {
        const std::vector<double> h = tensor.gather();
        for (std::int64_t p = 0; p < n; ++p)
            for (std::int64_t q = 0; q <= p; ++q) {
                const double value = h[static_cast<std::size_t>(p + n * q)];
                if (p == q || (value != 0 && std::abs(value) >= cutoff)) line(value, p + 1, q + 1, 0, 0);
            }
        if (data.beta) line(0, 0, 0, 0, 0);
    };
    two(data.two_electron, true);
    if (data.beta) {
        two(data.beta->two_electron, true);
        two(data.beta->mixed, false);
    }
    one(data.one_electron);
    if (data.beta) one(data.beta->one_electron);
    for (std::size_t p = 0; !data.beta && p < data.orbital_energies.size(); ++p)
        line(data.orbital_energies[p], static_cast<std::int64_t>(p) + 1, 0, 0, 0);
    line(data.core_energy, 0, 0, 0, 0);
    return text;
}

/// In one round and in several, in which the last ranks have fewer lines or none.
TEST(Fcidump, what_is_written_has_the_same_bytes_on_all_numbers_of_ranks) {
    const World world;
    const Communicator comm(world.communicator());
    for (const std::int64_t n : {1, 2, 9, 36})
        for (const auto form : {OrbitalForm::restricted, OrbitalForm::spin_blocks}) {
            if (n > 9 && form != OrbitalForm::restricted) continue;
            FcidumpHeader shape{n, 2};
            shape.form = form;
            Fcidump data = empty_fcidump(world, shape);
            data.core_energy = -1e-300;
            for (auto* tensor : {&data.one_electron, &data.two_electron}) tensor->fill_random(static_cast<std::uint64_t>(n));
            if (data.beta)
                for (auto* tensor : {&data.beta->one_electron, &data.beta->two_electron, &data.beta->mixed}) tensor->fill_random(3);
            else
                data.orbital_energies.assign(static_cast<std::size_t>(n), 1e100);
            for (const double cutoff : {0.0, 0.5}) {
                const TemporaryFile file(world, nullptr);
                write_fcidump(file.path(), data, cutoff);
                std::ifstream stream(file.path(), std::ios::binary);
                const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
                const auto end = text.find("&END\n");
                ASSERT_NE(end, std::string::npos);
                EXPECT_TRUE(text.substr(end + 5) == printed(data, cutoff)) << n << " orbitals, cutoff " << cutoff;
                comm.barrier();
            }
        }
}

TEST(Fcidump, a_file_that_cannot_be_written_is_an_error_on_every_rank) {
    const World world;
    const TemporaryFile source(world, good_files.front().text.c_str());
    const Fcidump data = read_integrals(world, source.path());
    EXPECT_THROW(write_fcidump(source.path() + "/below/a/file", data), InvalidArgument);
}

}  // namespace
}  // namespace arges::chemistry

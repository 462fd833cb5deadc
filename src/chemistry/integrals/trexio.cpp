// Reads integrals from TREXIO files (Posenitskiy et al., J. Chem. Phys. 158, 174801 (2023)): each rank a part of the numbered entries.
#include "chemistry/integrals/integral_file.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
#include "chemistry/integrals/entry_source.hpp"
#include "chemistry/integrals/fcidump_form.hpp"
#include "io/file/hdf5_dataset.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace arges::chemistry {

namespace {

using io::Hdf5Array;

constexpr char one_electron_name[] = "/mo_1e_int/mo_1e_int_core_hamiltonian";
constexpr char indices_name[] = "/mo_2e_int/mo_2e_int_eri_indices";
constexpr char values_name[] = "/mo_2e_int/mo_2e_int_eri_values";
/// Bytes that HDF5 keeps of the chunks of a dataset. A part of a file is read once, from its begin to its end.
constexpr std::size_t chunk_cache = std::size_t(1) << 22;
/// Bytes of a two-electron integral while it is read: its value, its indices in the type of the file and as numbers, its entry.
constexpr std::int64_t bytes_of_read = 2 * 8 + 4 * 8 + 4 * 8 + sizeof(Entry);

/// Everything but the integrals; each rank reads it by itself.
struct Contents {
    FcidumpHeader header{};
    double repulsion = 0;
    std::vector<double> energies{};      ///< of all orbitals in the file, or empty
    std::vector<std::int64_t> number{};  ///< of the orbitals in the file, as entries have it
    Hdf5Array one{}, indices{}, values{};
    std::int64_t integrals = 0;  ///< two-electron entries

    std::int64_t orbitals() const { return std::ssize(number); }
};

/// Looks into one file. Local.
class ContentsReader {
public:
    explicit ContentsReader(const io::InputFile& file) : file_(file), names_(io::hdf5_dataset_names(file.path())) {}

    Contents read() {
        refuse_complex();
        const auto n = required<std::int64_t>("mo", "mo_num", "write the orbitals and integrals");
        if (n < 1 || n > 32767) fail("mo_num is " + std::to_string(n) + ", it must be between 1 and 32767");
        Contents result;
        result.repulsion = required<double>("nucleus", "nucleus_repulsion", "write it; 0 for a model without nuclei");
        const auto spins = whole_numbers("/mo/mo_spin", n);
        number_orbitals(spins, n, result);
        count_electrons(result.header);
        check_occupation(spins, n, result);
        result.energies = numbers("/mo/mo_energy", n);
        find_symmetries(spins, n, result.header);
        find_integrals(n, result);
        return result;
    }

private:
    [[noreturn]] void fail(const std::string& what) const { throw InvalidArgument(file_.path() + ": " + what); }

    template <class T>
    T required(const char* group, const char* name, const char* cure) const {
        const auto found = io::find_hdf5_attribute<T>(file_.path(), group, name);
        if (!found)
            fail(std::string("the HDF5 file has no number ") + name + " in the group " + group +
                 ", which a TREXIO file of integrals has; " + cure);
        return *found;
    }

    bool has(const std::string& name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }

    void refuse_complex() const {
        for (const char* name : {"/mo_1e_int/mo_1e_int_core_hamiltonian_im", "/mo/mo_coefficient_im"})
            if (has(name)) fail(std::string("there is ") + name + ", so the integrals are complex; only real ones are implemented");
    }

    /// A dataset of real numbers or integers with these extents.
    Hdf5Array array(const std::string& name, const std::vector<std::int64_t>& extents, bool integers) const {
        auto found = io::find_hdf5_array(file_.path(), name);
        if (found.type.is_complex() || integers == (found.type.kind == 'f'))
            fail(name + " is of type " + found.type.name() + ", it must be of " + (integers ? "integers" : "real numbers"));
        if (found.extents != extents)
            fail(name + " is " + io::extents_text(found.extents) + ", it must be " + io::extents_text(extents) +
                 "; the file is damaged or was written in part");
        return found;
    }

    /// The numbers of a dataset, one for each orbital; none if it is not there.
    std::vector<double> numbers(const std::string& name, std::int64_t n, bool integers = false) const {
        if (!has(name)) return {};
        std::vector<double> result(n);
        io::ArrayReader(file_, array(name, {n}, integers)).read(0, n, ElementType::float64, result.data());
        if (std::any_of(result.begin(), result.end(), [](double value) { return !std::isfinite(value); }))
            fail(name + " has a value that is not finite; the program that wrote the file failed, write it again");
        return result;
    }
    std::vector<std::int64_t> whole_numbers(const std::string& name, std::int64_t n) const {
        const auto found = numbers(name, n, true);
        return {found.begin(), found.end()};
    }

    /// Orbitals of both spins are unrestricted ones: each spin's are numbered in the order of the file.
    void number_orbitals(const std::vector<std::int64_t>& spins, std::int64_t n, Contents& result) const {
        const auto beta = std::count(spins.begin(), spins.end(), 1), alpha = std::count(spins.begin(), spins.end(), 0);
        if (alpha + beta != std::ssize(spins)) fail("mo_spin has values other than 0 (alpha) and 1 (beta)");
        const bool restricted = alpha == 0 || beta == 0;
        if (!restricted && alpha != beta)
            fail("mo_spin has " + std::to_string(alpha) + " alpha and " + std::to_string(beta) +
                 " beta orbitals; unrestricted orbitals are as many of each spin");
        result.header.form = restricted ? OrbitalForm::restricted : OrbitalForm::spin_orbitals;
        result.header.orbitals = restricted ? n : alpha;
        std::array<std::int64_t, 2> last{};
        for (std::int64_t p = 0; p < n; ++p)
            result.number.push_back(restricted ? static_cast<std::int64_t>(p) + 1 : spin_index(++last[spins[p]], spins[p]));
    }

    void count_electrons(FcidumpHeader& header) const {
        const auto up = required<std::int64_t>("electron", "electron_up_num", "write it"),
                   down = required<std::int64_t>("electron", "electron_dn_num", "write it");
        const std::string both = "electron_up_num=" + std::to_string(up) + " and electron_dn_num=" + std::to_string(down);
        if (std::min(up, down) < 0 || std::max(up, down) > header.orbitals)
            fail(both + " do not fit into " + std::to_string(header.orbitals) + " orbitals; correct them");
        header.electrons = up + down;
        header.ms2 = up - down;
        const auto all = io::find_hdf5_attribute<std::int64_t>(file_.path(), "electron", "electron_num");
        if (all && *all != header.electrons) fail(both + " contradict electron_num=" + std::to_string(*all) + "; correct them");
    }

    /// Occupation numbers need not be whole, but an orbital that differs by an electron is in the wrong place.
    void check_occupation(const std::vector<std::int64_t>& spins, std::int64_t n, const Contents& result) const {
        const auto occupation = numbers("/mo/mo_occupation", n);
        const bool restricted = result.header.form == OrbitalForm::restricted;
        for (std::size_t p = 0; p < occupation.size(); ++p) {
            const auto orbital = restricted ? result.number[p] : orbital_of(result.number[p]);
            double expected = 0;
            for (int spin : {0, 1})
                if ((restricted || spins[p] == spin) && orbital <= result.header.electrons_of(spin)) ++expected;
            if (std::abs(occupation[p] - expected) > 1 - 1e-6)
                fail("mo_occupation gives orbital " + std::to_string(p) + " (counted from 0) " + std::to_string(occupation[p]) +
                     " electrons, but with the first orbitals occupied it has " + std::to_string(static_cast<int>(expected)) +
                     "; put the occupied orbitals first");
        }
    }

    /// ORBSYM of the alpha orbitals, where the symmetries are numbers.
    void find_symmetries(const std::vector<std::int64_t>& spins, std::int64_t n, FcidumpHeader& header) const {
        const std::string name = "/mo/mo_symmetry";
        if (!has(name)) return;
        const auto texts = io::hdf5_texts(file_.path(), name);
        if (std::ssize(texts) != n)
            fail(name + " has " + std::to_string(texts.size()) + " entries, it must have " + std::to_string(n) +
                 "; the file is damaged or was written in part");
        std::vector<int> symmetries;
        for (std::size_t p = 0; p < texts.size(); ++p) {
            int symmetry = 0;
            const char* const end = texts[p].data() + texts[p].size();
            if (const auto [stop, code] = std::from_chars(texts[p].data(), end, symmetry); code != std::errc() || stop != end) return;
            if (header.form == OrbitalForm::restricted || spins[p] == 0) symmetries.push_back(symmetry);
        }
        header.orbital_symmetries = std::move(symmetries);
    }

    void find_integrals(std::int64_t n, Contents& result) const {
        if (!has(values_name) && has("/mo_2e_int/mo_2e_int_eri_cholesky_values"))
            fail("the two-electron integrals are there as Cholesky vectors only; write mo_2e_int_eri too");
        result.one = array(one_electron_name, {n, n}, false);
        const auto values = io::find_hdf5_array(file_.path(), values_name);
        if (values.extents.size() != 1)
            fail(std::string(values_name) + " is " + io::extents_text(values.extents) + ", it must have one dimension");
        result.integrals = values.extents[0];
        result.values = array(values_name, values.extents, false);
        result.indices = array(indices_name, {4 * result.integrals}, true);
    }

    const io::InputFile& file_;
    std::vector<std::string> names_;
};

Contents contents_of(const io::InputFile& file) {
    const io::QuietHdf5 quiet;
    Contents result;
    file.comm().agree([&] { result = ContentsReader(file).read(); });
    return result;
}

/// A part of the numbers 0, 1, ..., of which `next` comes next.
struct Range {
    std::int64_t next = 0, end = 0;
    std::int64_t left() const { return end - next; }
};

/// Positions of entries: the number of a two-electron one; behind these, elements of the one-electron matrix.
class TrexioEntries : public EntrySource {
public:
    explicit TrexioEntries(const io::InputFile& file) : file_(file), contents_(contents_of(file)) {}

    const FcidumpHeader& header() const override { return contents_.header; }
    std::int64_t memory() const override {
        const auto ranks = file_.comm().size();
        const auto most =
            std::min(std::max(contents_.integrals, contents_.orbitals() * contents_.orbitals()) / ranks + 1, entries_per_round);
        const auto chunks = static_cast<std::int64_t>(chunk_cache) * ((contents_.indices.data < 0) + (contents_.values.data < 0));
        return most * (bytes_of_entry(ranks) + bytes_of_read) + chunks;
    }
    void rewind() override;
    void next(EntryRound& round) override;
    std::string place(std::int64_t position) const override {
        if (position < contents_.integrals) return "entry " + std::to_string(position) + " of mo_2e_int_eri";
        const auto element = position - contents_.integrals, n = contents_.orbitals();
        return "row " + std::to_string(element / n) + ", column " + std::to_string(element % n) + " of mo_1e_int_core_hamiltonian";
    }
    std::string name(std::uint64_t code) const override;
    std::string part(EntryKind kind) const override {
        return kind == EntryKind::two_electron ? values_name : kind == EntryKind::one_electron ? one_electron_name : "/mo/mo_energy";
    }

private:
    /// True if an element between two orbitals may be other than zero. They have the numbers that entries have.
    bool same_spin(std::int64_t p, std::int64_t q) const {
        return contents_.header.form == OrbitalForm::restricted || spin_of(p) == spin_of(q);
    }
    std::int64_t number(std::int64_t orbital) const { return contents_.number[orbital]; }
    void add_small(EntryRound& round);
    void add_one_electron(EntryRound& round);
    void add_two_electron(EntryRound& round);
    /// Adds an integral, unless its value is wrong. Returns false at the first thing that is wrong.
    bool add(EntryRound& round, std::int64_t position, double value, const std::array<std::int64_t, 4>& x) const;

    const io::InputFile& file_;
    Contents contents_;
    std::optional<io::ArrayReader> one_, indices_, values_;
    Range one_electron_{}, two_electron_{};  // of this rank
    bool small_ = false;                     // orbital and core energies come next
    std::vector<double> numbers_, index_numbers_;
};

void TrexioEntries::rewind() {
    const io::QuietHdf5 quiet;
    const auto rank = file_.comm().rank(), ranks = file_.comm().size();
    const auto part = [&](std::int64_t count) { return Range{part_begin(count, rank, ranks), part_begin(count, rank + 1, ranks)}; };
    file_.comm().agree([&] {
        one_.emplace(file_, contents_.one, chunk_cache);
        indices_.emplace(file_, contents_.indices, chunk_cache);
        values_.emplace(file_, contents_.values, chunk_cache);
        one_electron_ = part(contents_.orbitals() * contents_.orbitals());
        two_electron_ = part(contents_.integrals);
        small_ = rank == 0;
    });
}

void TrexioEntries::next(EntryRound& round) {
    const io::QuietHdf5 quiet;
    round.clear();
    add_small(round);
    if (one_electron_.left() > 0)
        add_one_electron(round);
    else
        add_two_electron(round);
    round.more = one_electron_.left() + two_electron_.left() > 0;
}

void TrexioEntries::add_small(EntryRound& round) {
    if (!std::exchange(small_, false)) return;
    round.entries.push_back({entry_code({0, 0, 0, 0}), contents_.repulsion, 0});
    for (std::size_t p = 0; p < contents_.energies.size(); ++p)
        round.entries.push_back({entry_code({contents_.number[p], 0, 0, 0}), contents_.energies[p], 0});
}

bool TrexioEntries::add(EntryRound& round, std::int64_t position, double value, const std::array<std::int64_t, 4>& x) const {
    if (std::isfinite(value)) {
        round.entries.push_back({entry_code(x), value, position});
        return true;
    }
    round.wrong = position;
    round.problem = "the value is not finite; the program that wrote the file failed, write it again";
    return false;
}

void TrexioEntries::add_one_electron(EntryRound& round) {
    const auto n = contents_.orbitals(), count = std::min(one_electron_.left(), entries_per_round);
    numbers_.resize(count);
    one_->read(one_electron_.next, count, ElementType::float64, numbers_.data());
    round.entries.reserve(round.entries.size() + static_cast<std::size_t>(count));
    for (const double value : numbers_) {
        const auto element = one_electron_.next++;
        const auto p = number(element / n), q = number(element % n);
        if (same_spin(p, q) && !add(round, contents_.integrals + element, value, {p, q, 0, 0})) return;
    }
}

void TrexioEntries::add_two_electron(EntryRound& round) {
    const auto n = contents_.orbitals(), count = std::min(two_electron_.left(), entries_per_round);
    numbers_.resize(count);
    index_numbers_.resize(4 * count);
    values_->read(two_electron_.next, count, ElementType::float64, numbers_.data());
    indices_->read(4 * two_electron_.next, 4 * count, ElementType::float64, index_numbers_.data());
    round.entries.reserve(round.entries.size() + static_cast<std::size_t>(count));
    const double* index = index_numbers_.data();
    for (const double value : numbers_) {
        const auto position = two_electron_.next++;
        std::array<std::int64_t, 4> x{};
        for (auto& orbital : x) {
            const auto here = static_cast<std::int64_t>(*index++);
            if (here < 0 || here >= n) {
                round.wrong = position;
                round.problem = "index " + std::to_string(here) + " is out of range; mo_num=" + std::to_string(n) + " allows 0 to " +
                                std::to_string(n - 1);
                return;
            }
            orbital = number(here);
        }
        // <pq|rs> = (pr|qs)
        if (same_spin(x[0], x[2]) && same_spin(x[1], x[3]) && !add(round, position, value, {x[0], x[2], x[1], x[3]})) return;
    }
}

std::string TrexioEntries::name(std::uint64_t code) const {
    const auto x = entry_indices(code);
    const auto text = [&](std::size_t d) {
        const auto found = std::find(contents_.number.begin(), contents_.number.end(), x[d]);
        return std::to_string(found - contents_.number.begin());
    };
    if (entry_kind(code) == EntryKind::two_electron) return "<" + text(0) + " " + text(2) + "|" + text(1) + " " + text(3) + ">";
    return "<" + text(0) + "|h|" + text(1) + ">";
}

}  // namespace

std::unique_ptr<EntrySource> trexio_entries(const io::InputFile& file) { return std::make_unique<TrexioEntries>(file); }

}  // namespace arges::chemistry

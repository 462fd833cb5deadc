// FCIDUMP text (Knowles and Handy, Comput. Phys. Commun. 54, 75 (1989)) written in rounds, in each of
// which every rank formats a part of the lines.
#include "chemistry/integrals/integral_file.hpp"
#include "comm/communicator.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

namespace arges::chemistry {

namespace {

/// Integrals that a rank reads and formats at a time.
constexpr std::int64_t integrals_per_part = std::int64_t(1) << 15;

std::string header_text(const FcidumpHeader& header) {
    std::ostringstream stream;
    stream << "&FCI NORB=" << header.orbitals << ",NELEC=" << header.electrons << ",MS2=" << header.ms2 << ",\n ORBSYM=";
    for (std::int64_t p = 0; p < header.orbitals; ++p)
        stream << (header.orbital_symmetries.empty() ? 1 : header.orbital_symmetries[p]) << ",";
    stream << "\n ISYM=" << header.state_symmetry << (header.form == OrbitalForm::restricted ? "" : ",\n IUHF=1") << ",\n&END\n";
    return stream.str();
}

/// Adds a line as "%24.16E %4d %4d %4d %4d" prints it; indices counted from 1, 0 for none.
void append_line(std::string& text, double value, const std::array<std::int64_t, 4>& x) {
    std::array<char, 32> number;
    const auto append = [&](const char* end, std::size_t width) {
        const std::size_t length = end - number.data();
        text.append(width - std::min(width, length), ' ');
        text.append(number.data(), length);
    };
    char* const end = std::to_chars(number.data(), number.data() + number.size(), value, std::chars_format::scientific, 16).ptr;
    std::replace(number.data(), end, 'e', 'E');
    append(end, 24);
    for (const auto index : x) {
        text += ' ';
        append(std::to_chars(number.data(), number.data() + number.size(), index).ptr, 4);
    }
    text += '\n';
}

/// Writes a file in rounds, in each of which every rank formats a part of the lines: the first rank the first ones.
class Writer {
public:
    Writer(const Communicator& comm, const std::string& path, double cutoff) : file_(comm, path), cutoff_(cutoff) {}

    /// What rank 0 puts before the part that comes next.
    void add(const std::string& text) {
        if (comm().rank() == 0) text_ += text;
    }
    /// A line of rank 0.
    void add_line(double value, const std::array<std::int64_t, 4>& x) {
        if (comm().rank() == 0) append_line(text_, value, x);
    }
    /// Adds an element of a tensor with extents n, indices counted from 0 and -1 where it has no more. Collective.
    void add_element(const Tensor<double>& tensor, const std::array<std::int64_t, 4>& index) {
        if (pending_++ / integrals_per_part == comm().rank()) {
            std::int64_t key = 0;
            auto& line = indices_.emplace_back();
            for (auto d = index.size(); d-- > 0;) {
                if (index[d] >= 0) key = key * tensor.extents()[d] + index[d];
                line[d] = index[d] + 1;
            }
            keys_.push_back(key);
        }
        if (pending_ == integrals_per_part * comm().size()) flush(tensor);
    }
    /// Writes the elements that were added. Collective.
    void flush(const Tensor<double>& tensor) {
        const std::vector<double> values = tensor.read(keys_);
        comm().agree([&] {
            for (std::size_t i = 0; i < values.size(); ++i)
                if (is_demanded(indices_[i]) || (!(std::abs(values[i]) < cutoff_) && values[i] != 0))
                    append_line(text_, values[i], indices_[i]);
        });
        write();
        keys_.clear();
        indices_.clear();
        pending_ = 0;
    }
    /// Writes what is left, and gives the file its name. Collective.
    void finish() {
        write();
        file_.commit();
    }

private:
    const Communicator& comm() const { return file_.comm(); }
    /// Diagonal one-electron integrals are written whatever they are, since a file without one looks truncated.
    static bool is_demanded(const std::array<std::int64_t, 4>& line) { return line[2] == 0 && line[0] == line[1]; }
    void write() {
        std::int64_t bytes = 0;
        const auto before = io::sum_before(comm(), std::ssize(text_), &bytes);
        comm().agree([&] { file_.write(written_ + before, text_.data(), text_.size()); });
        written_ += bytes;
        text_.clear();
    }

    io::OutputFile file_;
    double cutoff_;
    std::int64_t pending_ = 0, written_ = 0;
    std::vector<std::int64_t> keys_;
    std::vector<std::array<std::int64_t, 4>> indices_;
    std::string text_;
};

/// @param pairs_exchange  (pq|rs) = (rs|pq): only one of them is written
void write_two_electron(Writer& writer, const Tensor<double>& integrals, bool pairs_exchange) {
    const std::int64_t n = integrals.extents()[0];
    for (std::int64_t p = 0; p < n; ++p)
        for (std::int64_t q = 0; q <= p; ++q)
            for (std::int64_t r = 0; r < (pairs_exchange ? p + 1 : n); ++r)
                for (std::int64_t s = 0; s <= (pairs_exchange && r == p ? q : r); ++s) writer.add_element(integrals, {p, q, r, s});
    writer.flush(integrals);
}

void write_one_electron(Writer& writer, const Tensor<double>& integrals) {
    for (std::int64_t p = 0; p < integrals.extents()[0]; ++p)
        for (std::int64_t q = 0; q <= p; ++q) writer.add_element(integrals, {p, q, -1, -1});
    writer.flush(integrals);
}

/// All integrals, and the ends of blocks.
void write_integrals(Writer& writer, const Fcidump& data) {
    write_two_electron(writer, data.two_electron, true);
    if (!data.beta) return write_one_electron(writer, data.one_electron);
    const auto end_block = [&] { writer.add_line(0, {0, 0, 0, 0}); };
    end_block();
    write_two_electron(writer, data.beta->two_electron, true);
    end_block();
    write_two_electron(writer, data.beta->mixed, false);
    end_block();
    for (const auto* h : {&data.one_electron, &data.beta->one_electron}) {
        write_one_electron(writer, *h);
        end_block();
    }
}

}  // namespace

void write_fcidump(const std::string& path, const Fcidump& data, double cutoff) {
    Writer writer(Communicator(data.two_electron.world().communicator()), path, cutoff);
    writer.add(header_text(data.header));
    write_integrals(writer, data);
    for (std::size_t p = 0; !data.beta && p < data.orbital_energies.size(); ++p)
        writer.add_line(data.orbital_energies[p], {static_cast<std::int64_t>(p) + 1, 0, 0, 0});
    writer.add_line(data.core_energy, {0, 0, 0, 0});
    writer.finish();
}

}  // namespace arges::chemistry

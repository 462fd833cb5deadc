#include "arges/error.hpp"
#include "chemistry/fcidump.hpp"
#include "comm/communicator.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace arges::chemistry {

namespace {

/// Integrals that rank 0 holds at a time.
constexpr std::size_t integrals_per_round = std::size_t(1) << 16;

void write_header(std::ostream& stream, const FcidumpHeader& header) {
    stream << "&FCI NORB=" << header.orbitals << ",NELEC=" << header.electrons
           << ",MS2=" << header.ms2 << ",\n ORBSYM=";
    for (std::int64_t p = 0; p < header.orbitals; ++p)
        stream << (header.orbital_symmetries.empty()
                       ? 1
                       : header.orbital_symmetries[static_cast<std::size_t>(p)])
               << ",";
    stream << "\n ISYM=" << header.state_symmetry
           << (header.form == OrbitalForm::restricted ? "" : ",\n IUHF=1") << ",\n&END\n";
}

/// A line; indices counted from 1, 0 for none.
void write_line(std::ostream& stream, double value, const std::array<std::int64_t, 4>& x) {
    std::array<char, 128> text{};
    std::snprintf(text.data(), text.size(), "%24.16E %4lld %4lld %4lld %4lld\n", value,
                  static_cast<long long>(x[0]), static_cast<long long>(x[1]),
                  static_cast<long long>(x[2]), static_cast<long long>(x[3]));
    stream << text.data();
}

/// Writes what it is given, all ranks together, in rounds; only rank 0 asks and writes.
class IntegralWriter {
public:
    IntegralWriter(std::ostream& stream, const Tensor<double>& tensor, double cutoff)
        : stream_(stream), tensor_(tensor), cutoff_(cutoff), root_(tensor.world().rank() == 0) {}

    /// Adds an element, indices counted from 0. Collective.
    void add(const std::vector<std::int64_t>& index) {
        if (root_) {
            keys_.push_back(tensor_.key(index));
            indices_.push_back({0, 0, 0, 0});
            for (std::size_t d = 0; d < index.size(); ++d) indices_.back()[d] = index[d] + 1;
        }
        if (++pending_ == integrals_per_round) flush();
    }
    /// Writes what was added. Collective.
    void flush() {
        const std::vector<double> values = tensor_.read(keys_);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!(std::abs(values[i]) < cutoff_) && values[i] != 0)
                write_line(stream_, values[i], indices_[i]);
        keys_.clear();
        indices_.clear();
        pending_ = 0;
    }

private:
    std::ostream& stream_;
    const Tensor<double>& tensor_;
    double cutoff_;
    bool root_;
    std::size_t pending_ = 0;
    std::vector<std::int64_t> keys_;
    std::vector<std::array<std::int64_t, 4>> indices_;
};

/// @param pairs_exchange  (pq|rs) = (rs|pq): only one of them is written
void write_two_electron(std::ostream& stream, const Tensor<double>& integrals, bool pairs_exchange,
                        double cutoff) {
    const std::int64_t n = integrals.extents()[0];
    IntegralWriter writer(stream, integrals, cutoff);
    for (std::int64_t p = 0; p < n; ++p)
        for (std::int64_t q = 0; q <= p; ++q)
            for (std::int64_t r = 0; r < (pairs_exchange ? p + 1 : n); ++r)
                for (std::int64_t s = 0; s <= (pairs_exchange && r == p ? q : r); ++s)
                    writer.add({p, q, r, s});
    writer.flush();
}

void write_one_electron(std::ostream& stream, const Tensor<double>& integrals, double cutoff) {
    IntegralWriter writer(stream, integrals, cutoff);
    for (std::int64_t p = 0; p < integrals.extents()[0]; ++p)
        for (std::int64_t q = 0; q <= p; ++q) writer.add({p, q});
    writer.flush();
}

/// All integrals, and the ends of blocks.
void write_integrals(std::ostream& stream, const Fcidump& data, double cutoff) {
    const auto end_block = [&] {
        if (data.beta) write_line(stream, 0, {0, 0, 0, 0});
    };
    write_two_electron(stream, data.two_electron, true, cutoff);
    end_block();
    if (data.beta) {
        write_two_electron(stream, data.beta->two_electron, true, cutoff);
        end_block();
        write_two_electron(stream, data.beta->mixed, false, cutoff);
        end_block();
    }
    write_one_electron(stream, data.one_electron, cutoff);
    end_block();
    if (data.beta) {
        write_one_electron(stream, data.beta->one_electron, cutoff);
        end_block();
    }
}

/// The last lines; then the file gets its name.
void finish(std::ofstream& stream, const Fcidump& data, const std::string& temporary,
            const std::string& path) {
    for (std::size_t p = 0; !data.beta && p < data.orbital_energies.size(); ++p)
        write_line(stream, data.orbital_energies[p], {static_cast<std::int64_t>(p) + 1, 0, 0, 0});
    write_line(stream, data.core_energy, {0, 0, 0, 0});
    stream.close();
    std::error_code code, ignored;
    if (stream) std::filesystem::rename(temporary, path, code);
    if (stream && !code) return;
    std::filesystem::remove(temporary, ignored);
    throw InvalidArgument(path + (code ? ": the finished file cannot be renamed from " + temporary +
                                             ": " + code.message()
                                       : ": writing failed; is the disk full?"));
}

}  // namespace

void write_fcidump(const std::string& path, const Fcidump& data, double cutoff) {
    const Communicator comm(data.two_electron.world().communicator());
    const bool root = comm.rank() == 0;
    const std::string temporary = path + ".part";
    std::ofstream stream;
    comm.agree([&] {
        if (root) stream.open(temporary, std::ios::binary | std::ios::trunc);
        if (root && !stream)
            throw InvalidArgument(path +
                                  ": cannot be written; check the folder and its permissions");
    });
    if (root) write_header(stream, data.header);
    write_integrals(stream, data, cutoff);
    comm.agree([&] {
        if (root) finish(stream, data, temporary, path);
    });
}

}  // namespace arges::chemistry

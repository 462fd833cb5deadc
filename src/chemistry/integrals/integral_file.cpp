#include "chemistry/integrals/integral_file.hpp"

#include "arges/chemistry/fcidump.hpp"
#include "arges/error.hpp"
#include "chemistry/solvers/check_arguments.hpp"
#include "interface/world/world_state.hpp"
#include "io/file/hdf5_dataset.hpp"

#include <filesystem>

namespace arges::chemistry {

Fcidump empty_fcidump(const World& world, const FcidumpHeader& header) {
    const std::int64_t n = header.orbitals;
    const auto one = [&](const char* name) { return Tensor<double>(world, {n, n}, "pq", "sym(p,q)", name); };
    const auto two = [&](const char* symmetry, const char* name) { return Tensor<double>(world, {n, n, n, n}, "pqrs", symmetry, name); };
    const char* const all = "sym(sym(p,q),sym(r,s))";
    Fcidump data{header, 0.0, {}, one("h"), two(all, "(pq|rs)"), {}};
    if (header.form != OrbitalForm::restricted)
        data.beta = BetaIntegrals{{}, one("h of beta"), two(all, "(pq|rs) of beta"), two("sym(p,q) sym(r,s)", "(pq|rs) of alpha and beta")};
    return data;
}

namespace {

/// What a rank reads in a second (measured: 220 to 250 MB of text, 170 MB of TREXIO, where an integral takes an eighth of the bytes).
constexpr double text_bytes_per_second = 2.2e8, hdf5_bytes_per_second = 1.5e8;

bool is_trexio_name(const std::string& path) { return path.ends_with(".h5") || path.ends_with(".hdf5") || path.ends_with(".trexio"); }

/// The communicator, unless the path is that of a folder: the text back end of TREXIO makes one. Collective.
Communicator checked(const Communicator& comm, const std::string& path) {
    comm.agree([&] {
        std::error_code ignored;
        if (comm.rank() == 0 && std::filesystem::is_directory(path, ignored))
            throw InvalidArgument(path + ": this is a directory; name a file in it, or if it is a TREXIO file of the text back end, " +
                                  "convert it to the HDF5 back end (trexio convert-backend)");
    });
    return comm;
}

}  // namespace

IntegralFile::IntegralFile(const World& world, const std::string& path)
    : world_(world), file_(checked(communicator_of(world, path), path), path) {
    file_.comm().agree([&] { hdf5_ = io::is_hdf5(file_); });
    source_ = hdf5_ ? trexio_entries(file_) : fcidump_entries(file_);
}

double IntegralFile::reading_seconds(std::int64_t ranks) const {
    return static_cast<double>(size()) / (hdf5_ ? hdf5_bytes_per_second : text_bytes_per_second) / static_cast<double>(ranks);
}

Fcidump IntegralFile::read(const IntegralOptions& options) { return read_entries(world_, file_, *source_, options); }

IntegralFileInfo integral_file_info(const World& world, const std::string& path) {
    const IntegralFile file(world, path);
    return {file.form(), file.size(), file.header()};
}

Fcidump read_integrals(const World& world, const std::string& path, const IntegralOptions& options) {
    return IntegralFile(world, path).read(options);
}

bool is_integral_name(const std::string& path) { return path.ends_with(".fcidump") || is_trexio_name(path); }

void write_integrals(const std::string& path, const Fcidump& data) {
    check_hamiltonian(data, path);
    communicator_of(data.one_electron.world(), path);
    if (is_trexio_name(path)) return write_trexio(path, data);
    if (!is_integral_name(path))
        throw InvalidArgument(path + ": the name tells no form of integrals; end it with .fcidump (text) or .h5 (TREXIO)");
    write_fcidump(path, data);
}

}  // namespace arges::chemistry

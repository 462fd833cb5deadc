#include "cli/conversions.hpp"

#include "base/memory_tally.hpp"
#include "base/stopwatch.hpp"
#include "cli/world_options.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cstdint>

namespace arges::cli {

namespace {

/// What was done.
struct ConvertedIntegrals {
    std::string input, output;
    std::string form{};  ///< of the input
    chemistry::FcidumpHeader header{};
    std::int64_t round_off_repeats = 0;
    std::int64_t bytes_read = 0, bytes_written = 0;
    double read_seconds = 0, write_seconds = 0;
    std::int64_t peak_memory_bytes = 0;  ///< of the process that used most
    std::int64_t ranks = 1;

    bool restricted() const { return header.form == chemistry::OrbitalForm::restricted; }
};

void print_table(std::ostream& out, const ConvertedIntegrals& done) {
    const auto row = [&out](const char* name, const std::string& text) { out << fmt::format("{:<12} {}\n", name, text); };
    row("read",
        fmt::format("{}, {}, {}, {:.3f} s ({:.0f} MB/s) on {} {}", done.input, done.form, format_bytes(done.bytes_read), done.read_seconds,
                    static_cast<double>(done.bytes_read) / done.read_seconds / 1e6, done.ranks, done.ranks == 1 ? "rank" : "ranks"));
    row("orbitals", fmt::format("{} {}", done.header.orbitals, done.restricted() ? "restricted" : "unrestricted"));
    row("electrons", fmt::format("{} alpha, {} beta", done.header.electrons_of(0), done.header.electrons_of(1)));
    if (done.round_off_repeats > 0) row("repeats", fmt::format("{} entries, up to round-off (1e-8 hartree)", done.round_off_repeats));
    row("written", fmt::format("{}, {}, {:.3f} s", done.output, format_bytes(done.bytes_written), done.write_seconds));
    row("memory", format_bytes(done.peak_memory_bytes) + ", largest process");
    out << std::flush;
}

void print_json(std::ostream& out, const ConvertedIntegrals& done) {
    nlohmann::ordered_json object;
    object["input"] = done.input;
    object["output"] = done.output;
    object["form"] = done.form;
    object["orbitals"] = done.header.orbitals;
    object["restricted"] = done.restricted();
    object["electrons"] = done.header.electrons;
    object["ms2"] = done.header.ms2;
    object["round_off_repeats"] = done.round_off_repeats;
    object["bytes"] = done.bytes_read;
    object["bytes_written"] = done.bytes_written;
    object["read_seconds"] = done.read_seconds;
    object["write_seconds"] = done.write_seconds;
    object["peak_memory_bytes"] = done.peak_memory_bytes;
    object["ranks"] = done.ranks;
    out << object.dump(2) << std::endl;
}

}  // namespace

void convert_integrals(const World& world, const IntegralConversion& conversion, bool json, std::ostream& out) {
    Stopwatch watch;
    const auto& [input, output, options] = conversion;
    const auto info = chemistry::integral_file_info(world, input);
    const auto data = chemistry::read_integrals(world, input, options);
    ConvertedIntegrals done{
        .input = input, .output = output, .form = info.form, .header = data.header, .round_off_repeats = data.round_off_repeats};
    done.bytes_read = info.bytes;
    done.read_seconds = watch.lap();
    chemistry::write_integrals(output, data);
    done.write_seconds = watch.lap();
    done.bytes_written = file_bytes(output);
    done.peak_memory_bytes = world.maximum(peak_process_memory());
    done.ranks = world.size();
    json ? print_json(out, done) : print_table(out, done);
}

}  // namespace arges::cli

#include "arges/machine.hpp"

#include "arges/error.hpp"
#include "base/read_number.hpp"
#include "topology/interconnect.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>

#include <unistd.h>

namespace arges {

namespace {

constexpr std::array<MachineConstant, 13> constants{{{"flops_per_second", &MachineModel::flops_per_second},
                                                     {"bytes_per_second", &MachineModel::bytes_per_second},
                                                     {"copied_bytes_per_second", &MachineModel::copied_bytes_per_second},
                                                     {"message_seconds", &MachineModel::message_seconds},
                                                     {"listed_element_seconds", &MachineModel::listed_element_seconds},
                                                     {"cache_bytes", &MachineModel::cache_bytes},
                                                     {"nonzero_column_seconds", &MachineModel::nonzero_column_seconds},
                                                     {"row_column_seconds", &MachineModel::row_column_seconds},
                                                     {"sparse_product_seconds", &MachineModel::sparse_product_seconds},
                                                     {"sorted_nonzero_seconds", &MachineModel::sorted_nonzero_seconds},
                                                     {"multiplication_seconds", &MachineModel::multiplication_seconds},
                                                     {"vector_multiplication_seconds", &MachineModel::vector_multiplication_seconds},
                                                     {"packed_element_seconds", &MachineModel::packed_element_seconds}}};

/// What is written only where it is known; 0 stands for unknown.
constexpr std::array<MachineConstant, 2> optional_constants{
    {{"half_rate_edge", &MachineModel::half_rate_edge}, {"planning_seconds", &MachineModel::planning_seconds}}};

/// Likewise, of the interconnect.
struct LinkConstant {
    const char* name;
    double Interconnect::*value;
};

constexpr std::array<LinkConstant, 4> link_constants{{{"link_seconds", &Interconnect::link_seconds},
                                                      {"node_bytes_per_second", &Interconnect::node_bytes_per_second},
                                                      {"on_node_bytes_per_second", &Interconnect::on_node_bytes_per_second},
                                                      {"on_node_message_seconds", &Interconnect::on_node_message_seconds}}};

constexpr std::array<DeviceConstant, 7> rates_of_device{{{"device_flops_per_second", &DeviceRates::flops_per_second},
                                                         {"device_half_rate_edge", &DeviceRates::half_rate_edge},
                                                         {"device_copied_bytes_per_second", &DeviceRates::copied_bytes_per_second},
                                                         {"device_listed_element_seconds", &DeviceRates::listed_element_seconds},
                                                         {"device_link_bytes_per_second", &DeviceRates::link_bytes_per_second},
                                                         {"device_call_seconds", &DeviceRates::call_seconds},
                                                         {"device_memory_bytes", &DeviceRates::memory_bytes}}};

/// Devices by name: nine tenths of the makers' figures for double precision by tensor cores, 0.85 of the memory's and 0.75 of the link's
/// bandwidth (SXM; copies read and write).
struct NamedDevice {
    const char* name;
    DeviceRates rates;
};
const std::array<NamedDevice, 3> named_devices{{
    {"a100", {1.75e13, 400, 8.6e11, 2e-11, 2.4e10, 1e-5, 80e9}},
    {"h100", {6e13, 900, 1.4e12, 1.2e-11, 4.8e10, 8e-6, 80e9}},
    {"h200", {6e13, 900, 2e12, 9e-12, 4.8e10, 8e-6, 141e9}},
}};

constexpr const char* cure = "; correct it, or write the file anew with arges calibrate";

std::string without_blanks(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// @param or_zero  0 is taken, too
std::optional<double> positive_number(const std::string& text, bool or_zero) {
    double value = 0;
    if (!read_number(text, value) || !std::isfinite(value) || value < 0 || (value == 0 && !or_zero)) return std::nullopt;
    return value;
}

/// As many digits as tell the number from all others.
std::string digits_of(double value) {
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

/// A value of the file, with what must be said if it is wrong.
struct Setting {
    const std::string &name, &value, &where;

    /// @param or_zero  0 stands for what is not known, or not there
    double positive(bool or_zero = false) const {
        const auto read = positive_number(value, or_zero);
        if (!read)
            throw InvalidArgument(where + name + " is \"" + value + "\", but must be a positive number" + (or_zero ? " or 0" : "") + cure);
        return *read;
    }
    std::int64_t whole() const {
        std::int64_t number = 0;
        if (!read_number(value, number) || number < 0)
            throw InvalidArgument(where + name + " is \"" + value + "\", but must be a whole number, at least 0" + cure);
        return number;
    }
    std::vector<double> positives(bool or_zero = false) const {
        std::vector<double> result;
        std::istringstream parts(value);
        for (std::string part; parts >> part;) result.push_back(Setting{name, part, where}.positive(or_zero));
        if (result.empty()) positive();
        return result;
    }
};

/// Sets what a line of the file says of the interconnect; false for another name.
bool set_interconnect(Interconnect& interconnect, const Setting& line) {
    if (line.name == "torus" || line.name == "levels") {
        try {
            (line.name == "torus" ? interconnect.torus : interconnect.levels) = Torus::parse(line.value);
        } catch (const InvalidArgument& error) {
            throw InvalidArgument(line.where + error.what() + cure);
        }
    } else if (line.name == "link_bytes_per_second") {
        interconnect.link_bytes_per_second = line.positives();
    } else if (line.name == "level_bytes_per_second") {
        interconnect.level_bytes_per_second = line.positives(true);
    } else if (line.name == "level_pair_bytes_per_second") {
        interconnect.level_pair_bytes_per_second = line.positives(true);
    } else if (line.name == "ranks_per_node") {
        interconnect.ranks_per_node = line.whole();
    } else {
        for (const auto& constant : link_constants) {
            if (line.name != constant.name) continue;
            interconnect.*constant.value = line.positive(true);
            return true;
        }
        return false;
    }
    return true;
}

/// Sets what a line of the file says of a rank; false for another name.
bool set_constant(MachineModel& machine, const Setting& line) {
    for (const auto& constant : constants)
        if (line.name == constant.name) machine.*constant.value = line.positive();
    for (const auto& constant : optional_constants)
        if (line.name == constant.name) machine.*constant.value = line.positive(true);
    for (const auto& constant : rates_of_device) {
        if (line.name != constant.name) continue;
        if (!machine.device) machine.device.emplace();
        *machine.device.*constant.value = line.positive(constant.value == &DeviceRates::half_rate_edge);
        return true;
    }
    const auto is_named = [&](const MachineConstant& constant) { return line.name == constant.name; };
    return std::any_of(constants.begin(), constants.end(), is_named) ||
           std::any_of(optional_constants.begin(), optional_constants.end(), is_named);
}

std::string line_of(const char* name, double value) { return std::string(name) + " = " + digits_of(value) + "\n"; }

std::string line_of(const char* name, const std::vector<double>& values) {
    if (values.empty()) return "";
    std::string text = std::string(name) + " =";
    for (const double value : values) text += " " + digits_of(value);
    return text + "\n";
}

}  // namespace

std::span<const MachineConstant> machine_constants() { return constants; }

std::span<const MachineConstant> optional_machine_constants() { return optional_constants; }

std::string to_text(const MachineModel& machine) {
    std::string text = "# Constants of one rank, measured by arges calibrate.\n";
    for (const auto& constant : constants) text += line_of(constant.name, machine.*constant.value);
    for (const auto& constant : optional_constants)
        if (machine.*constant.value > 0) text += line_of(constant.name, machine.*constant.value);
    for (const auto& constant : rates_of_device)
        if (machine.device) text += line_of(constant.name, *machine.device.*constant.value);
    const auto& interconnect = machine.interconnect;
    if (!interconnect.torus.lengths().empty()) text += "torus = " + interconnect.torus.to_string() + "\n";
    if (!interconnect.levels.lengths().empty()) text += "levels = " + interconnect.levels.to_string() + "\n";
    text += line_of("link_bytes_per_second", interconnect.link_bytes_per_second);
    text += line_of("level_bytes_per_second", interconnect.level_bytes_per_second);
    text += line_of("level_pair_bytes_per_second", interconnect.level_pair_bytes_per_second);
    if (interconnect.ranks_per_node > 0) text += "ranks_per_node = " + std::to_string(interconnect.ranks_per_node) + "\n";
    for (const auto& constant : link_constants)
        if (interconnect.*constant.value > 0) text += line_of(constant.name, interconnect.*constant.value);
    return text;
}

MachineModel default_machine(int threads) {
    MachineModel machine;
    machine.flops_per_second *= threads;
    return machine;
}

std::span<const DeviceConstant> device_constants() { return rates_of_device; }

std::optional<MachineModel> machine_with_device(const std::string& name, MachineModel machine) {
    for (const auto& device : named_devices) {
        if (name != device.name) continue;
        machine.device = device.rates;
        return machine;
    }
    return std::nullopt;
}

MachineModel on_device(const MachineModel& machine) {
    auto there = machine;
    const auto device = machine.device.value_or(DeviceRates());
    there.flops_per_second = device.flops_per_second;
    there.half_rate_edge = device.half_rate_edge;
    there.copied_bytes_per_second = device.copied_bytes_per_second;
    there.listed_element_seconds = device.listed_element_seconds;
    there.bytes_per_second = 1 / (1 / machine.bytes_per_second + 2 / device.link_bytes_per_second);
    there.message_seconds += 2 * device.call_seconds;
    return there;
}

MachineModel among_ranks(MachineModel machine, std::int64_t ranks, std::int64_t ranks_per_node) {
    auto& interconnect = machine.interconnect;
    if (interconnect.ranks_per_node > 0) ranks_per_node = interconnect.ranks_per_node;
    if (ranks > ranks_per_node) return machine;
    if (interconnect.on_node_bytes_per_second > 0) machine.bytes_per_second = interconnect.on_node_bytes_per_second;
    if (interconnect.on_node_message_seconds > 0) machine.message_seconds = interconnect.on_node_message_seconds;
    return machine;
}

MachineModel parse_machine_model(const std::string& text, const std::string& file, MachineModel machine) {
    std::set<std::string> seen;
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        line = without_blanks(line.substr(0, line.find('#')));
        if (line.empty()) continue;
        const auto where = "machine constants in " + file + ", line " + std::to_string(number) + ": ";
        const auto sign = line.find('=');
        if (sign == std::string::npos) throw InvalidArgument(where + "it is not of the form \"name = value\"" + cure);
        const auto name = without_blanks(line.substr(0, sign)), value = without_blanks(line.substr(sign + 1));
        if (!seen.insert(name).second) throw InvalidArgument(where + name + " is given twice" + cure);
        const Setting setting{name, value, where};
        if (!set_constant(machine, setting) && !set_interconnect(machine.interconnect, setting))
            throw InvalidArgument(where + "there is no constant \"" + name + "\"" + cure);
    }
    try {
        check_link_rates(machine.interconnect.torus, machine.interconnect);
        check_levels(machine.interconnect);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument("machine constants in " + file + ": " + error.what());
    }
    return machine;
}

std::optional<MachineModel> read_machine_model(const std::string& file, const MachineModel& otherwise) {
    std::error_code unknown;
    if (!std::filesystem::exists(file, unknown) && !unknown) return std::nullopt;
    std::ifstream stream(file);
    std::string text;
    const bool folder = std::filesystem::is_directory(file, unknown);
    if (!folder) text.assign(std::istreambuf_iterator<char>(stream), {});
    if (unknown || folder || !stream)
        throw InvalidArgument("machine constants in " + file +
                              ": the file cannot be read; make it readable, or let ARGES_MACHINE name another one");
    return parse_machine_model(text, file, otherwise);
}

void write_machine_model(const std::string& file, const MachineModel& machine) {
    const std::filesystem::path path(file), beside(file + ".new-" + std::to_string(::getpid()));
    std::error_code failed;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failed);
    std::ofstream stream(beside);
    stream << to_text(machine);
    stream.close();
    if (stream) std::filesystem::rename(beside, path, failed);
    if (stream && !failed) return;
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    throw InvalidArgument("machine constants cannot be written to " + file +
                          "; let ARGES_MACHINE or --output name a file in a folder that is yours");
}

}  // namespace arges

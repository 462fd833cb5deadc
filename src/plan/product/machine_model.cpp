#include "plan/product/machine_model.hpp"

#include "arges/error.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>

namespace arges {

namespace {

/// A constant with its name in the file.
struct Constant {
    const char* name;
    double MachineModel::*value;
};

constexpr std::array<Constant, 6> constants{{{"flops_per_second", &MachineModel::flops_per_second},
                                             {"bytes_per_second", &MachineModel::bytes_per_second},
                                             {"copied_bytes_per_second", &MachineModel::copied_bytes_per_second},
                                             {"message_seconds", &MachineModel::message_seconds},
                                             {"listed_element_seconds", &MachineModel::listed_element_seconds},
                                             {"cache_bytes", &MachineModel::cache_bytes}}};

constexpr const char* cure = "; correct it, or write the file anew with arges calibrate";

std::string without_blanks(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::optional<double> positive_number(const std::string& text) {
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value <= 0) return std::nullopt;
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

    double positive() const {
        const auto read = positive_number(value);
        if (!read) throw InvalidArgument(where + name + " is \"" + value + "\", but must be a positive number" + cure);
        return *read;
    }
    std::int64_t whole() const {
        std::int64_t number = 0;
        const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (code != std::errc() || end != value.data() + value.size() || number < 1)
            throw InvalidArgument(where + name + " is \"" + value + "\", but must be a whole number above 0" + cure);
        return number;
    }
    std::vector<double> positives() const {
        std::vector<double> result;
        std::istringstream parts(value);
        for (std::string part; parts >> part;) result.push_back(Setting{name, part, where}.positive());
        if (result.empty()) positive();
        return result;
    }
};

/// Sets what a line of the file says of the interconnect; false for another name.
bool set_interconnect(Interconnect& interconnect, const Setting& line) {
    if (line.name == "torus") {
        try {
            interconnect.torus = Torus::parse(line.value);
        } catch (const InvalidArgument& error) {
            throw InvalidArgument(line.where + error.what() + cure);
        }
    } else if (line.name == "link_bytes_per_second") {
        interconnect.link_bytes_per_second = line.positives();
    } else if (line.name == "link_seconds") {
        interconnect.link_seconds = line.positive();
    } else if (line.name == "ranks_per_node") {
        interconnect.ranks_per_node = line.whole();
    } else if (line.name == "node_bytes_per_second") {
        interconnect.node_bytes_per_second = line.positive();
    } else {
        return false;
    }
    return true;
}

}  // namespace

std::string to_text(const MachineModel& machine) {
    std::string text = "# Constants of one rank, measured by arges calibrate.\n";
    for (const auto& constant : constants) {
        text += std::string(constant.name) + " = " + digits_of(machine.*constant.value) + "\n";
    }
    const auto& interconnect = machine.interconnect;
    if (!interconnect.torus.lengths().empty()) text += "torus = " + interconnect.torus.to_string() + "\n";
    if (!interconnect.link_bytes_per_second.empty()) {
        text += "link_bytes_per_second =";
        for (const double rate : interconnect.link_bytes_per_second) text += " " + digits_of(rate);
        text += "\n";
    }
    if (interconnect.link_seconds > 0) text += "link_seconds = " + digits_of(interconnect.link_seconds) + "\n";
    if (interconnect.ranks_per_node > 0) text += "ranks_per_node = " + std::to_string(interconnect.ranks_per_node) + "\n";
    if (interconnect.node_bytes_per_second > 0) text += "node_bytes_per_second = " + digits_of(interconnect.node_bytes_per_second) + "\n";
    return text;
}

MachineModel default_machine(int threads) {
    MachineModel machine;
    machine.flops_per_second *= threads;
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
        const Constant* known = nullptr;
        for (const auto& constant : constants)
            if (name == constant.name) known = &constant;
        if (!seen.insert(name).second) throw InvalidArgument(where + name + " is given twice" + cure);
        const Setting setting{name, value, where};
        if (known != nullptr)
            machine.*known->value = setting.positive();
        else if (!set_interconnect(machine.interconnect, setting))
            throw InvalidArgument(where + "there is no constant \"" + name + "\"" + cure);
    }
    try {
        check_link_rates(machine.interconnect.torus, machine.interconnect);
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
    const std::filesystem::path path(file), beside(file + ".new");
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

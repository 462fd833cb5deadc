#include "base/options.hpp"

#include "arges/error.hpp"
#include "base/read_number.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>

namespace arges {

namespace {

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
}

/// First number of a file, or nothing ("max" counts as nothing).
std::optional<std::int64_t> number_in(const std::string& path) {
    std::ifstream file(path);
    std::int64_t value = 0;
    if (file >> value) return value;
    return std::nullopt;
}

std::string begin_of_message(const std::string& what) { return what.empty() ? "" : what + ": "; }

}  // namespace

std::int64_t parse_bytes(std::string_view text, const std::string& what) {
    const std::string copy(text);
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    std::string unit(end);
    unit.erase(std::remove_if(unit.begin(), unit.end(), [](char c) { return c == 'i' || c == 'B' || c == 'b'; }), unit.end());
    const std::string units = "KMGT";
    double factor = 1;
    bool valid = end != copy.c_str() && value > 0 && unit.size() <= 1;
    if (valid && !unit.empty()) {
        const auto power = units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
        valid = power != std::string::npos;
        for (std::size_t i = 0; valid && i <= power; ++i) factor *= 1024;
    }
    if (!valid || value * factor > 9e18)
        throw InvalidArgument(begin_of_message(what) + "\"" + copy + "\" is not a size; write e.g. 512M or 2G");
    return static_cast<std::int64_t>(value * factor);
}

namespace {

std::optional<std::int64_t> bytes_option(const char* name) {
    const auto text = environment(name);
    if (!text) return std::nullopt;
    return parse_bytes(*text, name);
}

}  // namespace

std::optional<std::int64_t> memory_limit_option() { return bytes_option("ARGES_MEMORY_LIMIT"); }

std::optional<std::int64_t> device_memory_option() { return bytes_option("ARGES_DEVICE_MEMORY"); }

std::string to_string(GroupMapping mapping) {
    return mapping == GroupMapping::packed ? "packed" : mapping == GroupMapping::blocks ? "blocks" : "best";
}

GroupMapping parse_group_mapping(std::string_view text, const std::string& what) {
    for (const auto mapping : {GroupMapping::packed, GroupMapping::blocks, GroupMapping::best})
        if (text == to_string(mapping)) return mapping;
    throw InvalidArgument(begin_of_message(what) + "\"" + std::string(text) + "\" is not known; use packed, blocks or best");
}

GroupMapping group_mapping_option() {
    const auto text = environment("ARGES_GROUP_MAPPING");
    return text ? parse_group_mapping(*text, "ARGES_GROUP_MAPPING") : GroupMapping::packed;
}

std::string to_string(DeviceKind kind) { return kind == DeviceKind::none ? "none" : "cuda"; }

DeviceKind parse_device(const std::string& text, const std::string& what) {
    for (const auto kind : {DeviceKind::none, DeviceKind::cuda})
        if (text == to_string(kind)) return kind;
    throw InvalidArgument(begin_of_message(what) + "\"" + text + "\" is not known; use cuda or none");
}

DeviceKind device_option() {
    const auto text = environment("ARGES_DEVICE");
    return text ? parse_device(*text, "ARGES_DEVICE") : DeviceKind::none;
}

bool device_messages_option() {
    const auto text = environment("ARGES_DEVICE_MESSAGES").value_or("auto");
    if (text != "auto" && text != "host") throw InvalidArgument("ARGES_DEVICE_MESSAGES: \"" + text + "\" is not known; use auto or host");
    return text == "auto";
}

std::optional<std::string> coordinates_option() { return environment("ARGES_COORDINATES"); }

bool machine_order_option() {
    const auto text = environment("ARGES_RANK_ORDER");
    if (!text || *text == "given") return false;
    if (*text == "machine") return true;
    throw InvalidArgument("ARGES_RANK_ORDER: \"" + *text + "\" is not known; use given or machine");
}

bool alone_option() {
    const auto text = environment("ARGES_ALONE");
    if (!text || *text == "0") return false;
    if (*text == "1") return true;
    throw InvalidArgument("ARGES_ALONE: \"" + *text + "\" is not known; use 0 or 1");
}

std::optional<std::string> launcher_variable(const std::string& name) { return environment(name.c_str()); }

std::string machine_file_option() {
    if (const auto file = environment("ARGES_MACHINE")) return *file;
    if (const auto settings = environment("XDG_CONFIG_HOME")) return *settings + "/arges/machine.conf";
    if (const auto home = environment("HOME")) return *home + "/.config/arges/machine.conf";
    return "";
}

std::optional<std::string> trace_option() { return environment("ARGES_TRACE"); }

namespace {

/// A variable with a number of seconds.
double seconds_option(const std::string& name, double by_default) {
    const auto text = environment(name.c_str());
    if (!text) return by_default;
    constexpr double most = 1e6;
    double seconds = -1;
    if (!read_number(*text, seconds) || !(seconds >= 0 && seconds <= most))
        throw InvalidArgument(name + ": \"" + *text + "\" is not a number of seconds up to a million; write e.g. 30, or 0 for none");
    return seconds;
}

}  // namespace

double call_timeout_option() { return seconds_option("ARGES_CALL_TIMEOUT", is_checked_build ? 60 : 0); }

double wait_notice_option() { return seconds_option("ARGES_WAIT_NOTICE", 60); }

std::int64_t available_node_memory() {
    std::int64_t available = std::numeric_limits<std::int64_t>::max();
    std::ifstream info("/proc/meminfo");
    for (std::string key, unit; info >> key;) {
        std::int64_t kibibytes = 0;
        info >> kibibytes;
        std::getline(info, unit);
        if (key == "MemAvailable:") available = kibibytes * 1024;
    }
    for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
        if (const auto limit = number_in(path)) available = std::min(available, *limit);
    return available == std::numeric_limits<std::int64_t>::max() ? std::int64_t{4} << 30 : available;
}

}  // namespace arges

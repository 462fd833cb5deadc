/// Settings, all in one place: whether this is a checked build, and what the environment says; docs/options.md lists them.
#pragma once

#include "arges/device.hpp"
#include "arges/group_mapping.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace arges {

/// Reads a size such as 2G, 512M, 1.5GiB or 1000000 in bytes. @throws InvalidArgument with the name of what it is for, if it has one
std::int64_t parse_bytes(std::string_view text, const std::string& what);

/// ARGES_MEMORY_LIMIT: bytes per rank.
std::optional<std::int64_t> memory_limit_option();

/// ARGES_DEVICE_MEMORY: bytes per rank in the memory of the device.
std::optional<std::int64_t> device_memory_option();

/// Reads packed, blocks or best. @throws InvalidArgument with the name of what it is for, if it has one
GroupMapping parse_group_mapping(std::string_view text, const std::string& what);
std::string to_string(GroupMapping mapping);

/// ARGES_GROUP_MAPPING: how symmetric groups are spread; by default packed.
GroupMapping group_mapping_option();

/// ARGES_DEVICE: cuda or none, the default. @throws InvalidArgument for other values
DeviceKind device_option();

/// ARGES_DEVICE_MESSAGES: whether messages may lie on devices, auto (the default) or host. @throws InvalidArgument for other values
bool device_messages_option();

/// ARGES_COORDINATES: the file of the processes' coordinates on the machine.
std::optional<std::string> coordinates_option();

/// ARGES_RANK_ORDER=machine puts the ranks of each world in the order of the machine; given, the default, does not.
bool machine_order_option();

/// The file of measured machine constants: ARGES_MACHINE, else arges/machine.conf in the folder of settings ($XDG_CONFIG_HOME or
/// ~/.config); empty if there is no such folder.
std::string machine_file_option();

/// ARGES_TRACE: the file of step events, or - for lines on stderr only.
std::optional<std::string> trace_option();

/// ARGES_CALL_TIMEOUT: seconds after which a collective call that not all ranks make is an error; 0: calls are not compared. By default
/// 60 in checked builds, else 0.
double call_timeout_option();

/// ARGES_WAIT_NOTICE: seconds after which a rank that waits for others in a collective call says so on standard error; 0: never. By
/// default 60.
double wait_notice_option();

/// ARGES_ALONE=1: a program that a launcher started several times is to have one rank each time. @throws InvalidArgument for other values
/// than 0 and 1
bool alone_option();

/// A variable of the program that started this one; nothing where it is not set or empty.
std::optional<std::string> launcher_variable(const std::string& name);

/// Memory that this process may use on its node: what is available now, at most its control group's limit.
std::int64_t available_node_memory();

/// In checked builds (make OPT=checked) what is true by construction is looked at while the program runs: all ranks compare their plans,
/// what runs takes no more memory than its plan says, statements leave their operands as they were, and ranks that make different
/// collective calls are found (RollCall).
#ifdef ARGES_CHECKED
inline constexpr bool is_checked_build = true;
#else
inline constexpr bool is_checked_build = false;
#endif

}  // namespace arges

/// @file machine.hpp
/// The machine as plans see it: a few measured constants, its interconnect, and the file that keeps them.
#pragma once

#include "arges/torus.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace arges {

/// @cond
class World;
/// @endcond

/// What is known of the interconnect beside the shape that a World is given.
struct Interconnect {
    Torus torus;                                      ///< of a World of as many ranks that is given none; without lengths: none
    std::vector<double> link_bytes_per_second;        ///< each way, by torus dimension, or one for all; empty: what a rank sends
    double link_seconds = 0;                          ///< latency of a link
    Torus levels;                                     ///< instead of a torus: ranks of a node, nodes of a group, groups, ...
    std::vector<double> level_bytes_per_second;       ///< by level: from one of those that it joins to all others; 0, empty: no bottleneck
    std::vector<double> level_pair_bytes_per_second;  ///< likewise: from one of them to another
    std::int64_t ranks_per_node = 0;                  ///< 0: as detected
    double node_bytes_per_second = 0;                 ///< between a node and all others, shared by its ranks; 0: no bottleneck
    double on_node_bytes_per_second = 0;              ///< that a rank sends to ranks of its node; 0: twice of what it sends to others
    double on_node_message_seconds = 0;               ///< of a message to a rank of the node; 0: as of one to others
    /// All the same.
    bool operator==(const Interconnect&) const = default;
};

/// Rates of one rank's device: those of a data centre's device of 2020, until `arges calibrate --device` has measured others.
struct DeviceRates {
    double flops_per_second = 1.7e13;       ///< of products of large matrices
    double half_rate_edge = 500;            ///< of square matrices whose products reach half of that
    double copied_bytes_per_second = 8e11;  ///< copies within its memory
    double listed_element_seconds = 2e-11;  ///< to copy one element there along lists of offsets
    double link_bytes_per_second = 2.4e10;  ///< between its memory and that of the host, each way
    double call_seconds = 1e-5;             ///< to start a kernel or a copy and to wait for it
    double memory_bytes = 4e10;             ///< that a rank has of its memory, where a plan is for a device that is not there
    /// All the same.
    bool operator==(const DeviceRates&) const = default;
};

/// Rates that turn flops and bytes into seconds, of one rank. Plans depend on their ratios. `arges calibrate` measures them.
struct MachineModel {
    double flops_per_second = 2e10;                  ///< of products of large matrices
    double half_rate_edge = 0;                       ///< of square matrices whose products reach half of that; 0: all sizes reach it
    double bytes_per_second = 4e9;                   ///< between ranks
    double copied_bytes_per_second = 6e9;            ///< local copies
    double message_seconds = 5e-6;                   ///< of a message between ranks
    double listed_element_seconds = 5e-9;            ///< to copy one element along lists of offsets
    double cache_bytes = 8 << 20;                    ///< a rank's share of the last-level cache: the fast memory of explain()'s intensities
    double nonzero_column_seconds = 1e-9;            ///< of MTTKRP in one mode, for a nonzero and a column
    double row_column_seconds = 4e-9;                ///< to solve for a row of a factor, with its norm and Gram matrix, for each column
    double sparse_product_seconds = 1.5e-9;          ///< of a multiplication of two nonzeros, or of one with a dense element
    double sorted_nonzero_seconds = 2e-8;            ///< to sort a nonzero that has come
    double multiplication_seconds = 4e-11;           ///< of one thread, in products of large matrices
    double vector_multiplication_seconds = 1.2e-10;  ///< likewise, in loops over vectors
    double packed_element_seconds = 1.2e-9;          ///< of one thread, to copy an element in another order
    double planning_seconds = 0;                     ///< to choose the plan of a product; 0: that costs nothing
    Interconnect interconnect;                       ///< what is known of it
    std::optional<DeviceRates> device{};             ///< of the ranks' devices; none: not measured

    /// @cond
    // Not calibrated: measured on one machine, and used where their ratios to each other count more than to the rest.
    static constexpr double listed_entry_seconds = 1e-7;      ///< to list an element of a movement
    static constexpr double looped_run_seconds = 1e-8;        ///< to begin an inner loop over elements of a movement
    static constexpr double looped_value_seconds = 3e-9;      ///< to look at a value of such a loop for a pair of coordinates
    static constexpr double computed_value_seconds = 1.2e-7;  ///< likewise, without a table
    /// Elements that are copied along lists while one of a packed group is looked up; on several ranks, for messages, too.
    static constexpr double packed_look_up = 8, sent_packed_look_up = 36;
    static constexpr double small_matrix_rate = 0.6, vector_rate = 0.2;  ///< of flops_per_second, in products by rows
    /// Flops of products in the time of one rank for n^3: eigenvectors of a symmetric n x n matrix (5 to 9; 13 at n = 300 to 40 at n = 100
    /// where it is of full rank), and the SVD of a triangle (10 to 20). TSQR takes so many times as long as a product.
    static constexpr double eigen_flops = 9, svd_flops = 14, tsqr_slowness = 2;
    static constexpr double row_bytes = 3.2, row_messages = 0.4;  ///< of factor rows, in those of long messages: with packing and waiting
    /// @endcond

    /// Seconds of a local product. The cost of a multiplication grows with 1/m + 1/n + 1/k, that is with what is read and written.
    /// @param products, elements  multiplications; elements of both factors and the result
    /// @param flops_per_product   2, or 8 of complex numbers
    double product_seconds(double products, double elements, double flops_per_product) const {
        return (products + half_rate_edge / 3 * elements) * flops_per_product / flops_per_second;
    }
    /// Is a plan worth choosing that makes runs faster which take so long with the plan that there is?
    bool is_worth_planning(double seconds) const { return seconds >= planning_seconds; }
    /// All the same.
    bool operator==(const MachineModel&) const = default;
};

/// A constant with its name in files.
struct MachineConstant {
    const char* name;             ///< as in the file
    double MachineModel::*value;  ///< where it is
};

/// Those that every machine has.
std::span<const MachineConstant> machine_constants();
/// Those that may be unknown, which are 0 then.
std::span<const MachineConstant> optional_machine_constants();

/// The constants of a machine with a device that is known by its name, a100, h100 or h200, from its maker's figures; nothing for other
/// names.
/// @param name     of the device
/// @param machine  has what is known of the host
std::optional<MachineModel> machine_with_device(const std::string& name, MachineModel machine);

/// The same machine as what is computed in its devices' memory sees it: messages pass through that of the host. Pure.
MachineModel on_device(const MachineModel& machine);

/// A rate of a device with its name in files.
struct DeviceConstant {
    const char* name;            ///< as in the file
    double DeviceRates::*value;  ///< where it is
};

/// All of them.
std::span<const DeviceConstant> device_constants();

/// Lines "name = value", one for each constant and for what is known of the interconnect, with a comment on top.
std::string to_text(const MachineModel& machine);

/// The constants where nothing was measured: a rank of several threads multiplies as many times faster. Pure.
MachineModel default_machine(int threads = 1);

/// The constants that hold among so many ranks: those of a node where all of them are on one. The ranks of a node are as detected, but
/// what the interconnect says comes first. Pure.
MachineModel among_ranks(MachineModel machine, std::int64_t ranks, std::int64_t ranks_per_node);

/// Reads such lines; blank lines and what follows a # do not count.
/// @param text    the lines
/// @param file    names the text in messages
/// @param machine has the constants that are not named
/// @throws InvalidArgument with file, line and cure for an unknown or repeated name, or a value that is not what it should be
MachineModel parse_machine_model(const std::string& text, const std::string& file, MachineModel machine = {});

/// The constants that `file` holds, and those of `otherwise` where it names none; nothing if there is no such file.
/// @throws InvalidArgument if it cannot be read, or as parse_machine_model() does
std::optional<MachineModel> read_machine_model(const std::string& file, const MachineModel& otherwise = {});

/// Writes the file, and its folder where it is missing. It is written beside its place and renamed, so that a reader sees the old
/// file or the new one.
/// @throws InvalidArgument naming the file if it cannot be written
void write_machine_model(const std::string& file, const MachineModel& machine);

/// Products of square matrices of one size.
struct ProductRate {
    std::int64_t edge = 0;        ///< of the matrices
    double flops_per_second = 0;  ///< of the slowest rank
};

/// The rate of large matrices and the edge at which half of it is reached, from the seconds per multiplication of two sizes: these are
/// proportional to 1 + half_rate_edge / edge. An edge that is not above 0 is given as 0. Pure.
void set_product_rate(MachineModel& machine, const ProductRate& small, const ProductRate& large);

/// What was measured, and the constants that follow from it. The same on every rank.
struct MachineMeasurement {
    MachineModel machine;               ///< the constants
    std::vector<ProductRate> products;  ///< from the smallest matrices to the largest
    std::int64_t ranks = 1;             ///< that measured
    std::int64_t ranks_per_node = 1;    ///< of these
    bool has_network = false;           ///< there are two ranks or more
    bool has_nodes = false;             ///< they are on several nodes, with several ranks on each
};

/// Measures the constants in a few seconds, as `arges calibrate` does. Collective.
/// @param world of all ranks that the machine is to be used with: World(MachineModel()) needs no file of constants
/// @param ranks_per_node of ranks that follow each other; 0: as detected
/// @throws InvalidArgument if the number of ranks is no multiple of it
MachineMeasurement measure_machine(const World& world, std::int64_t ranks_per_node = 0);

/// What the plans of a world rest on.
struct WorldMachine {
    MachineModel machine;             ///< the constants
    std::int64_t ranks_per_node = 1;  ///< as detected
    std::int64_t threads = 1;         ///< of a rank
    std::vector<Torus> grids;         ///< on which products may run: first that of all ranks, then those that leave some idle
};

/// Collective; of a dry run local. The same on every rank.
WorldMachine machine_of(const World& world);

}  // namespace arges

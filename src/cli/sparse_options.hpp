/// The options of all subcommands that read a sparse tensor, how they show one, and what looks wrong about it.
#pragma once

#include "arges/sparse_io.hpp"
#include "cli/world_options.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace arges::cli {

/// Adds --weights, for a file beside the tensor's. @param of what they are weights of
CLI::Option* declare_weights(CLI::App& app, std::string& file, const std::string& of);
/// What is said of them.
std::string weights_text(const std::string& file);

/// Adds --base.
void declare_base(CLI::App& app, std::string& base);
/// What --base says: one, zero, 1, 0 or detect.
IndexBase index_base_of(const std::string& base);

/// What subcommands are given that work on the file of a tensor: its name, --json, --base, --lengths, --duplicates, --type and the world.
struct FileCommand {
    std::string file;
    bool json = false;
    std::string progress = "auto";  ///< where declare_progress() has added it
    WorldOptions world{};
    const CLI::App* app = nullptr;

    /// Adds all options but the name of the file; the object must live as long as the parsed values are needed.
    /// @param tables      what --json replaces
    /// @param otherwise   what is done with several values for one element where the option is not given
    /// @param counts      duplicates may be counted, as rows of a table are
    void declare(CLI::App& of, const char* tables = "tables", const char* otherwise = "sum", bool counts = false);
    /// What elements are that are not stored, for JSON: "zeros", or "unknown" of an array whose NaN are missing.
    const char* not_stored() const { return dropped_ == "nan" ? "unknown" : "zeros"; }
    /// Adds --drop, for the file of a dense tensor.
    void declare_drop(CLI::App& of);
    /// Reads the tensor: a sparse one, or the elements of a dense one that are not missing. Collective.
    /// @throws as read_sparse() and read_known_elements()
    AnyTensor read_stored(const World& at, ElementType type, bool is_dense, ReadReport& report) const;
    /// What was done with duplicates: " (3 duplicates merged: mean)"; empty where there were none.
    std::string duplicates_text(const ReadReport& report) const;
    /// --duplicates count.
    bool counts_duplicates() const { return duplicates_ == "count"; }
    /// What is done with duplicates.
    const std::string& duplicates_name() const { return duplicates_; }
    /// --type float.
    bool asks_for_float() const { return type_ == "float"; }
    /// What to ask of read_sparse().
    SparseReadOptions read_options() const;
    /// The file is of a dense tensor. Collective. @throws CLI::ValidationError if an option for tensors of the other kind was given
    bool is_dense(const World& at, std::initializer_list<const char*> for_sparse, std::initializer_list<const char*> for_dense) const;
    /// Refuses what a file of this kind has no use for. True if values are to be float: because they are so in the file, or are demanded to
    /// be. Collective. @throws CLI::ValidationError, InvalidArgument if the file cannot be opened
    bool is_single(const World& at, bool is_dense = false) const;

private:
    void refuse_table(const World& at) const;

    std::string base_ = "detect", lengths_, duplicates_ = "sum", type_, dropped_ = "zero";
};

/// Reads lengths such as 120000x90000x29000.
/// @throws InvalidArgument for anything else
std::vector<std::int64_t> parse_lengths(const std::string& text);

/// "3 x 4 x 5".
std::string lengths_text(const std::vector<std::int64_t>& lengths);

/// Table of modes: length, nonempty slices, empty ones.
std::string modes_table(const ReadReport& report);

/// What was read, as the members of an object.
nlohmann::ordered_json report_json(const ReadReport& report);

/// A sentence for each thing that looks wrong, and what to do about it: modes that are nearly empty, as with times in seconds for indices,
/// and values that look like another index. Collective; the same on every rank.
template <class T>
std::vector<std::string> reading_warnings(const SparseFile<T>& file);

}  // namespace arges::cli

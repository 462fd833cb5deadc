/// @file checkpoint.hpp
/// Checkpoints: named tensors and values in one HDF5 file, written by all ranks and read on any number of them.
#pragma once

#include "arges/element_type.hpp"
#include "arges/symmetry.hpp"
#include "arges/tensor.hpp"
#include "arges/world.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace arges {

/// A small thing that a checkpoint keeps beside its tensors: an energy, a count of iterations, a method's name, a spectrum.
using CheckpointValue = std::variant<std::int64_t, double, std::string, std::vector<double>>;

/// Writes a checkpoint. The file gets its name at commit(), when the disk has all of it, and takes the place of an older one
/// then; until then, and for ever if the program is stopped before, the older one stays as it was. What a writer that was
/// killed has left is removed by the next one for the same path. All calls are collective over the world, the destructor too.
///
/// Example: `CheckpointWriter out(world, "ccsd.h5"); out.add("T2", T2); out.set("iteration", 7); out.commit();`
class CheckpointWriter {
public:
    /// Starts a file beside `path`.
    /// @throws InvalidArgument on every rank if the folder does not exist or may not be written, or `path` is a directory
    CheckpointWriter(const World& world, const std::string& path);
    /// Discards the file unless it was committed.
    ~CheckpointWriter();
    CheckpointWriter(const CheckpointWriter&) = delete;
    CheckpointWriter& operator=(const CheckpointWriter&) = delete;

    /// Writes a tensor: extents, element type, symmetry, packed elements and their checksum. About 64 MB of memory are used on a
    /// rank, whatever the size of the tensor.
    /// @param name   of the tensor in the file: not empty, without '/', not used yet
    /// @param tensor lives on the world of the writer
    /// @throws InvalidArgument on every rank for a wrong name or tensor, elements of another type than float, double and complex ones, or
    /// if
    ///         the file cannot be written (a full disk)
    void add(const std::string& name, const AnyTensor& tensor);
    /// Keeps a value; that of rank 0 counts.
    /// @throws InvalidArgument on every rank for a wrong name, or one that is used
    void set(const std::string& name, const CheckpointValue& value);
    /// Completes the file, waits until the disk has it, and gives it its name. Nothing can be added afterwards.
    /// @throws InvalidArgument on every rank if the file cannot be written
    void commit();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// What a checkpoint holds under one name.
struct CheckpointTensor {
    std::string name;                            ///< in the file
    ElementType element = ElementType::float64;  ///< type of an element
    std::vector<std::int64_t> extents;           ///< length of each dimension
    Symmetry symmetry;                           ///< tree over the dimensions
    std::int64_t packed_size = 0;                ///< elements in the file
};

/// Reads a checkpoint, on any number of ranks. Elements come back bit by bit. Calls are collective over the world unless
/// marked local.
///
/// Example: `CheckpointReader in(world, "ccsd.h5"); auto T2 = in.read<double>("T2"); auto n =
/// in.value<std::int64_t>("iteration");`
class CheckpointReader {
public:
    /// Opens a checkpoint and reads what is in it, but no elements.
    /// @throws InvalidArgument on every rank if the file is missing, may not be read, is not HDF5 or no checkpoint, is
    /// truncated, or
    ///         differs from its checksum
    CheckpointReader(const World& world, const std::string& path);
    ~CheckpointReader();
    CheckpointReader(CheckpointReader&&) noexcept;             ///< Moves the reader. Local.
    CheckpointReader& operator=(CheckpointReader&&) noexcept;  ///< Moves the reader. Local.

    /// The tensors, by name. Local.
    const std::vector<CheckpointTensor>& tensors() const;
    /// Names of the values, sorted. Local.
    std::vector<std::string> value_names() const;
    /// True if there is a tensor of that name. Local.
    bool has_tensor(const std::string& name) const;
    /// True if there is a value of that name. Local.
    bool has_value(const std::string& name) const;
    /// Shape and type of a tensor. Local.
    /// @throws InvalidArgument if there is none of that name
    const CheckpointTensor& tensor(const std::string& name) const;

    /// A tensor of the file, on the world of the reader; it has its name.
    /// @throws InvalidArgument on every rank if there is no such tensor, its elements are of another type, or they differ from
    ///         their checksum; OutOfMemory if it does not fit
    template <class T>
    Tensor<T> read(const std::string& name) const {
        return Tensor<T>(read(element_type_of<T>(), name));
    }
    /// Likewise of a type that is known at run time.
    AnyTensor read(ElementType type, const std::string& name) const;
    /// Replaces the elements of a tensor of the same extents and symmetry on the world of the reader.
    /// @throws InvalidArgument as read() does, or if extents or symmetry are others. After an error of the checksum the
    /// elements are
    ///         undefined.
    void read_into(const std::string& name, AnyTensor& tensor) const;
    /// A value; V is std::int64_t, double, std::string or std::vector<double>. Local.
    /// @throws InvalidArgument if there is none of that name, or it is of another type
    template <class V>
    V value(const std::string& name) const {
        return std::get<V>(value_like(V(), name));
    }

private:
    const CheckpointValue& value_like(const CheckpointValue& wanted, const std::string& name) const;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace arges

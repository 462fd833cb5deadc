/// Files of integrals in either form: FCIDUMP text, and TREXIO in HDF5.
#pragma once

#include "arges/chemistry/fcidump.hpp"
#include "chemistry/integrals/entry_source.hpp"
#include "io/file/parallel_file.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace arges::chemistry {

/// A file of integrals whose header has been read. What it begins with tells its form, not its name.
class IntegralFile {
public:
    /// Collective. @throws InvalidArgument with file, place and cure
    IntegralFile(const World& world, const std::string& path);

    const FcidumpHeader& header() const { return source_->header(); }
    /// "FCIDUMP" or "TREXIO".
    const char* form() const { return hdf5_ ? "TREXIO" : "FCIDUMP"; }
    /// Length in bytes.
    std::int64_t size() const { return file_.size(); }
    /// Bytes that read() takes on a rank beside the tensors, about. Local.
    std::int64_t reading_memory() const { return source_->memory(); }
    /// Seconds that read() takes on so many ranks, about. Local.
    double reading_seconds(std::int64_t ranks) const;
    /// Reads the file straight into distributed tensors: every rank reads its own part, in pieces of bounded size. Collective.
    /// @throws InvalidArgument with file, place and cure, for anything that is not a complete and consistent file
    Fcidump read(const IntegralOptions& options = {});

private:
    World world_;
    io::InputFile file_;
    bool hdf5_ = false;
    std::unique_ptr<EntrySource> source_;
};

}  // namespace arges::chemistry

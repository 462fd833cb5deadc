/// @file error.hpp
/// The exceptions that Arges throws. Every collective call throws the same one on every rank.
#pragma once

#include <stdexcept>
#include <string>

namespace arges {

/// Base of all exceptions of Arges; what() says what is wrong, where, and what to do about it.
class Error : public std::runtime_error {
public:
    /// Creates an error with the whole message.
    explicit Error(const std::string& message) : std::runtime_error(message) {}
};

/// The caller's input is wrong: an index string, an extent, a key, a symmetry, a file.
class InvalidArgument : public Error {
public:
    using Error::Error;
};

/// The work does not fit into the memory limit, or an allocation failed.
class OutOfMemory : public Error {
public:
    using Error::Error;
};

/// The request is meaningful but not implemented; the message names an equivalent that is.
class Unsupported : public Error {
public:
    using Error::Error;
};

/// The MPI library reported an error; the message names the call.
class MpiError : public Error {
public:
    using Error::Error;
};

}  // namespace arges

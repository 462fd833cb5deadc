/// Tables of public calls, each made on objects of its own.
#pragma once

#include "arges/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace arges::test {

/// A call and its text.
template <class Objects>
struct PublicCall {
    const char* text;
    void (*run)(Objects&);
};

/// "" if the call returns, else the message of the library's exception; one of another kind fails the test.
template <class Objects>
std::string outcome(const PublicCall<Objects>& call, Objects& objects) {
    try {
        call.run(objects);
        return "";
    } catch (const Error& error) {
        return error.what();
    } catch (const std::exception& error) {
        ADD_FAILURE() << call.text << " throws an exception that is not of the library: " << error.what();
        return std::string("foreign: ") + error.what();
    }
}

}  // namespace arges::test

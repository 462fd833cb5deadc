/// The library's messages in the words of the package.
#pragma once

#include <string>

namespace arges::python {

/// A message of the library with names of Python in the place of those of C++ and of options of the command line.
std::string in_words_of_python(std::string text);

}  // namespace arges::python

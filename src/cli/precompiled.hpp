/// What most files of the program include; see src/base/precompiled.hpp.
#include "base/precompiled.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

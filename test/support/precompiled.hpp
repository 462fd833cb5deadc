/// What most tests include; see src/base/precompiled.hpp.
#include "base/precompiled.hpp"

#include <gtest/gtest.h>

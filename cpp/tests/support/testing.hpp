#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/check.hpp"
#include "tests/support/exact.hpp"
#include "tests/support/numbers.hpp"
#include "tests/support/searches.hpp"
#include "tests/support/spaces.hpp"
#include "tests/support/vectors.hpp"

/// What every file of tests includes, and the only header that opens namespaces.
using namespace fastmks;
using namespace fastmks::test;

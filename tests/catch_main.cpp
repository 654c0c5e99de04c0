// SPDX-License-Identifier: BSL-1.0
// Only for Catch2 2.13; Catch2 3 brings its own main.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

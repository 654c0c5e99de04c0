// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_CATCH_HPP
#define TMIGR_TESTS_CATCH_HPP

// Debian 12 has Catch2 2.13, later systems have 3.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#endif

// SPDX-License-Identifier: BSL-1.0
#include "support/counted_new.hpp"

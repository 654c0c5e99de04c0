// SPDX-License-Identifier: BSL-1.0
#include "simulate.hpp"

#include "engine.hpp"

namespace whatif {

result simulate(const machine& hardware, const workload& load, const simulation& how) {
    return engine(hardware, load, how).play();
}

}  // namespace whatif

// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_PROGRESS_HPP
#define TMIGR_EXAMPLES_WHATIF_PROGRESS_HPP

#include "observer.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace whatif {

/// A line on standard error that tells how far the runs have come; only where that is a terminal,
/// and not in the first second.
class progress_bar final : public observer {
public:
    explicit progress_bar(std::size_t runs);
    ~progress_bar() override;
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

    /// False where nobody would see it: no need to watch then.
    bool wanted() const noexcept { return wanted_; }
    /// What the next run is; the one before is done.
    void next(std::string what);
    void progress(nanoseconds now, nanoseconds length) override;

    /// `[#####.....]  50% prefer-low`
    static std::string line(double share, const std::string& what);

private:
    using clock = std::chrono::steady_clock;
    void show(double of_this_run);

    std::size_t runs_;
    std::size_t begun_ = 0;
    std::string what_;
    bool wanted_;
    bool shown_ = false;
    clock::time_point due_;
};

}  // namespace whatif

#endif

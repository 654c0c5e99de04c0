// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_TEXT_TABLE_HPP
#define TMIGR_EXAMPLES_WHATIF_TEXT_TABLE_HPP

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whatif {

/// Text in columns: the first ones to the left, numbers to the right.
class text_table {
public:
    explicit text_table(std::size_t left) : left_(left) {}

    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

    std::string text() const {
        std::vector<std::size_t> widths;
        for (const auto& row : rows_)
            for (std::size_t i = 0; i < row.size(); ++i) {
                if (i == widths.size()) widths.push_back(0);
                widths[i] = std::max(widths[i], width(row[i]));
            }
        std::string text;
        for (const auto& row : rows_) {
            std::string line;
            for (std::size_t i = 0; i < row.size(); ++i) {
                if (widths[i] == 0) continue;  // a column that nobody fills
                const std::string gap(widths[i] - width(row[i]), ' ');
                if (!line.empty()) line += "  ";
                line += i < left_ ? row[i] + gap : gap + row[i];
            }
            line.erase(line.find_last_not_of(' ') + 1);
            text += line + '\n';
        }
        return text;
    }

private:
    /// Characters, not bytes: in UTF-8 all but the first byte of each look like 10xxxxxx.
    static std::size_t width(std::string_view text) {
        return static_cast<std::size_t>(
            std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
    }

    std::size_t left_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace whatif

#endif

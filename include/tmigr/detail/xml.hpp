// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_XML_HPP
#define TMIGR_DETAIL_XML_HPP

#include <tmigr/input_error.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace tmigr::detail {

struct xml_tag {
    std::string_view name;
    std::map<std::string_view, std::string_view> attributes;
    bool closing = false;
    bool empty = false;  ///< opens and closes at once

    /// The attribute as it is written; empty when there is none.
    std::string_view operator[](std::string_view attribute) const {
        const auto found = attributes.find(attribute);
        return found == attributes.end() ? std::string_view{} : found->second;
    }
};

/// Walks over the tags of a text in the part of XML that hwloc writes: names of
/// small letters, digits and '_', values in double quotes, nothing declared.
/// Memory and time are linear in the text, whatever it holds.
class xml_reader {
public:
    /// `text` and `name`, which stands for the file in errors, must outlive the reader.
    xml_reader(std::string_view text, const std::string& name) : text_(text), name_(name) {
        if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    }

    /// Moves to the next tag, past comments and declarations and, if `past_text`,
    /// text; false at the end. Throws `input_error` for what is no tag.
    bool next(bool past_text = false) {
        tag_ = {};
        for (;;) {
            const std::size_t start = text_.find('<', at_);
            const std::string_view between = text_.substr(at_, start - at_);
            if (!past_text && between.find_first_not_of(blanks) != std::string_view::npos)
                fail(between, "only blanks between tags");
            if (start == std::string_view::npos) {
                at_ = text_.size();
                return false;
            }
            at_ = start;
            const std::string_view rest = text_.substr(start);
            if (rest.starts_with("<!--")) {
                take_until("-->");
            } else if (rest.starts_with("<?")) {
                take_until("?>");
            } else if (rest.starts_with("<!DOCTYPE")) {
                const std::string_view declaration = take_until(">");
                if (declaration.find('[') != std::string_view::npos)
                    fail(declaration, "a DOCTYPE without declarations of its own");
            } else {
                read_tag();
                return true;
            }
        }
    }

    /// The current tag; its parts are views of the text.
    const xml_tag& tag() const noexcept { return tag_; }

    /// Throws an `input_error` for the line in which the reader stands.
    [[noreturn]] void fail(std::string_view value, std::string expected) const {
        const auto line = 1 + std::ranges::count(text_.substr(0, at_), '\n');
        throw input_error(std::string{value}, std::move(expected), name_, static_cast<std::size_t>(line));
    }

private:
    static constexpr std::string_view blanks = " \t\r\n";

    std::string_view take_until(std::string_view terminator) {
        const std::size_t end = text_.find(terminator, at_);
        const std::string_view taken = text_.substr(at_, end - at_);
        if (end == std::string_view::npos) fail(taken, "'" + std::string{terminator} + "' at its end");
        at_ = end + terminator.size();
        return taken;
    }

    static std::string_view take_name(std::string_view& inside) {
        constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
        const std::string_view word = inside.substr(0, inside.find_first_not_of(letters));
        inside.remove_prefix(word.size());
        return word;
    }

    void read_tag() {
        std::string_view inside = take_until(">").substr(1);
        const std::string_view whole = inside;
        tag_.closing = inside.starts_with('/');
        if (tag_.closing) inside.remove_prefix(1);
        tag_.empty = inside.ends_with('/');
        if (tag_.empty) inside.remove_suffix(1);
        tag_.name = take_name(inside);
        bool good = !tag_.name.empty() && !(tag_.closing && tag_.empty);
        while (good) {
            const std::size_t blank = std::min(inside.find_first_not_of(blanks), inside.size());
            inside.remove_prefix(blank);
            if (inside.empty()) return;
            const std::string_view attribute = take_name(inside);
            const std::size_t end = inside.find('"', 2);
            good = blank != 0 && !tag_.closing && !attribute.empty() && inside.starts_with("=\"") &&
                   end != std::string_view::npos &&
                   tag_.attributes.emplace(attribute, inside.substr(2, end - 2)).second;
            if (good) inside.remove_prefix(end + 1);
        }
        fail(whole, "a tag as hwloc writes it: <name attribute=\"value\" ...>");
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t at_ = 0;
    xml_tag tag_;
};

}  // namespace tmigr::detail

#endif

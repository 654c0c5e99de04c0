// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_HWLOC_XML_HPP
#define TMIGR_DETAIL_HWLOC_XML_HPP

#include <tmigr/detail/text.hpp>
#include <tmigr/detail/xml.hpp>
#include <tmigr/input_error.hpp>
#include <tmigr/topology.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tmigr::detail {

/// Checks XML before hwloc sees it, and keeps of it only what a topology needs.
///
/// hwloc trusts its XML: missing or contradictory sets, deep nesting, numbers beyond
/// any machine crash or exhaust it, and it does not say where a text is wrong. So
/// this reader takes the XML that hwloc 2 writes and no more, names the line of the
/// first fault, and hands on the objects that have CPUs or memory, their numbers and
/// sets, and the capacities of CPU kinds.
class hwloc_xml {
public:
    static constexpr std::size_t largest_text = std::size_t{16} << 20;
    // Some of hwloc's work grows with the square of these; the largest Linux has 8192 CPUs.
    static constexpr std::size_t most_objects = 32768;
    static constexpr std::size_t most_groups = 1024;
    static constexpr std::size_t most_kinds = 1024;
    static constexpr std::size_t deepest_element = 64;

    /// `text` and `name`, which stands for the file in errors, must outlive this.
    hwloc_xml(std::string_view text, const std::string& name)
        : size_(text.size()), reader_(text.substr(0, largest_text), name) {}

    /// The text for hwloc. Throws `input_error` where the text is no hwloc 2 topology.
    std::string checked() {
        if (size_ > largest_text)
            reader_.fail("a longer text", "XML of at most " + std::to_string(largest_text) + " bytes");
        read_root();
        while (!open_.empty()) read_element();
        if (cpus_.empty()) reader_.fail("no PU", "a machine with at least one CPU");
        if (nodes_.empty()) reader_.fail("no NUMANode", "a machine with at least one node");
        if (reader_.next()) reader_.fail(tag().name, "nothing after </topology>");
        return std::move(kept_);
    }

private:
    // 32 bits a word, lowest first, no zero word at the end.
    using bits = std::vector<std::uint32_t>;

    enum set : std::size_t { cpus, complete_cpus, nodes, complete_nodes };
    static constexpr std::array<std::string_view, 4> set_names{"cpuset", "complete_cpuset", "nodeset",
                                                               "complete_nodeset"};
    using sets = std::array<bits, set_names.size()>;

    struct element {
        std::string_view name;
        std::string_view type = {};  // of an object
        sets own = {};
        bits taken = {};  // CPUs of the objects inside so far, and the first of the last one
        std::size_t last = 0;
        bool has_inner = false;
    };

    const xml_tag& tag() const noexcept { return reader_.tag(); }

    void read_root() {
        if (!reader_.next() || tag().name != "topology" || tag().closing || tag().empty)
            reader_.fail(tag().name, "an XML text that begins with <topology>, as hwloc writes it");
        // Formats 1 and 0.9 carry no version.
        const std::string_view version = tag()["version"];
        if (!version.starts_with("2.") || !parse_number<unsigned>(version.substr(2), 0, 99))
            reader_.fail(version,
                         "version 2 of hwloc's XML format (lstopo of hwloc 3 writes it with "
                         "--export-xml-flags v2, lstopo of hwloc 2 converts version 1)");
        kept_ = "<topology version=\"2.0\">\n";
        open_.push_back({tag().name});
    }

    bool dropping() const noexcept { return dropped_from_ != 0; }

    void read_element() {
        const std::string end_tag = "</" + std::string{open_.back().name} + ">";
        if (!reader_.next(dropping())) reader_.fail("end of file", end_tag);
        if (tag().closing) {
            if (tag().name != open_.back().name) reader_.fail(tag().name, end_tag);
            if (!dropping()) kept_ += end_tag + '\n';
            if (open_.size() == dropped_from_) dropped_from_ = 0;
            open_.pop_back();
            return;
        }
        if (open_.size() == deepest_element)
            reader_.fail(tag().name, "elements nested at most " + std::to_string(deepest_element) + " deep");
        element inner{tag().name};
        const bool wanted = !dropping() && keep_element(inner);
        if (tag().empty) return;
        open_.push_back(std::move(inner));
        if (!wanted && !dropping()) dropped_from_ = open_.size();
    }

    bool keep_element(element& inner) {
        const std::string_view outer = open_.back().name;
        if (inner.name == "object" && (outer == "topology" || outer == "object")) return keep_object(inner);
        if (inner.name == "cpukind" && outer == "topology") {
            count(kinds_, most_kinds, "kinds of CPU");
            static_cast<void>(set_in(tag()["cpuset"]));
            check_number("forced_efficiency");
            keep({"cpuset", "forced_efficiency"});
            return true;
        }
        if (inner.name == "info" && outer == "cpukind" && tag()["name"] == "LinuxCapacity") {
            if (!parse_number<unsigned>(tag()["value"], 1, max_capacity))
                reader_.fail(tag()["value"], "a LinuxCapacity from 1 to " + std::to_string(max_capacity));
            keep({"name", "value"});
            return true;
        }
        return false;
    }

    bool keep_object(element& object) {
        constexpr std::array dropped{"Bridge", "PCIDev", "OSDev", "Misc"};
        constexpr std::array known{"Machine",  "Package", "Die",      "Core",    "PU",       "L1Cache",
                                   "L2Cache",  "L3Cache", "L4Cache",  "L5Cache", "L1iCache", "L2iCache",
                                   "L3iCache", "Group",   "NUMANode", "MemCache"};
        object.type = tag()["type"];
        if (std::ranges::find(dropped, object.type) != dropped.end()) return false;
        if (std::ranges::find(known, object.type) == known.end())
            reader_.fail(object.type, "a type of object that hwloc 2 writes");
        count(objects_, most_objects, "objects");
        if (object.type == "Group") count(groups_, most_groups, "Groups");
        check_place(object.type);
        check_sets(object);
        if (object.type == "PU") check_index(max_cpu_id, "CPU", cpus_, object.own[cpus]);
        if (object.type == "NUMANode") check_index(cpu_id{max_node_id}, "node", nodes_, object.own[nodes]);
        for (const std::string_view number :
             {"os_index", "gp_index", "depth", "cache_type", "kind", "subkind", "dont_merge"})
            check_number(number);
        keep({"type", "os_index", "cpuset", "complete_cpuset", "nodeset", "complete_nodeset", "gp_index",
              "depth", "cache_type", "kind", "subkind", "dont_merge"});
        return true;
    }

    void count(std::size_t& so_far, std::size_t most, const std::string& what) const {
        if (++so_far > most)
            reader_.fail(std::to_string(so_far), "at most " + std::to_string(most) + ' ' + what);
    }

    static bool is_memory(std::string_view type) { return type == "NUMANode" || type == "MemCache"; }

    void check_place(std::string_view type) const {
        const std::string_view outer = open_.back().type;
        const bool outermost = open_.size() == 1;
        if (outermost != (type == "Machine") || (outermost && objects_ != 1))
            reader_.fail(type, "one Machine, around all other objects");
        if (outer == "PU" || outer == "NUMANode" || (outer == "MemCache" && !is_memory(type)))
            reader_.fail(type, "no such object inside a " + std::string{outer});
    }

    // Every object has its sets, within those of the object around it; those of
    // objects side by side share no CPU and come in order.
    void check_sets(element& object) {
        for (std::size_t i = 0; i < set_names.size(); ++i) object.own[i] = set_in(tag()[set_names[i]]);
        check_within(cpus, object.own[cpus], object.own[complete_cpus], "complete_cpuset");
        check_within(nodes, object.own[nodes], object.own[complete_nodes], "complete_nodeset");
        if (open_.size() == 1) return;
        element& outer = open_.back();
        for (const set each : {cpus, complete_cpus, nodes, complete_nodes})
            check_within(each, object.own[each], outer.own[each],
                         std::string{set_names[each]} + " of the object around it");
        if (is_memory(object.type)) return;
        const bits& own = object.own[complete_cpus];
        const std::size_t first = first_in(own);
        bool apart = outer.last < first || first == none || !outer.has_inner;
        outer.has_inner = true;
        outer.last = first;
        outer.taken.resize(std::max(outer.taken.size(), own.size()));
        for (std::size_t i = 0; i < own.size(); ++i) {
            apart = apart && (outer.taken[i] & own[i]) == 0;
            outer.taken[i] |= own[i];
        }
        if (!apart)
            reader_.fail(tag()["complete_cpuset"],
                         "CPUs of its own, the first above the first of the object before");
    }

    // Objects without CPUs come after all others.
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    static std::size_t first_in(const bits& words) {
        const auto word = std::ranges::find_if(words, [](std::uint32_t each) { return each != 0; });
        if (word == words.end()) return none;
        return static_cast<std::size_t>(word - words.begin()) * 32 +
               static_cast<std::size_t>(std::countr_zero(*word));
    }

    void check_within(set which, const bits& inner, const bits& outer, const std::string& name) const {
        bool within = inner.size() <= outer.size();
        for (std::size_t i = 0; within && i < inner.size(); ++i) within = (inner[i] & ~outer[i]) == 0;
        if (!within)
            reader_.fail(tag()[set_names[which]],
                         "a " + std::string{set_names[which]} + " within the " + name);
    }

    void check_index(cpu_id max, const std::string& what, std::set<cpu_id>& used, const bits& own) {
        const std::string_view text = tag()["os_index"];
        const auto index = parse_number<cpu_id>(text, 0, max);
        if (!index) reader_.fail(text, "a " + what + " number from 0 to " + std::to_string(max));
        if (!used.insert(*index).second) reader_.fail(text, "a " + what + " number that was not used before");
        bits alone(*index / 32 + 1);
        alone.back() = std::uint32_t{1} << *index % 32;
        if (own != alone) reader_.fail(text, "the number of the one " + what + " in its set");
    }

    void check_number(std::string_view attribute) const {
        const std::string_view text = tag()[attribute];
        if (tag().attributes.contains(attribute) &&
            !parse_number<std::uint64_t>(text, 0, std::numeric_limits<std::uint64_t>::max()))
            reader_.fail(text, "a decimal number as " + std::string{attribute});
    }

    // Sets are written in groups of 32 bits, highest first; a zero group may be empty.
    bits set_in(std::string_view text) const {
        const auto groups = 1 + static_cast<std::size_t>(std::ranges::count(text, ','));
        bool good = text.starts_with("0x") && groups <= (std::size_t{max_cpu_id} + 1) / 32;
        bits words(good ? groups : 0);
        std::string_view rest = text;
        for (std::size_t group = groups; good && group-- != 0;) {
            const std::string_view digits = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(digits.size() + 1, rest.size()));
            if (digits.empty()) continue;
            const char* const end = digits.data() + digits.size();
            good = digits.starts_with("0x") && digits.size() > 2 && digits.size() <= 10 &&
                   std::from_chars(digits.data() + 2, end, words[group], 16).ptr == end;
        }
        if (!good)
            reader_.fail(text, "a finite set of numbers up to " + std::to_string(max_cpu_id) +
                                   ", written like 0x00000001,0x0000ffff");
        while (!words.empty() && words.back() == 0) words.pop_back();
        return words;
    }

    // Only checked values get here, so they need no escapes.
    void keep(std::initializer_list<std::string_view> attributes) {
        kept_ += '<' + std::string{tag().name};
        for (const std::string_view attribute : attributes)
            if (const auto found = tag().attributes.find(attribute); found != tag().attributes.end())
                kept_ += ' ' + std::string{attribute} + "=\"" + std::string{found->second} + '"';
        kept_ += tag().empty ? "/>\n" : ">\n";
    }

    std::size_t size_;
    xml_reader reader_;
    std::vector<element> open_;
    std::size_t dropped_from_ = 0;
    std::size_t objects_ = 0;
    std::size_t groups_ = 0;
    std::size_t kinds_ = 0;
    std::set<cpu_id> cpus_;
    std::set<cpu_id> nodes_;
    std::string kept_;
};

}  // namespace tmigr::detail

#endif

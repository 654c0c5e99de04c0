// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TEXT_TRACER_HPP
#define TMIGR_TEXT_TRACER_HPP

#include <tmigr/shape.hpp>
#include <tmigr/trace.hpp>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <ostream>

namespace tmigr {

/// What lines call the family of a group: `numa=` as kernels do, `family=` as those do that
/// go by capacity.
enum class family_field : std::uint8_t { numa, family };

/// Writes events as lines of ftrace text, as Linux prints its own, so that tools for
/// kernel traces read them. Thread-safe: lines never mix; like the kernel's, two lines of
/// two threads may stand in another order than the steps they report.
///
/// Copies write to the same stream, which must outlive them. A default-constructed one
/// writes nothing. Groups appear as their ids, in 16 hexadecimal digits.
class text_tracer {
public:
    static constexpr bool enabled = true;

    text_tracer() = default;
    /// Writes a header to `out`, then lines. Newest kernels print a capacity where groups
    /// and CPUs are connected, older ones do not, and call what becomes available or
    /// unavailable online and offline: `form` decides.
    explicit text_tracer(std::ostream& out, linux_form form = linux_form::newest,
                         family_field families = family_field::numa)
        : sink_(std::make_shared<sink>(out, style{form, families == family_field::family ? "family" : "numa"})) {
        out << "# tracer: nop\n#\n#           TASK-PID     CPU#  FLAGS   TIMESTAMP  FUNCTION\n";
    }

    /// The time stamp of the lines to come, in nanoseconds; printed in microseconds.
    void set_time(std::uint64_t nanoseconds) noexcept {
        if (!sink_) return;
        const std::lock_guard locked(sink_->mutex);
        sink_->now = nanoseconds;
    }

    /// False when a line could not be written.
    bool ok() const noexcept {
        if (!sink_) return true;
        const std::lock_guard locked(sink_->mutex);
        return sink_->out.good();
    }

    template <class Event>
    void trace(const Event& e, cpu_id on) noexcept {
        if (!sink_) return;
        const std::lock_guard locked(sink_->mutex);
        char line[512];
        int n = std::snprintf(
            line, sizeof line,
            "          <idle>-0       [%03" PRIu32 "] d.... %5" PRIu64 ".%06" PRIu64 ": %s: ", on,
            sink_->now / 1'000'000'000, sink_->now / 1'000 % 1'000'000, name_of<Event>(sink_->how.form));
        n += fields(line + n, sizeof line - static_cast<std::size_t>(n), e, sink_->how);
        try {
            sink_->out.write(line, n).put('\n');
        } catch (...) {
            // A stream that throws has its badbit set already: ok() tells.
        }
    }

private:
    struct style {
        linux_form form;
        const char* family;
    };
    struct sink {
        sink(std::ostream& o, style s) : out(o), how(s) {}
        std::ostream& out;
        style how;
        std::mutex mutex;
        std::uint64_t now = 0;
    };

    template <class Event>
    static const char* name_of(linux_form form) noexcept {
        if constexpr (requires { Event::old_name; })
            if (form != linux_form::newest) return Event::old_name;
        return Event::name;
    }

    static int fields(char* to, std::size_t room, const event::group_set& e, const style& how) {
        return std::snprintf(to, room, "group=%016" PRIx64 " lvl=%u %s=%" PRId32, e.group, e.lvl, how.family, e.numa);
    }
    static int fields(char* to, std::size_t room, const event::connect_child_parent& e, const style& how) {
        const int n = std::snprintf(to, room, "group=%016" PRIx64, e.group);
        return n + connection(to + n, room - static_cast<std::size_t>(n), e, how);
    }
    static int fields(char* to, std::size_t room, const event::connect_cpu_parent& e, const style& how) {
        const int n = std::snprintf(to, room, "cpu=%" PRIu32, e.cpu);
        return n + connection(to + n, room - static_cast<std::size_t>(n), e, how);
    }
    static int fields(char* to, std::size_t room, const event::group_word& e, const style& how) {
        return std::snprintf(to, room,
                             "group=%016" PRIx64 " lvl=%u %s=%" PRId32 " active=%" PRIx64
                             " migrator=%" PRIx64 " parent=%016" PRIx64 " childmask=%" PRIx64,
                             e.group, e.lvl, how.family, e.numa, e.active, e.migrator, e.parent, e.childmask);
    }
    static int fields(char* to, std::size_t room, const event::cpu_active& e, const style&) {
        return of_cpu(to, room, e);
    }
    static int fields(char* to, std::size_t room, const event::cpu_idle& e, const style&) {
        return of_idle_cpu(to, room, e);
    }
    static int fields(char* to, std::size_t room, const event::cpu_new_timer& e, const style&) {
        return of_cpu(to, room, e);
    }
    static int fields(char* to, std::size_t room, const event::cpu_new_timer_idle& e, const style&) {
        return of_idle_cpu(to, room, e);
    }
    static int fields(char* to, std::size_t room, const event::cpu_available& e, const style&) {
        return of_cpu(to, room, e);
    }
    static int fields(char* to, std::size_t room, const event::cpu_unavailable& e, const style&) {
        return of_cpu(to, room, e);
    }
    static int fields(char* to, std::size_t room, const event::update_events& e, const style&) {
        return std::snprintf(to, room,
                             "child=%016" PRIx64 " group=%016" PRIx64 " group_lvl=%u child_active=%" PRIx64
                             " group_active=%" PRIx64 " nextevt=%" PRIu64 " next_expiry=%" PRIu64
                             " child_evt_expiry=%" PRIu64 " child_evtcpu=%" PRIu32,
                             e.child, e.group, e.group_lvl, e.child_active, e.group_active, e.nextevt,
                             e.next_expiry, e.child_evt_expiry, e.child_evtcpu);
    }
    static int fields(char* to, std::size_t room, const event::handle_remote& e, const style&) {
        return std::snprintf(to, room, "group=%016" PRIx64 " lvl=%u", e.group, e.lvl);
    }
    static int fields(char* to, std::size_t room, const event::handle_remote_cpu& e, const style&) {
        return of_cpu(to, room, e);
    }

    // What the events of one CPU have in common.
    template <class Event>
    static int of_cpu(char* to, std::size_t room, const Event& e) {
        return std::snprintf(to, room, "cpu=%" PRIu32 " parent=%016" PRIx64 " wakeup=%" PRIu64, e.cpu,
                             e.parent, e.wakeup);
    }
    template <class Event>
    static int of_idle_cpu(char* to, std::size_t room, const Event& e) {
        return std::snprintf(to, room,
                             "cpu=%" PRIu32 " parent=%016" PRIx64 " nextevt=%" PRIu64 " wakeup=%" PRIu64,
                             e.cpu, e.parent, e.nextevt, e.wakeup);
    }

    // The part that the two connect events share.
    template <class Connect>
    static int connection(char* to, std::size_t room, const Connect& e, const style& how) {
        int n = std::snprintf(to, room, " groupmask=%" PRIx64 " parent=%016" PRIx64 " lvl=%u %s=%" PRId32,
                              e.groupmask, e.parent, e.lvl, how.family, e.numa);
        if (how.form == linux_form::newest)
            n += std::snprintf(to + n, room - static_cast<std::size_t>(n), " capacity=%u", e.capacity);
        return n +
               std::snprintf(to + n, room - static_cast<std::size_t>(n), " num_children=%u", e.num_children);
    }

    std::shared_ptr<sink> sink_;
};
static_assert(tracer<text_tracer>);

}  // namespace tmigr

#endif

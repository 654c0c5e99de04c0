// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_EVENT_QUEUES_HPP
#define TMIGR_BENCH_PEERS_EVENT_QUEUES_HPP

#include <tmigr/expiry.hpp>

#include <boost/intrusive/set.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

// The ordered queues of `linux_events`. With the lock of the group that has the queue held; no
// memory is allocated.

namespace tmigr::peers {

template <class Atomics>
struct queued_event {
    ticks expires = never;
    std::size_t cpu = 0;
    bool queued = false;
    typename Atomics::template atomic<std::uint32_t> ignore{1};
};

/// A red-black tree that knows its first, as Linux's timerqueue is.
struct tree_queues {
    static constexpr const char* name = "red-black tree";

    using hook = boost::intrusive::set_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>>;
    template <class Atomics>
    struct event : queued_event<Atomics>, hook {};

    template <class Event>
    class queue {
    public:
        void insert(Event& e) { events_.insert(e); }
        void erase(Event& e) { events_.erase(events_.iterator_to(e)); }
        Event* first() { return events_.empty() ? nullptr : &*events_.begin(); }
        void clear() { events_.clear(); }

    private:
        struct sooner {
            bool operator()(const Event& a, const Event& b) const noexcept { return a.expires < b.expires; }
        };
        boost::intrusive::multiset<Event, boost::intrusive::compare<sooner>,
                                   boost::intrusive::constant_time_size<false>>
            events_;
    };
};

/// An array of pointers in order, the soonest last.
struct array_queues {
    static constexpr const char* name = "sorted array";

    template <class Atomics>
    struct event : queued_event<Atomics> {};

    template <class Event>
    class queue {
    public:
        void insert(Event& e) {
            std::size_t i = size_++;
            for (; i > 0 && events_[i - 1]->expires <= e.expires; --i) events_[i] = events_[i - 1];
            events_[i] = &e;
        }
        void erase(Event& e) {
            Event** const end = events_ + size_--;
            Event** const at = std::find(events_, end, &e);
            std::copy(at + 1, end, at);
        }
        Event* first() { return size_ == 0 ? nullptr : events_[size_ - 1]; }
        void clear() { size_ = 0; }

    private:
        Event* events_[8];  // one for each child
        std::size_t size_ = 0;
    };
};

}  // namespace tmigr::peers

#endif

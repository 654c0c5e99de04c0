#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# reduce-timers.sh INPUT OUTPUT: packs the traces below the folder INPUT that hold timer events into the archive
# OUTPUT (captures-timers.tar.xz). Kept as printed: comments, lines that are not ftrace's, and the events
# below. The same input gives the same bytes.
set -eu
input=$1
output=$2
events='tmigr_[a-z_]+|timer_start|timer_cancel|timer_expire_entry|hrtimer_expire_entry|cpu_idle|do_stress|tracing_mark_write'
packed=$(mktemp -d)
trap 'rm -r "$packed"' EXIT

find "$input" -name '*.trace' | while read -r trace; do
    LC_ALL=C grep -aqE ': timer_expire_entry:' "$trace" || continue
    LC_ALL=C grep -aE "^#|^===|: ($events):" "$trace" > "$packed/$(basename "$trace" .trace)-timers.trace"
done

chmod 644 "$packed"/*
cd "$packed"
LC_ALL=C tar --format=ustar --sort=name --mtime='2026-01-01 00:00Z' --owner=0 --group=0 --numeric-owner -cf - -- * |
    xz -9e -T1 > "$OLDPWD/captures-timers.tmp"
cd "$OLDPWD"
mv captures-timers.tmp "$output"

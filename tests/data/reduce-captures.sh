#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# reduce-captures.sh INPUT OUTPUT: packs the traces below the folder INPUT into the archive OUTPUT
# (captures.tar.xz). Kept as printed: comments, lines that are not ftrace's, and the events below.
# The .topology and .hierarchy files go in whole. The same input gives the same bytes.
set -eu
input=$1
output=$2
events='tmigr_(group_set|connect_[a-z_]+|group_set_cpu_[a-z]+|cpu_(online|offline|available|unavailable|active|idle|new_timer|new_timer_idle)|update_events|handle_remote|handle_remote_cpu)'
packed=$(mktemp -d)
trap 'rm -r "$packed"' EXIT

find "$input" -name '*.trace' | while read -r trace; do
    LC_ALL=C grep -aE "^#|^===|: ($events|tracing_mark_write|do_stress):" "$trace" > "$packed/$(basename "$trace")"
done
find "$input" \( -name '*.topology' -o -name '*.hierarchy' \) -exec cp {} "$packed" \;

chmod 644 "$packed"/*
cd "$packed"
LC_ALL=C tar --format=ustar --sort=name --mtime='2026-01-01 00:00Z' --owner=0 --group=0 --numeric-owner -cf - -- * |
    xz -9e -T1 > "$OLDPWD/captures.tmp"
cd "$OLDPWD"
mv captures.tmp "$output"

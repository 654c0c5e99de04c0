#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# reduce-workloads.sh INPUT OUTPUT: packs the traces workload-*.trace in the folder INPUT into the archive OUTPUT
# (captures-workload.tar.xz). Kept as printed: comments and the events that a workload is made of.
# The .topology files go in whole. The same input gives the same bytes.
set -eu
input=$1
output=$2
events='timer_(init|start|cancel|expire_entry|expire_exit)|hrtimer_(setup|start|cancel|expire_entry|expire_exit)|cpu_idle|tick_stop|sched_switch|tmigr_(cpu_(available|unavailable)|handle_remote_cpu)|tracing_mark_write'
packed=$(mktemp -d)
trap 'rm -r "$packed"' EXIT

for trace in "$input"/workload-*.trace; do
    LC_ALL=C grep -aE "^#|: ($events):" "$trace" > "$packed/$(basename "$trace")"
done
cp "$input"/workload-*.topology "$packed"

chmod 644 "$packed"/*
here=$PWD
cd "$packed"
LC_ALL=C tar --format=ustar --sort=name --mtime='2026-01-01 00:00Z' --owner=0 --group=0 --numeric-owner -cf - -- * |
    xz -9e -T1 > "$here/captures-workload.tmp"
cd "$here"
mv captures-workload.tmp "$output"

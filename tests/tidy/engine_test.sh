#!/bin/bash
# The engine has no thread, no clock, no randomness and no I/O: its files name none, and its objects
# need nothing of the kind. Nor does TSan see the handover between ranks.
. tests/tidy/checks.sh
failed=0
mapfile -t sources < drivers/emu/engine_sources.txt
check_engine_sources "${sources[@]}" || failed=1
check_engine_symbols "$(archive drivers/emu engine)" "$(archive src tutti_core)" || failed=1
baton=$(archive drivers/emu baton)
if [ ! -e "$baton" ]; then
    echo "$baton: there is no such archive"
    failed=1
elif nm "$baton" | grep -E '__tsan_(read|write|func|atomic)'; then
    echo "$baton: TSan sees the handover, so it misses races between ranks"
    failed=1
fi
exit "$failed"

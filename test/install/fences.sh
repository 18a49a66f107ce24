#!/usr/bin/env bash
# Prints what a document says under a heading in fences of one language, as it is written there:
# `fences.sh FILE HEADING LANGUAGE [RING]`. An empty heading matches any; with a ring, only fences count whose
# comment says that this ring runs them (`<!-- not run: by test/deploy -->`). Fails if there are none.
set -euo pipefail

awk -v heading="$2" -v fence="\`\`\`$3" -v mark="${4:+<!-- not run: by $4 -->}" '
  !open && /^#+ / { name = $0; sub(/^#+ /, "", name); here = name == heading }
  /^```/ {
    if (open) open = shown = 0
    else { open = 1; shown = (heading == "" || here) && $0 == fence && (mark == "" || before == mark) }
    before = $0
    next
  }
  shown { print; any = 1 }
  { before = $0 }
  END { exit !any }
' "$1"

#!/usr/bin/env bash
# Prints what a document says under a heading in fences of one language, as it is written there:
# `fences.sh FILE HEADING LANGUAGE`. Fails where there is nothing.
set -euo pipefail

awk -v heading="$2" -v fence="\`\`\`$3" '
  !open && /^#+ / { name = $0; sub(/^#+ /, "", name); here = name == heading; next }
  /^```/ { if (open) open = shown = 0; else { open = 1; shown = here && $0 == fence }; next }
  shown { print; any = 1 }
  END { exit !any }
' "$1"

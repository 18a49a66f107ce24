#!/usr/bin/env bash
# Runs the rings: the scripts that install the program as users do, and run every command of the documents. Ends with
# a line that counts them, and with exit code 1 if one failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=test/support/steps.sh
. support/steps.sh

# Each installs what it needs, and mostly waits for npm or for a clock, so two run at once.
for ring in nodes/run.sh documents/run.sh documents/first-day.sh container/run.sh deploy/run.sh package/run.sh systemd/run.sh install/run.sh \
  install/bare.sh; do
  await_steps 1
  start_step "test/$ring" bash "$ring"
done
await_steps 0
summarize

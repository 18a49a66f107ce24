#!/usr/bin/env bash
# Runs every test. Ends with a line that counts the suites, and with exit code 1 if one failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=test/support/steps.sh
. test/support/steps.sh

step 'npm test' npm test
step 'npm run test:system' npm run test:system
step 'npm run test:postgres' npm run test:postgres
# The rings mostly wait for npm.
start_step 'npm run test:rings' npm run test:rings
step 'npm run test:endurance' npm run test:endurance
await_steps 0
summarize

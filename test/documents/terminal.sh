#!/usr/bin/env bash
# What sits at a terminal in the place of a reader: `terminal.sh FOLDER` carries out the commands that come on its file
# descriptor 3, each ended by a NUL, one after the other in one shell, and prints the exit code of each between two
# brackets that nothing else prints.
cd "$1" || exit
# A Ctrl-C is only for the command.
trap : INT
set -o pipefail
stty cols 120 rows 40
while IFS= read -r -d '' command <&3; do
  eval "$command" 3<&-
  printf '⟦%d⟧' $?
done

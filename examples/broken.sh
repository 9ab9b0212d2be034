#!/bin/sh
# Evaluates an example suite that breaks promises on purpose, so that exit code 1 is
# the only right one. The arguments are those of proviso eval.
cd "$(dirname "$0")/.." || exit 2
./proviso eval "$@"
code=$?
if [ "$code" -ne 1 ]; then
  echo "demo: expected exit code 1 (broken promises), got $code" >&2
  exit 1
fi

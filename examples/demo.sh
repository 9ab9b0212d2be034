#!/bin/sh
# Evaluates the example suite. Some of its recorded replies break a promise on
# purpose, so the run has to end with exit code 1.
cd "$(dirname "$0")/.." || exit 2
./proviso eval -c examples/support/proviso.yaml -o dist/demo.json "$@"
code=$?
if [ "$code" -ne 1 ]; then
  echo "demo: expected exit code 1 (broken promises), got $code" >&2
  exit 1
fi

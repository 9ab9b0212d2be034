#!/bin/sh
# Evaluates the example suites: one of recorded replies, one whose exchanges with
# two models are replayed, and one in which a model grades what an agent answers,
# replayed as well. Some promises are broken on purpose, so each run has to end
# with exit code 1. At last it makes a suite of the history of a prompt.
cd "$(dirname "$0")/.." || exit 2

demo() {
  ./proviso eval "$@"
  code=$?
  if [ "$code" -ne 1 ]; then
    echo "demo: expected exit code 1 (broken promises), got $code" >&2
    exit 1
  fi
}

demo -c examples/support/proviso.yaml -o dist/demo.json "$@"
echo
demo -c examples/library/proviso.yaml --replay examples/library/tape -o dist/demo.html "$@"
echo
demo -c examples/agent/proviso.yaml --replay examples/agent/tape -o dist/demo.batch.json "$@"
examples/spade/demo.sh ./proviso || exit 1

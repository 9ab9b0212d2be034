#!/bin/sh
# One story for a first look: a broken promise, where it is, why, and what to do
# next. $1 is the proviso to run. It needs no key and no network.
cd "$(dirname "$0")/.." || exit 2
proviso=${1:-./proviso}
shown=./proviso
. examples/want.sh
suite=examples/refund/proviso.yaml

cat <<'EOF'
A bicycle shop lets a model answer its customers. The prompt makes three promises:
never promise a refund, at most 40 words, end with the ticket number.
Do the recorded answers of the model keep them?
EOF
want 1 eval -c "$suite" --filter-prompts v1

cat <<'EOF'

How to read this
  Where    FAIL names the case, with the prompt and the customer's question.
  What     The line with ✗ is the promise that was broken.
  Why      The marked words of the answer broke it.
  How bad  The table has the share of the answers that kept each promise. Four
           answers say little, so the interval is wide.
  The exit code is 1: a CI job stops here.

What to do next
  prompts/v1.txt says "Be generous" right before it forbids refunds. Say what the
  model may offer instead (prompts/v2.txt), ask it again, and hold the new answers
  to the same promises:
EOF
want 0 eval -c "$suite" --filter-prompts v2

cat <<'EOF'

Now you
  ./proviso eval -c examples/refund/proviso.yaml -o report.html    both prompts, as a page
  ./proviso init my-suite                                          a suite of your own
  ./proviso eval -c examples/promptfoo/promptfooconfig.yaml        a promptfoo suite, unchanged
  ./proviso view                                                   every run so far, in the browser
EOF

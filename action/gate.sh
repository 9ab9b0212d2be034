#!/usr/bin/env bash
# Runs the gate and adds its report to the summary of the job. The exit code is that of
# the gate. There is no token in the environment: the suite may run code.
set -uo pipefail

report=$RUNNER_TEMP/proviso-gate.md
rm -f "$report"

arguments=(gate -c "$PROVISO_SUITE" --markdown "$report")
if [ -n "$PROVISO_BASELINE" ]; then arguments+=(--baseline "$PROVISO_BASELINE"); fi
if [ -n "$PROVISO_BASE_REF" ]; then arguments+=(--base-ref "$PROVISO_BASE_REF"); fi
read -r -a more <<<"$PROVISO_ARGS"
arguments+=(${more[@]+"${more[@]}"})

# With this flag, the exit code tells "inconclusive" from "pass". Without it among the
# arguments of the user, the step passes all the same.
# The files of the job (GITHUB_ENV, GITHUB_PATH, …) are not named to what the suite runs:
# a later step with a token would obey what they say.
env -u GITHUB_ENV -u GITHUB_PATH -u GITHUB_OUTPUT -u GITHUB_STATE -u GITHUB_STEP_SUMMARY \
  proviso "${arguments[@]}" --inconclusive-exit
code=$?
case "$code" in
  0) decision=pass ;;
  1) decision=fail ;;
  4) decision=inconclusive ;;
  *) decision=error ;;
esac
if [ "$code" = 4 ] && ! [[ " $PROVISO_ARGS " == *" --inconclusive-exit "* ]]; then
  code=0
fi

echo "decision=$decision" >>"$GITHUB_OUTPUT"
case "$decision" in
  fail) echo "::error title=proviso gate::the change makes the suite worse; the summary of the job says where" ;;
  inconclusive) echo "::notice title=proviso gate::there are too few cases to decide; the summary of the job says how many would do" ;;
  error) echo "::error title=proviso gate::there is no decision (exit code $code)" ;;
esac
if [ -s "$report" ]; then
  echo "report=$report" >>"$GITHUB_OUTPUT"
  proviso comment "$report" --print >>"$GITHUB_STEP_SUMMARY"
else
  echo "report=" >>"$GITHUB_OUTPUT"
fi
exit "$code"

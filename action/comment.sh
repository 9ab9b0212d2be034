#!/usr/bin/env bash
# Comments on the pull request. A comment that cannot be written decides nothing.
set -euo pipefail

if [ "$PROVISO_FORK" = true ]; then
  echo "proviso: no comment: the job of a pull request from a fork has no right to write one; docs/ci.md has a pair of workflows that does"
elif ! proviso comment "$PROVISO_REPORT" --suite "$PROVISO_SUITE"; then
  echo "::warning title=proviso::the comment could not be written; the report is in the summary of the job"
fi

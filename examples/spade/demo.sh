#!/bin/sh
# From seven versions of a prompt and forty labelled outputs to a suite. It works on
# a copy, so that the tree stays as it is. $1 is the proviso to run.
example=$(cd "$(dirname "$0")" && pwd) || exit 2
proviso=${1:-$example/../../proviso}
. "$example/../want.sh"
elsewhere
cp -R "$example"/. "$dir" && cd "$dir" || exit 2

# Answers were recorded from OpenAI's own address, with nothing set. What was
# decided at an earlier demo would be taken from the cache.
for name in $(env | sed -n 's/^\(OPENAI_[A-Z_]*\)=.*/\1/p') PROVISO_JUDGE; do
  unset "$name"
done
XDG_CACHE_HOME=$dir/.cache XDG_STATE_HOME=$dir/.state
export XDG_CACHE_HOME XDG_STATE_HOME

all_steps() {
  want 0 spade run prompts --examples outputs.jsonl --tau 0 \
    --model openai:chat:gpt-4.1 --judge openai:chat:gpt-4.1 --replay tape
}

# How the prompt changed.
want 0 spade deltas prompts

# Every step, and what was selected of what was proposed.
all_steps
want 0 spade select --matrix spade/matrix.csv --implications spade/implications.csv --implications-set final --tau 0
want 0 spade coverage prompts --assertions spade/selected.yaml --candidates spade/candidates.yaml

# The selected assertions are a part of a suite: here is its beginning. The suite
# holds four new outputs against them, of which two are wrong.
printf '\n$ head -n 22 spade/selected.yaml\n'
head -n 22 spade/selected.yaml
cp spade/selected.yaml selected.yaml
want 1 eval -c proviso.yaml --replay tape

# One label was wrong. The same command does what is new and says what that changed.
want 0 spade label --examples outputs.jsonl --labels spade/labels.jsonl --set o31=bad
all_steps

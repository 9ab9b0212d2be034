#!/bin/sh
# A change of a prompt, in a repository that is made for it: may it merge? $1 is the
# proviso to run. It needs git and Go, and no key and no network.
example=$(cd "$(dirname "$0")" && pwd) || exit 2
proviso=${1:-$example/../../proviso}
. "$example/../want.sh"
elsewhere
(cd "$example/../.." && go build -o "$dir/job" ./internal/fakeforge/job) || exit 2
HOME=$dir XDG_CACHE_HOME=$dir/.cache XDG_STATE_HOME=$dir/.state GIT_CONFIG_NOSYSTEM=1
GITHUB_ACTIONS='' # also if this is a job
export HOME XDG_CACHE_HOME XDG_STATE_HOME GIT_CONFIG_NOSYSTEM GITHUB_ACTIONS
cd "$dir" && git init -q shop && cd shop || exit 2
git config user.name demo && git config user.email demo@example.com || exit 2

cp "$example/proviso.yaml" "$example/prompt.txt" "$example/answers.jsonl" .
git add . && git commit -q -m 'Tell customers where their order is' && git branch -q released

echo 'A shop lets a model say where an order is. Somebody makes the prompt warmer:'
cp "$example/change/prompt.txt" "$example/change/answers.jsonl" .
want 1 gate --base-ref released --cases 1

printf '\nThe same in the pull request, at a forge on this machine; then a push that repairs the prompt:\n'
export proviso
"$dir/job" "git commit -q -a -m 'Be warm'; \"\$proviso\" gate --base-ref released --comment >job.log" \
  "git revert --no-edit HEAD >job.log; \"\$proviso\" gate --base-ref released --comment >job.log" || exit 1

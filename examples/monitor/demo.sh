#!/bin/sh
# A recorded day of an agent, replayed: the monitor says which promise is broken, since
# when, and what else changed at that time. $1 is the proviso to run. It needs no key and
# no network.
cd "$(dirname "$0")/../.." || exit 2
proviso=${1:-./proviso}
shown=./proviso
. examples/want.sh

cat <<'EOF'
A bicycle shop lets an agent answer its customers: about 1,500 answers on 10 March. At
06:00 it was released anew, which did no harm. At 14:00 the vendor replaced the model.
Nobody was told. What would the monitor have said, and when?
EOF
want 0 monitor replay examples/monitor/events.jsonl --watch examples/monitor/watch.yaml

cat <<'EOF'

How to read this
  ALARM    The promise, how often it fails now, and how often it failed before.
  began    The time in which the change was. The model changed in it; the version did not.
  The table has every promise, and the smallest change that would be seen within a week.
  The last lines say how often an alarm is false.

Now you
  ./proviso monitor replay EVENTS.jsonl --watch WATCH.yaml    your traffic, before anything is switched on
  docs/monitor.md                                             from nothing to the first alarm
EOF

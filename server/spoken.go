package server

import (
	"context"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/store"
)

// maxSpoken bounds the labels that correct a series.
const maxSpoken = 10_000

// labelled reads the labels of people on events of a range that were drawn at random, each
// beside the verdict of the watch. Of several people on the same subject, most of them count.
func (m *monitoring) labelled(ctx context.Context, p store.Project, f store.SeriesFilter) (spoken, error) {
	in := m.s.o.Store.In(p)
	lf := store.LabelFilter{Events: true}
	if f.Assertion != "" {
		lf.Assertion = &f.Assertion
	}
	said := map[[2]string][]*label.Label{} // by event and assertion
	n := 0
	for l, err := range all(ctx, in.ListLabels, lf) {
		if err != nil {
			return nil, err
		}
		if l.Stratum != label.Random || l.Assertion == "" {
			continue
		}
		if n++; n > maxSpoken {
			break
		}
		key := [2]string{l.Event, l.Assertion}
		said[key] = append(said[key], &l.Label)
	}
	if len(said) == 0 {
		return nil, nil
	}
	return besideVerdicts(ctx, in, f, said)
}

// besideVerdicts finds the verdicts on what people labelled.
func besideVerdicts(ctx context.Context, in store.ProjectStore, f store.SeriesFilter, said map[[2]string][]*label.Label) (spoken, error) {
	var events []string
	for key := range said {
		events = append(events, key[0])
	}
	slices.Sort(events)
	var out spoken
	for some := range slices.Chunk(slices.Compact(events), thumbsAtOnce) {
		if err := verdictsOn(ctx, in, f.Watch, some, func(v *store.WatchVerdict) {
			verdict, ok, _ := label.Majority(said[[2]string{v.Event, v.Assertion}])
			if !ok || v.Status != proviso.Pass && v.Status != proviso.Fail || v.Time.Before(f.From) || !v.Time.Before(f.To) {
				return
			}
			out = append(out, spokenOf{seriesKey{v.Assertion, v.Version, v.Judge, v.Segment}, v.Time, v.Status == proviso.Pass, verdict == label.Pass})
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// correctedRate is the rate of failures of one chart since a change, corrected by labels;
// nil if there are none.
func (m *monitoring) correctedRate(ctx context.Context, live *liveWatch, assertion, version, judge string, since monitor.Span) *float64 {
	f := store.SeriesFilter{Watch: live.Name, Assertion: assertion, From: since.Low, To: m.now(), By: store.ByVersion}
	if !f.From.Before(f.To) {
		return nil
	}
	f.Step = (f.To.Sub(f.From)/time.Hour + 2) * time.Hour
	said, err := m.labelled(ctx, live.key.project, f)
	if err != nil || len(said) == 0 {
		return nil
	}
	buckets, err := m.s.o.Store.In(live.key.project).Series(ctx, f)
	if err != nil {
		return nil
	}
	var sum store.Bucket
	for i := range buckets {
		if b := &buckets[i]; b.Version == version && b.Judge == judge {
			addBucket(&sum, b)
		}
	}
	if i := said.corrected(seriesKey{assertion: assertion, version: version, judge: judge}, &sum, f.From, f.To); i != nil {
		return &i.Rate
	}
	return nil
}

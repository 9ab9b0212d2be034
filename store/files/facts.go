package files

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/store"
)

// facts are what filters and counts need of a run's rows.
type facts struct {
	strict  bool // the JSON of every row is checked, too
	rows    map[int]fact
	totals  proviso.Totals
	tally   store.Tally
	damaged string // description of unreadable parts; "" if nothing is damaged
	bad     int    // damaged rows
}

type fact struct {
	status   proviso.Status
	verdicts []store.AssertionStatus
}

// allFacts reads every row of a run on its first call.
func (rec *record) allFacts(ctx context.Context) (*facts, error) {
	if rec.facts != nil {
		return rec.facts, nil
	}
	f := &facts{strict: rec.reader.Size() <= maxChecked, rows: make(map[int]fact, rec.reader.Len())}
	err := rec.rows(-1, func(index int, data []byte) bool {
		f.add(index, data)
		return ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	f.describe(rec)
	rec.facts = f
	return f, nil
}

// add updates the facts with appended rows.
func (rec *record) add(rows []int) error {
	for _, index := range rows {
		if rec.facts == nil {
			return nil
		}
		if _, again := rec.facts.rows[index]; again { // a resumed run evaluated the row again
			rec.facts = nil
			return nil
		}
		data, err := rec.row(index)
		if err != nil {
			return err
		}
		rec.facts.add(index, data)
	}
	if rec.facts != nil {
		rec.facts.describe(rec)
	}
	return nil
}

// describe sets the description of the damage.
func (f *facts) describe(rec *record) {
	lines, _ := rec.reader.Damage()
	if lines += f.bad; lines > 0 {
		f.damaged = fmt.Sprintf("the file is damaged: %s cannot be read and is left out", plural.Of(lines, "line"))
	}
}

func (f *facts) add(index int, data []byte) {
	r, use, ok := store.ReadRow(index, data)
	if !ok || f.strict && !json.Valid(data) {
		f.bad++
		return
	}
	f.rows[index] = fact{r.Status, r.Assertions}
	f.tally.Add(r.Status, use)
	r.CountIn(&f.totals)
}

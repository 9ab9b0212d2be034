package sqldb

import (
	"context"

	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// CountLabels implements [store.Labels].
func (d project) CountLabels(ctx context.Context, f store.LabelFilter) (label.Counts, error) {
	if f == (store.LabelFilter{Run: f.Run}) && f.Run != "" {
		return d.countRun(ctx, f.Run)
	}
	var out label.Counts
	f.History = false
	c := d.labelConditions(&f)
	c.add("verdict IN ('pass', 'fail') AND judged IN ('pass', 'fail')")
	var err error
	if out.Judged, err = collect(d, readJudged)(d.find(ctx, "SELECT assertion, judge, verdict, judged, count(*) FROM label"+c.where()+" GROUP BY 1, 2, 3, 4", c.args...)); err != nil {
		return out, err
	}
	by := f.By
	f.By = ""
	c = d.labelConditions(&f)
	c.add("verdict IN ('pass', 'fail')")
	side := "(SELECT project, run, evaluation, row, assertion, person, verdict FROM label" + c.where() + ")"
	args := append(append([]any{}, c.args...), c.args...)
	only := ""
	if by != "" {
		only = " WHERE a.person = ? OR b.person = ?"
		args = append(args, by, by)
	}
	out.Pairs, err = collect(d, readPair)(d.find(ctx, `SELECT a.person, b.person, a.verdict, b.verdict, count(*) FROM `+side+` a
		JOIN `+side+` b ON b.run = a.run AND b.evaluation = a.evaluation AND b.row = a.row AND b.assertion = a.assertion AND b.person > a.person`+
		only+` GROUP BY 1, 2, 3, 4`, args...))
	return out, err
}

func readJudged(row scanner) (n label.JudgedCount, err error) {
	return n, row.Scan(&n.Assertion, &n.Judge, &n.Human, &n.Verdict, &n.N)
}

func readPair(row scanner) (n label.PairCount, err error) {
	return n, row.Scan(&n.A, &n.B, &n.First, &n.Second, &n.N)
}

// countRun reads the stored label counts of a run.
func (d project) countRun(ctx context.Context, run string) (out label.Counts, err error) {
	if out.Judged, err = collect(d, readJudged)(d.query(ctx, "SELECT assertion, judge, verdict, judged, n FROM label_judged WHERE project = ? AND run = ? AND n > 0", string(d.name), run)); err != nil {
		return out, err
	}
	out.Pairs, err = collect(d, readPair)(d.query(ctx, "SELECT a, b, first, second, n FROM label_pair WHERE project = ? AND run = ? AND n > 0", string(d.name), run))
	return out, err
}

// tallyLabel adds a label in force to the counts of its run, or subtracts it if add is -1.
func (t *tx) tallyLabel(d project, l *label.Label, add int) error {
	if !l.Decides() || l.Run == "" {
		return nil
	}
	if l.Judged == string(label.Pass) || l.Judged == string(label.Fail) {
		if _, err := t.exec(`INSERT INTO label_judged (project, run, assertion, judge, verdict, judged, n) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (project, run, assertion, judge, verdict, judged) DO UPDATE SET n = label_judged.n + excluded.n`,
			string(d.name), l.Run, l.Assertion, l.Judge, string(l.Verdict), l.Judged, add); err != nil {
			return err
		}
	}
	_, err := t.exec(`INSERT INTO label_pair (project, run, a, b, first, second, n)
		SELECT project, run, least(person, ?1), greatest(person, ?1), CASE WHEN person < ?1 THEN verdict ELSE ?2 END, CASE WHEN person < ?1 THEN ?2 ELSE verdict END, ?3 FROM label
			WHERE project = ?4 AND run = ?5 AND evaluation = '' AND row = ?6 AND assertion = ?7 AND person <> ?1 AND current = 1 AND verdict IN ('pass', 'fail')
		ON CONFLICT (project, run, a, b, first, second) DO UPDATE SET n = label_pair.n + excluded.n`,
		l.By, string(l.Verdict), add, string(d.name), l.Run, l.Index, l.Assertion)
	return err
}

package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

const evaluationColumns = `seq, id, created_by, agent, assertion_set, judge, status, score, passed, failed, errors, skipped,
	prompt, completion, cached, total, requests, cost, elapsed, created`

// readEvaluation reads a row of evaluationColumns and the columns that follow.
func readEvaluation(row scanner, more ...any) (e store.Evaluation, seq int64, err error) {
	var score sql.NullFloat64
	var elapsed int64
	var created sql.NullInt64
	into := []any{&seq, &e.ID, &e.CreatedBy, &e.Agent, &e.Set, &e.Judge, &e.Status, &score, &e.Passed, &e.Failed, &e.Errors, &e.Skipped,
		&e.Usage.Prompt, &e.Usage.Completion, &e.Usage.Cached, &e.Usage.Total, &e.Usage.Requests, &e.Cost, &elapsed, &created}
	err = row.Scan(append(into, more...)...)
	if score.Valid {
		e.Score = &score.Float64
	}
	e.Elapsed, e.Created = time.Duration(elapsed)*time.Microsecond, fromMicros(created)
	return e, seq, err
}

// AddEvaluation implements [store.Evaluations].
func (d project) AddEvaluation(ctx context.Context, n store.NewEvaluation) (store.Evaluation, error) {
	if err := errors.Join(d.name.Check(), checkContent("request", n.Request), checkContent("response", n.Response), checkCost(n.Cost), checkReply(n.Reply)); err != nil {
		return store.Evaluation{}, err
	}
	now := d.now()
	if n.ID == "" {
		n.ID = store.NewID(store.EvaluationID, now)
	}
	err := d.change(ctx, "keep an evaluation in", func(t *tx) error {
		u := n.Usage
		added, err := t.changed(`INSERT INTO evaluation (project, id, created_by, agent, assertion_set, judge, status, score, passed, failed, errors, skipped,
			prompt, completion, cached, total, requests, cost, elapsed, created, request, response)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
			string(d.name), n.ID, n.CreatedBy, n.Agent, n.Set, n.Judge, int(n.Status), n.Score, n.Passed, n.Failed, n.Errors, n.Skipped,
			u.Prompt, u.Completion, u.Cached, u.Total, u.Requests, n.Cost, n.Elapsed.Microseconds(), micros(now), n.Request, n.Response)
		if err != nil {
			return err
		}
		if added == 0 {
			return proviso.Errorf(proviso.Conflict, "there is an evaluation %s already", short(n.ID))
		}
		if err := t.charge(n.CreatedBy, n.Cost); err != nil {
			return err
		}
		return t.reply(n.Reply)
	})
	if err != nil {
		return store.Evaluation{}, err
	}
	n.Reply, n.Elapsed = nil, n.Elapsed.Truncate(time.Microsecond)
	return store.Evaluation{NewEvaluation: n, Created: now}, nil
}

// Evaluation implements [store.Evaluations].
func (d project) Evaluation(ctx context.Context, id string) (store.Evaluation, error) {
	var request, response []byte
	e, _, err := readEvaluation(d.queryRow(ctx, "SELECT "+evaluationColumns+", request, response FROM evaluation WHERE id = ? AND project = ?", id, string(d.name)), &request, &response)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Evaluation{}, notFound("evaluation", id)
	}
	e.Request, e.Response = request, response
	return e, d.failed("read", err)
}

// ListEvaluations implements [store.Evaluations].
func (d project) ListEvaluations(ctx context.Context, f store.EvaluationFilter, p store.Page) (store.List[store.Evaluation], error) {
	c := d.conditions("project")
	c.equal("created_by", f.CreatedBy)
	c.equal("agent", f.Agent)
	c.between("created", f.Since, f.Until)
	in(&c, "status", numbers(f.Status))
	if err := before(&c, "evaluations", p); err != nil {
		return store.List[store.Evaluation]{}, err
	}
	return page(ctx, d, "evaluations", p, "SELECT "+evaluationColumns+" FROM evaluation", "seq DESC", &c,
		func(row scanner) (store.Evaluation, string, int, error) {
			e, seq, err := readEvaluation(row)
			return e, strconv.FormatInt(seq, 10), 0, err
		})
}

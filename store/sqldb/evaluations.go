package sqldb

import (
	"context"
	"errors"
	"time"

	"github.com/proviso-eval/proviso/store"
)

const evaluationColumns = `seq, id, created_by, agent, assertion_set, judge, status, score, passed, failed, errors, skipped,
	prompt, completion, cached, total, requests, cost, elapsed, created`

// readEvaluation reads a row of evaluationColumns and the columns that follow.
func readEvaluation(row scanner, more ...any) (e store.Evaluation, seq int64, err error) {
	into := []any{&seq, &e.ID, &e.CreatedBy, &e.Agent, &e.Set, &e.Judge, &e.Status, &e.Score, &e.Passed, &e.Failed, &e.Errors, &e.Skipped,
		&e.Usage.Prompt, &e.Usage.Completion, &e.Usage.Cached, &e.Usage.Total, &e.Usage.Requests, &e.Cost, micro(&e.Elapsed), at(&e.Created)}
	err = row.Scan(append(into, more...)...)
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
		if err := t.changeOne(conflict("an evaluation", n.ID), `INSERT INTO evaluation (project, id, created_by, agent, assertion_set, judge, status, score, passed, failed, errors, skipped,
			prompt, completion, cached, total, requests, cost, elapsed, created, request, response)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
			string(d.name), n.ID, n.CreatedBy, n.Agent, n.Set, n.Judge, int(n.Status), n.Score, n.Passed, n.Failed, n.Errors, n.Skipped,
			u.Prompt, u.Completion, u.Cached, u.Total, u.Requests, n.Cost, n.Elapsed.Microseconds(), micros(now), n.Request, n.Response); err != nil {
			return err
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
	e.Request, e.Response = request, response
	return e, d.failed("read", noRow(err, "evaluation", id))
}

// ListEvaluations implements [store.Evaluations].
func (d project) ListEvaluations(ctx context.Context, f store.EvaluationFilter, p store.Page) (store.List[store.Evaluation], error) {
	c := d.conditions("project")
	c.equal("created_by", f.CreatedBy)
	c.equal("agent", f.Agent)
	c.between("created", f.Since, f.Until)
	in(&c, "status", numbers(f.Status))
	return page(ctx, d.reader, "evaluations", p, "SELECT "+evaluationColumns+" FROM evaluation", "seq DESC", &c,
		func(row scanner) (store.Evaluation, int64, error) { return readEvaluation(row) }, nil)
}

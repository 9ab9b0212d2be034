package judge

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/internal/shape"
	"github.com/proviso-eval/proviso/value"
)

// Choose returns the index of the best output by the criterion of a select-best
// assertion. It implements [proviso.Chooser].
//
// Models prefer some positions in a list. So the order of the outputs in the prompt is
// derived from a hash of their content, not from the order of the providers. With config:
// {orders: 2} the model is asked again with the opposite order, and a choice that depends
// on the order is an error.
func (j *Judge) Choose(ctx context.Context, q proviso.Question) (int, proviso.Grade, error) {
	gradings, err := j.poll(q, Text)
	if err != nil {
		return 0, proviso.Grade{}, err
	}
	votes := cast(ctx, gradings, func(ctx context.Context, g *grading) (int, error) { return g.choose(ctx) })
	grade := took(gradings)
	grade.Reason = gradings[0].value()
	most, err := majority(votes, func(best int) int { return best }, func(best int) string { return "for output " + strconv.Itoa(best+1) })
	if err != nil {
		return 0, grade, undecided(err)
	}
	return most[0], grade, nil
}

var _ proviso.Chooser = (*Judge)(nil)

func (g *grading) choose(ctx context.Context) (int, error) {
	twice, err := bothOrders(g.q.Assertion)
	if err != nil {
		return 0, err
	}
	order := drawn(g.value(), g.q.Outputs)
	if g.q.Rubric != nil { // prompts from suites number the outputs in the given order
		order = ascending(len(g.q.Outputs))
	}
	if !twice {
		return g.chooseIn(ctx, order, 0, 1)
	}
	best, err := g.chooseIn(ctx, order, 0, 2)
	if err != nil {
		return 0, err
	}
	slices.Reverse(order)
	again, err := g.chooseIn(ctx, order, 1, 2)
	if err == nil && again != best {
		err = proviso.Errorf(proviso.Undecided, "the choice depends on the order of the outputs: first %d, in the opposite order %d", best+1, again+1)
	}
	return best, err
}

// bothOrders reports whether an assertion requires both orders.
func bothOrders(a *proviso.Assertion) (bool, error) {
	if a == nil {
		return false, nil
	}
	switch v := a.Config.At("orders"); v {
	case nil, 1.0:
		return false, nil
	case 2.0:
		return true, nil
	default:
		return false, proviso.Errorf(proviso.Invalid, "config.orders must be 1 or 2, found %s", value.Stringify(v))
	}
}

// checkOrders reports an invalid number of orders.
func checkOrders(q proviso.Question) error {
	_, err := bothOrders(q.Assertion)
	return inConfig(q, err)
}

func ascending(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// drawn returns a permutation of the outputs that is derived from a hash of the outputs
// and the criterion (Fisher–Yates).
func drawn(criterion string, outputs []string) []int {
	order := ascending(len(outputs))
	parts := append([]string{"select-best 1", criterion}, slices.Sorted(slices.Values(outputs))...)
	for i := len(order) - 1; i > 0; i-- {
		raw, _ := hex.DecodeString(blobs.Key(append(parts[:len(parts):len(parts)], strconv.Itoa(i))...)) // a key is hexadecimal
		k := int(binary.BigEndian.Uint64(raw[:8]) % uint64(i+1))
		order[i], order[k] = order[k], order[i]
	}
	return order
}

// chooseIn asks the model with the outputs in the given order, and returns the index of
// the best.
func (g *grading) chooseIn(ctx context.Context, order []int, nth, of int) (int, error) {
	pieces := []piece{{"criterion", g.value()}}
	if g.q.Input != "" {
		pieces = append(pieces, piece{"input", g.q.Input})
	}
	outputs := make([]any, len(order))
	for i, at := range order {
		pieces = append(pieces, piece{"output " + strconv.Itoa(i+1), g.q.Outputs[at]})
		outputs[i] = parsedOr(g.q.Outputs[at])
	}
	s := step{
		own: "select-best", pieces: pieces, nth: nth, of: of, custom: g.q.Rubric,
		reply: shape.Reply("choice", "reason", shape.Of("string"), "best", shape.Of("integer")),
		vars:  func() *value.Object { return givenVars(g.q.Vars, false, "criteria", g.q.Value, "outputs", outputs) },
	}
	return ask(ctx, g, s, func(reply string) (int, error) {
		n, err := readChoice(reply, len(order), g.q.Rubric != nil)
		if err != nil {
			return 0, err
		}
		return order[n], nil
	})
}

// readChoice reads the number of the best of n outputs, and returns its index. With bare,
// which is for prompts from a suite, numbers start at 0 as in promptfoo, and the reply
// may be only the number.
func readChoice(reply string, n int, bare bool) (int, error) {
	if bare {
		found := firstNumber.Get().FindString(reply)
		i, err := strconv.Atoi(found)
		if err != nil || i >= n {
			return 0, fmt.Errorf("there is no number from 0 to %d in it", n-1)
		}
		return i, nil
	}
	o, err := gradedObject(reply, "best")
	if err != nil {
		return 0, err
	}
	f, err := points(o.At("best"), 1, float64(n))
	if err != nil || f != float64(int(f)) {
		return 0, errors.New("best is no number of an output: " + shown(value.Stringify(o.At("best"))))
	}
	return int(f) - 1, nil
}

var firstNumber = pattern.Of(`\d+`)

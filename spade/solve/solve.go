// Package solve picks the best few of many candidate assertions, with a proof, from labelled
// outputs and from knowledge of which assertion implies which. Start at [Solve]; [Check]
// measures any selection.
//
// The problems are those of SPADE (Shankar et al., "SPADE: Synthesizing Data Quality
// Assertions for Large Language Model Pipelines", VLDB 2024, sections 3.2 and 3.3). Package
// solve solves them exactly by branch and bound over a Lagrangian relaxation (Fisher, "The
// Lagrangian relaxation method for solving integer programming problems", Management Science
// 27, 1981). Everything is deterministic: a step count limits the work, never the clock.
package solve

import (
	"context"
	"fmt"
	"slices"
)

// Method defines what the best selection is.
type Method uint8

// The methods, named as in section 5 of the paper.
const (
	All         Method = iota // every candidate
	Base                      // every candidate whose own false failures are within the limit
	Coverage                  // cheapest set within both thresholds
	Subsumption               // cheap set within both thresholds that leaves few candidates neither selected nor implied
	None                      // uses no examples: one member of each group that nothing else implies
)

var methodNames = [...]string{"all", "base", "cov", "sub", "none"}

// String returns all, base, cov, sub or none.
func (m Method) String() string { return methodNames[m] }

// Methods returns the names of the methods.
func Methods() []string { return methodNames[:] }

// MethodOf returns the method with a name; ok is false if there is none.
func MethodOf(name string) (m Method, ok bool) {
	for i, n := range methodNames {
		if n == name {
			return Method(i), true
		}
	}
	return 0, false
}

// Status is how much is known about an answer.
type Status uint8

// The statuses.
const (
	Unknown    Status = iota // the work limit was reached before any selection was found
	Feasible                 // a selection within the thresholds that is not proven to be the best
	Optimal                  // no selection is better
	Infeasible               // no selection is within the thresholds
)

// String returns unknown, feasible, optimal or infeasible.
func (s Status) String() string {
	return [...]string{"unknown", "feasible", "optimal", "infeasible"}[s]
}

// Options limit a search.
type Options struct {
	// Work is the maximum number of elementary steps, 0 for the default. A step is one visit
	// to a matrix cell, so it takes some nanoseconds, and the same number of steps gives the
	// same answer on every machine.
	Work int64
}

// DefaultWork is the default limit of a search, about half a minute.
const DefaultWork int64 = 5_000_000_000

// Answer is a selection and what is known about it.
type Answer struct {
	Worth
	Status Status
	// LowerBound is a lower bound of every selection's objective.
	LowerBound int
	// Tied means that ties between equally good selections are also broken: fewest left over,
	// most bad examples caught, fewest false failures, lowest indices.
	Tied bool
	// If no selection is within the thresholds, Best is the most bad examples that a selection
	// within the limit of false failures catches; BestProven means that this is proven.
	Best       int
	BestProven bool

	Engine string // stage that found it
	Nodes  int64  // nodes of the search tree
	Work   int64  // steps done
}

// Solve returns the best selection by method. It returns an error if the instance is malformed
// or ctx ends before anything is found; if ctx ends later, Solve returns the best selection so
// far. It retains no reference to in.
func Solve(ctx context.Context, in *Instance, method Method, o Options) (*Answer, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if o.Work <= 0 {
		o.Work = DefaultWork
	}
	switch method {
	case All:
		return fixed(in, method, in.every(func(int) bool { return true })), nil
	case Base:
		return fixed(in, method, in.withKept(in.every(in.eligible()))), nil
	case None:
		return fixed(in, method, in.withKept(in.sources())), nil
	case Coverage, Subsumption:
		return keeping(ctx, in, method, o)
	}
	return nil, fmt.Errorf("no method %d", method)
}

// fixed returns the answer of a method without choices.
func fixed(in *Instance, method Method, selected []int) *Answer {
	a := &Answer{Worth: in.worth(method, selected), Status: Optimal, Tied: true, Engine: "rule"}
	a.LowerBound = a.Objective
	return a
}

// withKept adds the candidates that are in every selection.
func (in *Instance) withKept(selected []int) []int {
	return slices.Compact(slices.Sorted(slices.Values(append(selected, in.Keep...))))
}

// keeping searches among the selections that contain the kept candidates. For each of them it
// adds bad examples that nothing else catches: enough that no selection without the candidate
// can reach the threshold. So the search needs no additional rule, and its proof holds.
func keeping(ctx context.Context, in *Instance, method Method, o Options) (*Answer, error) {
	kept := in.withKept(nil)
	_, bad := in.Count()
	if len(kept) == 0 || in.Need > bad {
		return search(ctx, in, method, o) // nothing catches enough in any case
	}
	more := *in
	more.Keep = nil
	more.Good, more.Fails = slices.Clone(in.Good), slices.Clone(in.Fails)
	for _, j := range kept {
		more.Fails[j] = slices.Clone(in.Fails[j])
		for range bad + 1 {
			more.Fails[j] = append(more.Fails[j], len(more.Good))
			more.Good = append(more.Good, false)
		}
	}
	added := len(kept) * (bad + 1)
	more.Need += added
	a, err := search(ctx, &more, method, o)
	if err != nil {
		return nil, err
	}
	a.Best = max(0, a.Best-added)
	if a.Status == Optimal || a.Status == Feasible {
		a.Worth = in.worth(method, a.Selected)
	}
	return a, nil
}

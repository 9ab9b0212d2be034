// Package gate compares two runs of a suite, case by case, and decides whether the change
// between them may merge: numbers in, decision out, no I/O.
//
// Start at [Compare], which pairs the rows of two runs and estimates how each assertion
// and the suite changed, and at [Decide], which applies the rules of a suite to that
// comparison. [DecideAlone] needs no baseline, [CompareColumns] compares the models or
// prompts of one run, [NewPlan] reports before a run what it can decide, and [Flakiness]
// finds assertions that flip without a change.
//
// Functions are safe for concurrent use and do not change their arguments.
package gate

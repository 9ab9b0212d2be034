// Package proviso names the things of the house: what a suite says, what a
// provider answers, what an assertion decides, and the small interfaces through
// which the packages meet. It does no I/O and imports the standard library only.
//
// Start at [Suite] for what is asked, at [Output] for what came back, at
// [Verdict] for what was decided, and at [Provider], [Code], [Grader], [Env] and
// [Spans] for the doors that other packages open.
//
// # Values
//
// A value that came from a suite, a model or a script is an `any` that holds
// what JavaScript would see: nil (null), bool, float64, string, []any, *[Object]
// or [Undefined]. Objects keep their keys in JavaScript's order. [ParseJSON] and
// [AppendJSON] read and write them; [ToString], [ToNumber] and [FormatNumber]
// convert as ECMAScript does.
package proviso

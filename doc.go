// Package proviso defines the types that all packages share: suites, outputs of
// providers, verdicts on assertions, and the small interfaces between the packages.
// It does no I/O and imports the standard library only.
//
// Start at [Suite] for the input, at [Output] for the answer of a provider, at
// [Verdict] for the decision, and at [Provider], [Code], [Grader], [Env] and [Spans]
// for the interfaces that other packages implement.
//
// # Values
//
// A value from a suite, a model or a script is an `any` that holds what JavaScript
// would see: nil (null), bool, float64, string, []any, *[Object] or [Undefined].
// Objects keep their keys in JavaScript's order. [ParseJSON] and [AppendJSON] read
// and write them; [ToString], [ToNumber] and [FormatNumber] convert as ECMAScript
// does.
package proviso

// Package proviso defines the types that all packages share: suites, outputs of
// providers, verdicts on assertions, and the small interfaces between the packages.
// It does no I/O. Data from suites, models and scripts is that of package value.
//
// Start at [Suite] for the input, at [Output] for the answer of a provider, at
// [Verdict] for the decision, and at [Provider], [Code], [Grader], [Env] and [Spans]
// for the interfaces that other packages implement.
package proviso

// Package spade goes from the history of a prompt to the smallest set of assertions
// that catches its failures. [Run] is the pipeline; start there. Each step is a package
// that reads and writes plain values: spade/delta compares the versions of the prompt,
// spade/propose makes candidates of the changes, spade/label asks people which outputs
// are good, spade/matrix tries the candidates on the outputs, spade/subsume finds which
// candidate implies which, spade/selection picks from them, and spade/coverage reports
// which parts of the prompt are checked. With new outputs, spade/update goes on from what
// a run left.
//
// The method is that of Shankar et al., "SPADE: Synthesizing Data Quality Assertions
// for Large Language Model Pipelines", VLDB 2024.
package spade

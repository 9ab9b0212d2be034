// Package spade goes from the history of a prompt to the smallest set of assertions
// that catches its failures. Each step reads and writes plain values: [HistoryOf] makes
// deltas from versions, [Propose] candidates from deltas, [StartLabelling] asks a
// person which outputs are good, [TryAll] makes a matrix of candidates and outputs,
// [Select] picks from it, and [CoverOf] reports which parts of the prompt are checked.
// Start at [HistoryOf].
//
// The method is that of Shankar et al., "SPADE: Synthesizing Data Quality Assertions
// for Large Language Model Pipelines", VLDB 2024.
package spade

// Package ngram measures how many words and word sequences two texts share:
// ROUGE-1, ROUGE-L, BLEU and GLEU.
//
// A text is cut into words by [Fields] or [Treebank]. A reference is counted once
// with [NewReference] and then compared with any number of candidates by
// [Reference.Compare]; the scores are arithmetic on the [Overlap] it returns.
// Nothing here folds case: callers lower both sides first.
package ngram

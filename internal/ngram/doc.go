// Package ngram measures how many words and word sequences two texts share:
// ROUGE-1, ROUGE-L, BLEU and GLEU.
//
// [Fields] or [Treebank] splits a text into words. [Memory.NewReference] counts a
// reference once; [Reference.Compare] then compares it with any number of
// candidates. The scores are arithmetic on the resulting [Overlap]. The package
// does not fold case: callers lower both sides first.
package ngram

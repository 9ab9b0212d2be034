// Package meteor scores a text by how well its words align with those of a
// reference: equal words, equal stems, synonyms, and few gaps. Start at
// [NewReference] and [Reference.Score]; [Stem] is the stemmer.
package meteor

package judge

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso/internal/blobs"
)

// sharedFrom is the length of input and output together, in bytes, from which the
// first call about them is waited for: what it has the vendor read, some 1,000 tokens,
// costs the others a tenth to a half. Shorter ones are asked about at once.
const sharedFrom = 4096

// inTurn returns tasks that make the calls of one judge, and has them share what the
// vendor has read where that saves something. A vendor has read what is shared only
// when it has answered the first of them.
func (s *session) inTurn(ctx context.Context, calls []*batchCall) []func() {
	var tasks []func()
	shares := len(calls) > 1 && len(s.input)+len(s.output) >= sharedFrom
	for _, c := range calls {
		c.shares = shares
		tasks = append(tasks, func() { s.calls.do(func() { c.run(ctx); c.finish() }) })
	}
	if !shares {
		return tasks
	}
	return []func(){func() {
		tasks[0]()
		together(tasks[1:])
	}}
}

// permuted returns units with their assertions, and the criteria of each, in an
// order that follows from what is asked and from the vote: the place of a criterion
// in a list biases the judge, and votes are to differ in that. The first vote keeps
// the order.
func (s *session) permuted(units []unit, vote int) []unit {
	if vote == 0 {
		return units
	}
	turn := func(of string) *rand.Rand {
		raw, _ := hex.DecodeString(blobs.Key("order 1", of, strconv.Itoa(vote))) // a key is hexadecimal
		return rand.New(rand.NewChaCha8([32]byte(raw)))
	}
	all := ""
	out := slices.Clone(units)
	for i, u := range out {
		key := s.items[u.item].key
		all += key
		out[i].criteria = slices.Clone(u.criteria)
		turn(key).Shuffle(len(u.criteria), func(a, b int) {
			c := out[i].criteria
			c[a], c[b] = c[b], c[a]
		})
	}
	turn(all).Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
	return out
}

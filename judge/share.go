package judge

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso/internal/blobs"
)

// sharedFrom is the minimum length of input, context and output together, in bytes, for
// which the other calls wait for the first one. The vendor then has the shared part in
// its cache, about 1,000 tokens, and charges a tenth to a half for it. For shorter texts,
// all calls start at once.
const sharedFrom = 4096

// inTurn returns tasks that make the calls of one judge. If caching by the vendor saves
// money, the first call runs before the others, because the vendor caches the shared
// part only after it has answered one call.
func (s *session) inTurn(ctx context.Context, calls []*batchCall) []func() {
	var tasks []func()
	shares := len(calls) > 1 && len(s.input)+len(s.context)+len(s.output) >= sharedFrom
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

// permuted returns units with assertions and criteria in an order derived from a hash of
// the question and the vote. The position of a criterion biases the judge, so the votes
// use different orders. The first vote keeps the original order.
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

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// costCall is one call to a judge as the vendor counts it.
type costCall struct {
	text     string
	points   []int // where a vendor with explicit caching sets cache points, in bytes of text
	criteria int
}

// costProvider records the calls to a judge in order.
type costProvider struct {
	mu    sync.Mutex
	asked []proviso.Ask
}

func (p *costProvider) ID() string { return "cost" }

func (p *costProvider) Answer(_ context.Context, ask proviso.Ask) (proviso.Output, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, ask)
	return proviso.Output{Value: `{"results":[]}`}, nil // the calls count, not the verdicts
}

// costWorkload is a typical use of judges.
type costWorkload struct {
	name                       string
	cases, outputBytes         int
	assertions, votes, perCall int
}

var costWorkloads = []costWorkload{
	{"200 cases, 10 assertions in one call", 200, 1200, 10, 1, 10},
	{"20 outputs of 4,000 tokens, 30 criteria in chunks of 8", 20, 16000, 30, 1, 8},
	{"200 cases, 10 assertions, 5 votes", 200, 1200, 10, 5, 10},
}

// prose returns a text of this many bytes that begins with a name.
func prose(name string, bytes int) string {
	return (name + " " + strings.Repeat("some words about the matter ", bytes/28+1))[:bytes]
}

// costOf asks a judge about a workload. It returns the calls by case: in the judge's wording, and
// with the assertions before input and output.
func costOf(t *testing.T, w costWorkload) (documents, assertionsFirst [][]costCall) {
	t.Helper()
	var list []judge.Assertion
	for i := range w.assertions {
		list = append(list, judge.Assertion{
			ID: fmt.Sprintf("assertion_%d", i), Instruction: prose(fmt.Sprintf("Instruction %d:", i), 70),
			Criteria: []judge.Criterion{{Text: prose(fmt.Sprintf("Criterion %d:", i), 80)}},
		})
	}
	for n := range w.cases {
		p := &costProvider{}
		j, err := judge.New(judge.Options{Judges: []judge.Seat{{Provider: p}}, Votes: w.votes, Chunk: w.perCall})
		if err != nil {
			t.Fatal(err)
		}
		r := &judge.Request{Input: prose(fmt.Sprintf("Question %d:", n), 240), Output: prose(fmt.Sprintf("Answer %d:", n), w.outputBytes), Assertions: list}
		if _, err := j.Evaluate(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		// Calls are concurrent, so their order is random.
		slices.SortFunc(p.asked, func(a, b proviso.Ask) int { return strings.Compare(a.Prompt, b.Prompt) })
		var own, other []costCall
		for _, ask := range p.asked {
			if ask.Sample.Repair > 0 {
				continue
			}
			a, b := costCalls(t, ask)
			own, other = append(own, a), append(other, b)
		}
		documents, assertionsFirst = append(documents, own), append(assertionsFirst, other)
	}
	return documents, assertionsFirst
}

// costCalls returns a call in the order of the document, and with the assertions first.
func costCalls(t *testing.T, ask proviso.Ask) (own, other costCall) {
	t.Helper()
	v, err := value.ParseJSON(ask.Prompt)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := v.([]any)
	text := func(i int) string {
		o, _ := list[i].(*value.Object)
		return value.ToString(o.At("content"))
	}
	system, user := text(0), text(1)
	fence := judgeFence().FindStringSubmatch(user)[1]
	material, rest, _ := strings.Cut(user, "\n["+fence+" begin assertions]\n")
	inner, end, _ := strings.Cut(rest, "\n["+fence+" end assertions]\n")
	own = costCall{system + user, []int{len(system)}, strings.Count(inner, `"n":`)}
	if ask.Shared > 0 {
		own.points = append(own.points, len(system)+ask.Shared)
	}
	// The fence of the other order would be computed from the assertions.
	before := strings.Repeat("f", len(fence)) + inner
	other = costCall{system + before + material + end, []int{len(system), len(system) + len(before)}, own.criteria}
	return own, other
}

// costPrices are a vendor's prices, relative to an uncached token.
type costPrices struct {
	name        string
	write, read float64
	told        bool // caching is explicit; otherwise automatic, in steps of 128 tokens
}

// bill returns the cost of a workload's prompts, without and with the replies. A token has four
// bytes. The vendor's cache holds the calls of earlier cases, and the first call about an output if
// other calls share its beginning.
func (p costPrices) bill(cases [][]costCall, apart bool) (prompts, all float64) {
	const floor, perCriterion, replyPrice = 1024, 70, 5
	var before []costCall
	for _, calls := range cases {
		known := before
		for i, c := range calls {
			if apart {
				c.points = c.points[:1]
			} else if i == 1 && len(c.points) > 1 {
				known = append(known[:len(known):len(known)], calls[0])
			}
			read, write := 0, 0
			for _, k := range known {
				read = max(read, p.hit(c, k, apart))
			}
			if p.told {
				if last := c.points[len(c.points)-1] / 4; last >= floor {
					write = max(0, last-read)
				}
			} else if read = read / 128 * 128; read < floor {
				read = 0
			}
			anew := float64(len(c.text)/4 - read - write)
			prompts += anew + float64(write)*p.write + float64(read)*p.read
			all += float64(c.criteria * perCriterion * replyPrice)
		}
		before = calls
	}
	return prompts, all + prompts
}

// hit returns how many tokens at the beginning of a call are in the vendor's cache.
func (p costPrices) hit(c, known costCall, apart bool) int {
	n := 0
	for n < min(len(c.text), len(known.text)) && c.text[n] == known.text[n] {
		n++
	}
	if apart {
		n = min(n, c.points[0])
	}
	if !p.told {
		return n / 4
	}
	best := 0
	for _, at := range c.points {
		if at <= n {
			best = at / 4
		}
	}
	return best
}

// TestJudgeCost computes the cost of three workloads in the order of the document, and with the
// assertions first. The order stays as long as the alternative saves at most a fifth.
func TestJudgeCost(t *testing.T) {
	t.Parallel()
	vendors := []costPrices{
		{name: "found by the vendor, 0.5×", write: 1, read: 0.5},
		{name: "found by the vendor, 0.1×", write: 1, read: 0.1},
		{name: "told, written at 1.25×, read at 0.1×", write: 1.25, read: 0.1, told: true},
	}
	var b strings.Builder
	b.WriteString("| workload | cache | nothing of an output shared | output, then assertions | assertions first | which saves |\n|---|---|--:|--:|--:|--:|\n")
	for _, w := range costWorkloads {
		documents, first := costOf(t, w)
		for _, v := range vendors {
			_, apart := v.bill(documents, true)
			prompts, bill := v.bill(documents, false)
			otherPrompts, other := v.bill(first, false)
			if bill > apart*1.001 {
				t.Errorf("%s, %s: sharing costs more than it saves: %.0f, not %.0f", w.name, v.name, bill, apart)
			}
			saves := 1 - other/bill
			if saves > 0.2 {
				t.Errorf("%s, %s: assertions first save %.0f %%", w.name, v.name, 100*saves)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.0f %% (of the prompts %.0f %%) |\n", w.name, v.name,
				thousands(apart), thousands(bill), thousands(other), 100*saves, 100*(1-otherPrompts/prompts))
		}
	}
	wantBlock(t, "docs/judge.md", "judge cost", b.String())
}

// thousands formats a number of tokens.
func thousands(tokens float64) string { return fmt.Sprintf("%.0f k", tokens/1000) }

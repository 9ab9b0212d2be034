package report

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/usd"
)

// An answer from a cache has two prices: its original cost, and its cost in this run, which
// is zero. promptfoo calls the second one incurred.

// bill is the cost of an answer.
type bill struct {
	known          bool
	cost, incurred float64 // US dollars
	usage          proviso.Usage
	cached         bool
}

func billOf(o *proviso.Output) bill {
	b := bill{usage: o.Usage, cached: o.Cached}
	if o.Cost != nil {
		b.known, b.cost, b.incurred = true, *o.Cost, *o.Cost
	}
	if !o.Cached {
		return b
	}
	if once, ok := o.Raw.At("recordedCost").(float64); ok {
		b.known, b.cost = true, once
	}
	b.incurred = 0
	// As in promptfoo: one request, all of whose tokens were cached.
	u := &b.usage
	if u.Total == 0 {
		u.Total = max(u.Prompt+u.Completion, u.Cached)
	}
	u.Cached, u.Requests = max(u.Cached, u.Total), max(u.Requests, 1)
	return b
}

// spent returns the usage that the run incurred.
func (b *bill) spent() proviso.Usage {
	if b.cached {
		return proviso.Usage{}
	}
	return b.usage
}

// keptUsage sums the original usage of the verdicts that came from a cache.
func keptUsage(list []proviso.Verdict) (u proviso.Usage) {
	for i := range list {
		if v := &list[i]; v.Cached {
			u.Add(v.Usage)
		} else {
			u.Add(keptUsage(v.Components))
		}
	}
	return u
}

// without returns u minus other.
func without(u, other proviso.Usage) proviso.Usage {
	return proviso.Usage{
		Prompt: u.Prompt - other.Prompt, Completion: u.Completion - other.Completion, Cached: u.Cached - other.Cached,
		Total: u.Total - other.Total, Requests: u.Requests - other.Requests,
	}
}

// spent formats the tokens and the cost of a run, if there are any, and the incurred cost
// if it is lower.
func spent(t proviso.Totals) (list []string) {
	if t.Usage.Total > 0 {
		list = append(list, plural.Of(int(t.Usage.Total), "token"))
	}
	if t.Cost > 0 {
		text := usd.Text(t.Cost)
		if t.Incurred < t.Cost {
			text += " (incurred " + usd.Text(t.Incurred) + ")"
		}
		list = append(list, text)
	}
	return list
}

package engine

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
)

const (
	// usualAnswer is the assumed number of tokens of an answer. Most answers are
	// shorter.
	usualAnswer = 300
	// bytesPerToken is a good estimate for most languages in Latin script.
	bytesPerToken = 4
)

// Estimate is the estimated usage of a run.
type Estimate struct {
	Calls  int
	Priced int     // calls to providers with a known price
	Tokens int64   // prompt tokens of the calls with a price
	Answer int     // tokens per answer
	Cost   float64 // US dollars

	Unpriced      []string // names of providers without a known price
	UnpricedCalls int
}

// Estimate adds up the expected requests of a plan to models. It leaves out recorded answers
// and providers that call no model.
func (e *Engine) Estimate(demands []*run.Demand) Estimate {
	var sum Estimate
	for _, d := range demands {
		tariff, asked := e.tariff(d.Provider)
		if !asked {
			continue // echo and recorded answers cost nothing
		}
		sum.Calls += d.Calls
		if tariff == nil {
			sum.Unpriced = append(sum.Unpriced, d.Name)
			sum.UnpricedCalls += d.Calls
			continue
		}
		answer := usualAnswer
		if tariff.MaxTokens > 0 {
			answer = min(answer, tariff.MaxTokens)
		}
		sum.Priced += d.Calls
		sum.Answer = max(sum.Answer, answer)
		sum.Tokens += d.Bytes / bytesPerToken
		sum.Cost += float64(d.Bytes)/bytesPerToken*tariff.Input + float64(d.Calls*answer)*tariff.Output
	}
	return sum
}

// String returns the estimate on one line.
func (e Estimate) String() string {
	text := fmt.Sprintf("%s, about %d tokens of prompts; with answers of %d tokens they cost %s",
		plural.Of(e.Calls, "call"), e.Tokens, e.Answer, report.RoughCost(e.Cost))
	if len(e.Unpriced) > 0 {
		const most = 3
		names := strings.Join(e.Unpriced[:min(len(e.Unpriced), most)], ", ")
		if len(e.Unpriced) > most {
			names += ", …"
		}
		text += fmt.Sprintf(", without those to %s (%d), whose price is not known", names, e.UnpricedCalls)
	}
	return text
}

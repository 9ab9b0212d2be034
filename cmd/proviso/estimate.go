package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/run"
)

// costCap is the value of --max-cost. The zero value is no limit.
type costCap struct {
	set bool
	usd float64
}

// Set reads an amount.
func (c *costCap) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0) || math.IsInf(f, 0) {
		return errors.New("expected an amount in US dollars, such as 0.50")
	}
	c.set, c.usd = true, f
	return nil
}

// String returns the amount, "" if there is none.
func (c *costCap) String() string {
	if !c.set {
		return ""
	}
	return strconv.FormatFloat(c.usd, 'g', -1, 64)
}

// Type is for messages of the flag's package.
func (*costCap) Type() string { return "USD" }

const (
	// largeRun is the number of priced calls from which a run gets an estimate before
	// it begins.
	largeRun = 100
	// usualAnswer is the assumed number of tokens of an answer. Most answers are
	// shorter.
	usualAnswer = 300
	// bytesPerToken is a good estimate for most languages in Latin script.
	bytesPerToken = 4
)

// forecast is the estimated usage of a run.
type forecast struct {
	calls  int
	priced int
	tokens int64 // of the prompts with a price
	answer int   // tokens of an answer
	usd    float64

	unpriced      []string // names of providers without a known price
	unpricedCalls int
}

// estimate describes in a line the usage of a large run, or of one that --max-cost will
// stop; "" for other runs.
func (f *modelFlags) estimate(m *engine.Engine, demands []*run.Demand) string {
	e := forecastOf(m, demands)
	stops := f.maxCost.set && e.usd > f.maxCost.usd
	if f.replay != "" || e.priced == 0 || e.priced < largeRun && !stops {
		return ""
	}
	text := e.String()
	if stops {
		text += "; --max-cost " + f.maxCost.String() + " will stop it"
		if m.Cache() != nil {
			text += ", unless answers are in the cache"
		}
	}
	return text
}

func forecastOf(m *engine.Engine, demands []*run.Demand) forecast {
	var e forecast
	for _, d := range demands {
		tariff, asked := m.Tariff(d.Provider)
		if !asked {
			continue // echo and recorded answers cost nothing
		}
		e.calls += d.Calls
		if tariff == nil {
			e.unpriced = append(e.unpriced, d.Name)
			e.unpricedCalls += d.Calls
			continue
		}
		answer := usualAnswer
		if tariff.MaxTokens > 0 {
			answer = min(answer, tariff.MaxTokens)
		}
		e.priced += d.Calls
		e.answer = max(e.answer, answer)
		e.tokens += d.Bytes / bytesPerToken
		e.usd += float64(d.Bytes)/bytesPerToken*tariff.Input + float64(d.Calls*answer)*tariff.Output
	}
	return e
}

// String returns the forecast on one line.
func (e *forecast) String() string {
	text := fmt.Sprintf("%s, about %d tokens of prompts; with answers of %d tokens they cost %s",
		plural(e.calls, "call"), e.tokens, e.answer, roughly(e.usd))
	if len(e.unpriced) > 0 {
		const most = 3
		names := strings.Join(e.unpriced[:min(len(e.unpriced), most)], ", ")
		if len(e.unpriced) > most {
			names += ", …"
		}
		text += fmt.Sprintf(", without those to %s (%d), whose price is not known", names, e.unpricedCalls)
	}
	return text
}

// roughly rounds an estimate to two digits.
func roughly(usd float64) string {
	digits := 0
	if usd > 0 && usd < 10 {
		digits = 1 - int(math.Floor(math.Log10(usd)))
	}
	return "$" + strconv.FormatFloat(usd, 'f', digits, 64)
}

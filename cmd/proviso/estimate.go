package main

import (
	"fmt"
	"math"
	"strconv"

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
		return fmt.Errorf("expected an amount in US dollars, such as 0.50, found %q", text)
	}
	c.set, c.usd = true, f
	return nil
}

// String returns the amount, "" if there is none.
func (c *costCap) String() string {
	if !c.set {
		return ""
	}
	return strconv.FormatFloat(c.usd, 'f', -1, 64) // without an exponent, as amounts are written everywhere
}

// Type is for messages of the flag's package.
func (*costCap) Type() string { return "USD" }

// largeRun is the number of priced calls from which a run gets an estimate before it
// begins.
const largeRun = 100

// estimate describes in a line the usage of a large run, or of one that --max-cost will
// stop; "" for other runs.
func (f *modelFlags) estimate(m *engine.Engine, demands []*run.Demand) string {
	e := m.Estimate(demands)
	stops := f.maxCost.set && e.Cost > f.maxCost.usd
	if f.replay != "" || e.Priced == 0 || e.Priced < largeRun && !stops {
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

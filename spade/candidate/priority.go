package candidate

import (
	"fmt"
	"math"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/spade/solve"
	"github.com/proviso-eval/proviso/value"
)

// The keys under config, spade, that hold people's priorities for the selection.
const (
	pinKey  = "pin"
	banKey  = "ban"
	costKey = "cost"
)

// readPriorities reads the priorities that people gave a candidate.
func readPriorities(c *proviso.Candidate, from *value.Object) {
	c.Pin, _ = from.At(pinKey).(bool)
	c.Ban, _ = from.At(banKey).(bool)
	cost, _ := from.At(costKey).(float64)
	c.Cost = int(min(max(cost, 0), solve.MaxCost))
}

// setPriorities writes the priorities that people gave a candidate.
func setPriorities(o *value.Object, c *proviso.Candidate) {
	if c.Pin {
		o.Set(pinKey, true)
	}
	if c.Ban {
		o.Set(banKey, true)
	}
	if c.Cost > 0 {
		o.Set(costKey, float64(c.Cost))
	}
}

// wrongPriorities returns the mistakes in the priorities of the assertion at a pointer.
func wrongPriorities(a *proviso.Assertion, doc *document.Document, at string) (wrong proviso.Mistakes) {
	if a.Config == nil {
		return nil
	}
	from, ok := a.Config.At(ProvenanceKey).(*value.Object)
	if !ok {
		return nil
	}
	at += "/config/" + ProvenanceKey
	mistake := func(key, format string, args ...any) {
		wrong = append(wrong, proviso.Mistake{Place: doc.Place(at + "/" + key), Code: proviso.Invalid, Message: fmt.Sprintf(format, args...)})
	}
	for _, key := range []string{pinKey, banKey} {
		if v, ok := from.Get(key); ok {
			if _, is := v.(bool); !is {
				mistake(key, "%s is %s; true or false is expected", key, value.Stringify(v))
			}
		}
	}
	if from.At(pinKey) == true && from.At(banKey) == true {
		mistake(banKey, "%s is pinned and banned; choose one", value.Stringify(a.ID))
	}
	if v, ok := from.Get(costKey); ok {
		if n, is := v.(float64); !is || n != math.Trunc(n) || n < 1 || n > solve.MaxCost {
			mistake(costKey, "cost is %s; a whole number from 1 to %d is expected", value.Stringify(v), solve.MaxCost)
		}
	}
	return wrong
}

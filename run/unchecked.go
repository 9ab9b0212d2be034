package run

import (
	"fmt"

	"github.com/proviso-eval/proviso"
)

// unchecked counts the cases without assertions, which pass for every output.
type unchecked struct {
	cases int
	first string // pointer
}

func (u *unchecked) add(pc *prepared) {
	if pc.Broken || pc.Generator != nil || len(pc.Assert) > 0 || len(pc.Set) > 0 || len(pc.byPrompt) > 0 || pc.Scoring != "" {
		return
	}
	if u.cases == 0 {
		u.first = pc.Pointer
	}
	u.cases++
}

// warn reports their number once, at the first of them.
func (u *unchecked) warn(p *Plan) {
	if u.cases == 0 {
		return
	}
	text := fmt.Sprintf("%d of %d cases have no assertions: they pass for every output", u.cases, p.Cases)
	if u.cases == 1 {
		text = fmt.Sprintf("1 of %d cases has no assertion: it passes for every output", p.Cases)
	}
	if p.Cases == 1 {
		text = "the case has no assertion: it passes for every output"
	}
	e := proviso.Errorf(proviso.Invalid, "%s", text)
	e.Pointer, e.Warning = u.first, true
	p.mistake(e)
}

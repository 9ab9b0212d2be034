package suite

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// CaseMistake turns an error of [proviso.CaseSource], or another error with a pointer
// into a suite, into a mistake with its place and the nearest valid name.
func CaseMistake(places proviso.Places, err error) proviso.Mistake {
	m := mistakeOf(err)
	e, ok := err.(*proviso.Error)
	if !ok {
		return m
	}
	m.Warning = e.Warning
	if m.Place.File == "" {
		m.Place = places.Place(e.Pointer)
	}
	if m.Nearest == "" {
		m.Nearest = document.Nearest(document.Last(e.Pointer), e.Valid)
	}
	return m
}

package assertion

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// Mistake reports a mistake at a pointer.
func (d *Decoder) Mistake(at, format string, args ...any) {
	d.Failed = true
	if d.unchecked {
		return
	}
	d.Report(proviso.ErrorAt(at, proviso.Invalid, format, args...))
}

// Warn reports a warning at a pointer.
func (d *Decoder) Warn(at, format string, args ...any) {
	if d.unchecked {
		return
	}
	e := proviso.ErrorAt(at, proviso.Invalid, format, args...)
	e.Warning = true
	d.Report(e)
}

// UnknownKey reports an unknown key: an error, or a warning if the decoder is
// lenient. hint is what to write instead, if known.
func (d *Decoder) UnknownKey(at, key, of string, valid []string, hint string) {
	if d.unchecked {
		return
	}
	d.Failed = d.Failed || !d.Lenient
	if d.Enough != nil && d.Enough() {
		return // finding the nearest name takes time
	}
	e := proviso.Errorf(proviso.Invalid, "unknown key %q in %s", key, of)
	e.Pointer, e.Valid, e.Warning = document.Join(at, key)+document.KeyMark, document.Suggest(key, valid), d.Lenient
	if hint != "" {
		e.Message += "; write " + hint
		e.Valid = nil
	}
	d.Report(e)
}

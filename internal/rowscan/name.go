package rowscan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// StatusOf reads a status as written in a row, with its quotes. Any other text is an
// error.
func StatusOf(raw []byte) proviso.Status {
	switch string(raw) {
	case `"pass"`:
		return proviso.Pass
	case `"fail"`:
		return proviso.Fail
	case `"skip"`:
		return proviso.Skip
	}
	return proviso.Errored
}

// IsSet reports whether an assertion is a set, whose members have verdicts of their own.
func IsSet(assertion *value.Object) bool {
	return strings.TrimPrefix(assertion.Text("type"), "not-") == proviso.TypeSet
}

// maxValue is the number of bytes of a value in a name.
const maxValue = 60

// NameOf names an assertion in a row: by its id, else its metric, else its type and
// value. A value that is too long for a name is cut and followed by part of its
// hash.
func NameOf(o *value.Object) string {
	if name := cmp.Or(o.Text("id"), o.Text("metric")); name != "" {
		return name
	}
	kind := TypeOf(o)
	var text string
	for _, key := range [...]string{"value", "instruction", "criteria", "check"} {
		switch v := o.At(key).(type) {
		case nil, value.Undefined:
			continue
		case string:
			text = v
		default:
			text = value.Stringify(v)
		}
		break
	}
	if text == "" {
		return kind
	}
	if len(text) <= maxValue {
		return kind + " " + text
	}
	sum := sha256.Sum256([]byte(text))
	return kind + " " + excerpt.Bytes(text, maxValue) + " #" + hex.EncodeToString(sum[:3])
}

// TypeOf returns the type of an assertion; an assertion without one is judged.
func TypeOf(o *value.Object) string { return cmp.Or(o.Text("type"), proviso.TypeJudge) }

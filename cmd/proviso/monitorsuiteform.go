package main

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/value"
)

// requestForm gives assertions of a suite, as `proviso spade run` writes them, the form that
// assertion sets of watches have: the type and what belongs to it stand under check, and the
// description is the instruction. Those that have this form already stay as they are.
func requestForm(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	out := make([]any, len(list))
	for i, v := range list {
		if out[i] = v; v == nil {
			continue
		}
		if o, ok := v.(*value.Object); ok {
			out[i] = requestFormOf(o)
		}
	}
	return out
}

func requestFormOf(o *value.Object) *value.Object {
	name, ok := o.At("type").(string)
	if !ok || o.Has("check") || o.Has("instruction") {
		return o
	}
	judged := strings.TrimPrefix(name, "not-") == proviso.TypeJudge
	out, check := value.NewObject(o.Len()), value.NewObject(o.Len())
	for key, v := range o.All() {
		k := assertion.KeyOf(key)
		switch {
		case key == "description":
			out.Set("instruction", v)
		case judged, key != "type" && k != nil && k.Field != 0:
			out.Set(key, v)
		default:
			check.Set(key, v)
		}
	}
	if !judged {
		out.Set("check", check)
	}
	return out
}

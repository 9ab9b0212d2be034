package provider

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// stored returns an output in the form of the cache and cassettes. It has the names of [outputOf],
// except that unknown members of the response are under raw.
func stored(out *proviso.Output) *value.Object {
	o := value.ObjectOf("output", out.Value)
	set := func(key string, present bool, v any) {
		if present {
			o.Set(key, v)
		}
	}
	if out.Cost != nil {
		o.Set("cost", *out.Cost)
	}
	if out.Latency != nil {
		o.Set("latencyMs", toMilliseconds(*out.Latency))
	}
	if u := out.Usage; u != (proviso.Usage{}) {
		o.Set("tokenUsage", value.ObjectOf("total", float64(u.Total), "prompt", float64(u.Prompt),
			"completion", float64(u.Completion), "cached", float64(u.Cached), "numRequests", float64(u.Requests)))
	}
	set("error", out.Error != "", out.Error)
	set("finishReason", out.FinishReason != "", out.FinishReason)
	set("logProbs", out.LogProbs != nil, value.Of(out.LogProbs))
	set("toolCalls", out.ToolCalls != nil, out.ToolCalls)
	set("isRefusal", out.Refused, true)
	set("guardrails", out.Guardrails != nil, out.Guardrails)
	set("metadata", out.Metadata != nil, out.Metadata)
	set("traceId", out.TraceID != "", out.TraceID)
	set("raw", out.Raw != nil, out.Raw)
	return o
}

// toMilliseconds is d in milliseconds, rounded to the microsecond.
func toMilliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)/time.Microsecond) / 1000
}

// restored is the inverse of stored; false if o is not an output.
func restored(o *value.Object) (proviso.Output, bool) {
	out := proviso.Output{}
	if !o.Has("output") {
		return out, false
	}
	for key, v := range o.All() {
		ok := true
		switch key {
		case "raw":
			out.Raw, ok = v.(*value.Object)
		case "traceId":
			out.TraceID, ok = v.(string)
		case "latencyMs":
			var ms float64
			if ms, ok = v.(float64); ok {
				d := time.Duration(math.Round(ms*1000)) * time.Microsecond
				out.Latency = &d
			}
		default:
			ok = setField(&out, key, v)
		}
		if !ok {
			return out, false
		}
	}
	return out, true
}

// keepable reports whether an answer may be stored. Errors and answers without a value may not.
func keepable(out *proviso.Output) bool {
	return out.Error == "" && !empty(out.Value)
}

// sampleKey is a sample as part of a key.
func sampleKey(s proviso.Sample) string {
	return value.Stringify([]any{float64(s.Repeat), float64(s.Vote), float64(s.Repair)})
}

// storedClasses returns class scores in stored form, sorted by name.
func storedClasses(scores map[string]float64) *value.Object {
	classes := value.NewObject(len(scores))
	for _, label := range slices.Sorted(maps.Keys(scores)) {
		classes.Set(label, scores[label])
	}
	return classes
}

func restoredClasses(v any) map[string]float64 {
	scores := map[string]float64{}
	for label, score := range object(v).All() {
		scores[label], _ = score.(float64)
	}
	return scores
}

// storedFlags returns moderation flags in stored form.
func storedFlags(flags []proviso.Flag) []any {
	list := make([]any, len(flags))
	for i, f := range flags {
		list[i] = value.ObjectOf("code", f.Code, "description", f.Description, "confidence", f.Confidence)
	}
	return list
}

func restoredFlags(v any) []proviso.Flag {
	var flags []proviso.Flag
	for _, e := range list(v) {
		f := proviso.Flag{Code: object(e).Text("code"), Description: object(e).Text("description")}
		f.Confidence, _ = object(e).At("confidence").(float64)
		flags = append(flags, f)
	}
	return flags
}

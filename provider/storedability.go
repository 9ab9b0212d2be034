package provider

import (
	"maps"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// storedVector is a vector in the form of the cache and cassettes.
func storedVector(vector []float64) []any {
	list := make([]any, len(vector))
	for i, f := range vector {
		list[i] = f
	}
	return list
}

// storedClasses are class scores as they are kept, sorted by name.
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

// storedFlags are moderation flags as they are kept.
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
		f := proviso.Flag{Code: str(object(e).At("code")), Description: str(object(e).At("description"))}
		f.Confidence, _ = object(e).At("confidence").(float64)
		flags = append(flags, f)
	}
	return flags
}

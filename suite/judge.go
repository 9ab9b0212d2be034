package suite

import (
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// judgeKeys returns the keys of judge, sorted, in addition to those of a provider.
func judgeKeys() []keyRow {
	return []keyRow{
		{Key: "canaries", Kind: kind.Boolean, Doc: "whether to add questions with a known answer, to notice a prompt injection"},
		{Key: "chunk", Kind: kind.Number, Doc: "criteria in one call, 8 by default"},
		{Key: "mode", Kind: kind.Text, Doc: "batch (assertions share calls, the default) or single (a call for each assertion)"},
		{Key: "model", Support: wrong, Right: "id", Doc: "the model is part of the id, such as openai:chat:gpt-5"},
		{Key: "panel", Kind: kind.List, Doc: "several judges, whose votes are counted together, in place of one"},
		{Key: "provider", Support: wrong, Right: "id", Doc: "the provider of a judge is its id"},
		{Key: "providers", Support: wrong, Right: "panel", Doc: "several judges are a panel"},
		{Key: "temperature", Kind: kind.Number, Doc: "of every call, 0 by default"},
		{Key: "votes", Kind: kind.Number, Doc: "how often each judge is asked, 1 by default; the majority decides"},
	}
}

// judgeModes are the values of mode.
var judgeModes = []string{"batch", "single"}

const (
	maxVotes = 25
	maxChunk = 100
)

// judge reads the judge: a provider as in the list of providers, the label of a
// provider of the suite, or a panel of them, and how they are asked.
func (r *reading) judge(s *proviso.Suite, doc *document.Document, cfg *value.Object) {
	v := cfg.At("judge")
	o, isObject := v.(*value.Object)
	if !isObject {
		s.Judge.Panel = r.panel(s, doc, "/judge", v)
		return
	}
	who, how := value.NewObject(o.Len()), value.NewObject(o.Len())
	all := append(judgeKeys(), providerKeys()...)
	for key, e := range o.All() {
		if _, own := findRow(judgeKeys(), key); own {
			how.Set(key, e)
		} else if _, known := findRow(providerKeys(), key); known || o.Len() == 1 { // {"the id": {…}}
			who.Set(key, e)
		} else {
			r.unknownKey(doc, document.Join("/judge", key), key, all)
		}
	}
	r.keys(doc, "/judge", how, judgeKeys())
	switch panel := how.At("panel"); {
	case panel == nil && who.Len() > 0:
		s.Judge.Panel = r.panel(s, doc, "/judge", who)
	case panel != nil && who.Len() > 0:
		r.mistake(doc, "/judge/panel", proviso.Invalid, nil, "a judge is one provider with an id, or a panel of several, not both")
	case panel != nil:
		s.Judge.Panel = r.panel(s, doc, "/judge/panel", panel)
	}
	r.asked(&s.Judge, doc, how)
}

// asked reads how the judges are asked.
func (r *reading) asked(j *proviso.JudgeSpec, doc *document.Document, o *value.Object) {
	j.Mode, _ = o.At("mode").(string)
	if j.Mode != "" && !slices.Contains(judgeModes, j.Mode) {
		r.mistake(doc, "/judge/mode", proviso.Invalid, document.Suggest(j.Mode, judgeModes), "the mode of a judge is batch or single, not %s", quoteName(j.Mode))
	}
	j.Canaries, _ = o.At("canaries").(bool)
	count := func(key string, most float64, to *int) {
		f, ok := o.At(key).(float64)
		if !ok {
			return
		}
		if f != math.Trunc(f) || f < 1 || f > most {
			r.mistake(doc, "/judge/"+key, proviso.Invalid, nil, "%s is a whole number from 1 to %s, not %s", key, value.FormatNumber(most), value.FormatNumber(f))
			return
		}
		*to = int(f)
	}
	count("votes", maxVotes, &j.Votes)
	count("chunk", maxChunk, &j.Chunk)
	if t, ok := o.At("temperature").(float64); ok {
		if !(t >= 0 && t <= 2) {
			r.mistake(doc, "/judge/temperature", proviso.Invalid, nil, "the temperature of a judge is a number from 0 to 2, not %s", value.FormatNumber(t))
		}
		j.Temperature = &t
	}
}

// panel reads one judge or a list of them.
func (r *reading) panel(s *proviso.Suite, doc *document.Document, at string, v any) []proviso.ProviderSpec {
	if v == nil {
		return nil
	}
	p := providerReader{reading: r}
	p.all(doc, at, v)
	for i, spec := range p.list {
		for _, own := range s.Providers {
			if own.Label != "" && own.Label == spec.ID {
				p.list[i] = own
			}
		}
	}
	return p.list
}

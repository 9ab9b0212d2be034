package judge

import (
	"strconv"

	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

// verdictKey returns the key of a stored verdict: a hash of judge, input, output,
// assertion and sample. It ignores the other assertions of the call on purpose, so that
// changing one assertion keeps the verdicts on the others.
func (s *session) verdictKey(n, seat, vote int) string {
	parts := []string{"verdict 1", s.j.judgeKey(s.judges[seat]), s.about, s.items[n].key, strconv.Itoa(s.sample.Repeat), strconv.Itoa(vote)}
	if s.items[n].negated { // a negated assertion needs stronger evidence
		parts = append(parts, "negated")
	}
	return blobs.Key(parts...)
}

// recall fills in a vote from the store. It ignores an incomplete entry.
func (s *session) recall(n, seat, vote int, b *itemVote) bool {
	if s.j.o.Store == nil {
		return false
	}
	entry, _, err := s.j.o.Store.Get(s.verdictKey(n, seat, vote))
	list, _ := entry.At("criteria").([]any)
	if err != nil || len(list) != len(b.rulings) {
		return false
	}
	rulings := make([]ruling, len(list))
	for k, v := range list {
		o, _ := v.(*value.Object)
		r := ruling{says: keptOpinion(o)}
		if r.says == saysNothing {
			return false
		}
		r.reasoning = o.Text("reasoning")
		r.note = o.Text("note")
		quotes, _ := o.At("evidence").([]any)
		for _, q := range quotes {
			if text, ok := q.(string); ok {
				kept, _ := s.quotes.verify([]string{text}) // the stored file may have been changed
				r.evidence = append(r.evidence, kept...)
			}
		}
		rulings[k] = r
	}
	b.rulings, b.stored = rulings, true
	return true
}

// keep stores a vote without errors. It ignores write errors, because they do not affect
// the verdict.
func (s *session) keep(n, seat, vote int) {
	b := s.voteOn(n, seat, vote)
	if s.j.o.Store == nil {
		return
	}
	it := &s.items[n]
	criteria := make([]any, len(b.rulings))
	for k := range b.rulings {
		r := &b.rulings[k]
		if r.err != nil {
			return
		}
		quotes := make([]any, len(r.evidence))
		for i, e := range r.evidence {
			quotes[i] = e.Quote
		}
		o := value.ObjectOf("criterion", it.texts[k])
		if r.says == saysCannotTell {
			o.Set("cannot_tell", true)
		} else {
			o.Set("met", r.says == saysMet)
		}
		o.Set("reasoning", r.reasoning)
		o.Set("evidence", quotes)
		o.SetText("note", r.note)
		criteria[k] = o
	}
	_ = s.j.o.Store.Put(s.verdictKey(n, seat, vote), value.ObjectOf(
		"judge", s.j.label(s.judges[seat]), "assertion", it.id, "instruction", it.instruction, "criteria", criteria))
}

// keptOpinion reads the verdict of an entry. "Cannot tell" is stored, too: it was paid
// for, and asking again would give the same answer.
func keptOpinion(o *value.Object) opinion {
	switch {
	case o.At("cannot_tell") == true:
		return saysCannotTell
	case o.At("met") == true:
		return saysMet
	case o.At("met") == false:
		return saysNotMet
	}
	return saysNothing
}

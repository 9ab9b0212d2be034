package judge

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// usualMaterial estimates how many bytes a call has besides the question: proviso's own
// prompt, and the output, which is unknown in advance.
const usualMaterial = 2500

var _ proviso.Forecaster = (*Judge)(nil)

// Forecast implements [proviso.Forecaster]. It ignores repair calls and verdicts that
// are already stored.
func (j *Judge) Forecast(qs []proviso.Question) []proviso.Forecast {
	var all []proviso.Forecast
	criteria, bytes := 0, 0
	for _, q := range qs {
		if q.Type == judged && q.Grader == nil {
			criteria += len(q.Criteria)
			bytes += sizeOf(q)
			continue
		}
		s, err := j.able(q, rolesOf(q.Type)[0])
		if err != nil {
			continue
		}
		calls := j.calls(q)
		all = append(all, proviso.Forecast{Provider: s.Provider, Calls: calls, Bytes: int64(calls * (usualMaterial + sizeOf(q)))})
	}
	if criteria == 0 {
		return all
	}
	for _, s := range j.o.Judges {
		calls := j.o.Votes * ((criteria + j.o.Chunk - 1) / j.o.Chunk)
		if j.o.Mode == Single {
			calls = j.o.Votes * len(qs)
		}
		all = append(all, proviso.Forecast{Provider: s.Provider, Calls: calls, Bytes: int64(calls*usualMaterial + j.o.Votes*bytes)})
	}
	return all
}

// calls returns the least number of calls for one question.
func (j *Judge) calls(q proviso.Question) int {
	if q.Type == judged {
		return j.o.Votes * ((len(q.Criteria) + j.o.Chunk - 1) / j.o.Chunk)
	}
	k := j.kindOf(q.Type)
	calls := max(1, k.Calls)
	if list, ok := q.Value.([]any); ok && k.PerValue {
		calls *= len(list)
	}
	return calls
}

// sizeOf returns the size of a question in bytes.
func sizeOf(q proviso.Question) int {
	n := len(q.Instruction)
	for _, c := range q.Criteria {
		n += len(c.Text)
	}
	switch v := q.Value.(type) {
	case nil, value.Undefined:
	case string:
		n += len(v)
	default:
		n += len(value.Stringify(v))
	}
	return n
}

package judge

import (
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

// judgeKey is a hash of everything that determines a verdict besides the question: the
// model and its configuration, the temperature, the prompt and the mode. It is part of
// the key of stored verdicts.
func (j *Judge) judgeKey(s Seat) string {
	identity := s.Identity
	if identity == "" {
		identity = s.Spec.ID + " " + value.Stringify(proviso.Keyless(s.Spec.Config))
	}
	temperature := "its own"
	if t, ok := j.temperature(s); ok {
		temperature = value.FormatNumber(t)
	}
	mode := string(j.o.Mode) + " " + strconv.Itoa(j.o.Chunk)
	return blobs.Key("judge 1", identity, temperature, promptVersion(), mode, strconv.FormatBool(j.o.Canaries))
}

// Identity returns the name of the judge for reports: its model, and a hash of model,
// parameters, prompt, mode and votes. It is empty if the options name no judge.
func (j *Judge) Identity() string { return j.identity(j.o.Judges) }

// identity returns the joint identity of judges whose votes are counted together.
func (j *Judge) identity(judges []Seat) string {
	if len(judges) == 0 {
		return ""
	}
	names := make([]string, len(judges))
	parts := []string{strconv.Itoa(j.o.Votes)}
	for i, s := range judges {
		names[i] = j.label(s)
		parts = append(parts, j.judgeKey(s))
	}
	return strings.Join(names, "+") + "#" + blobs.Key(parts...)[:12]
}

// judgesOf returns the judges of a question: the grader that it names, or those of the
// options.
func (j *Judge) judgesOf(q proviso.Question) ([]Seat, error) {
	if q.Grader == nil && len(j.o.Judges) > 0 {
		return j.o.Judges, nil
	}
	s, err := j.able(q, Text)
	if err != nil {
		return nil, err
	}
	return []Seat{s}, nil
}

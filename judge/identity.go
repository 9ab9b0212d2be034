package judge

import (
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
)

// seatKey identifies what gives a verdict: the model and its configuration, the
// temperature, the words of the prompt, and the mode. Verdicts are kept under it.
func (j *Judge) seatKey(s Seat) string {
	identity := s.Identity
	if identity == "" {
		identity = s.Spec.ID + " " + proviso.Stringify(proviso.Keyless(s.Spec.Config))
	}
	temperature := "its own"
	if t, ok := j.temperature(s); ok {
		temperature = proviso.FormatNumber(t)
	}
	mode := string(j.o.Mode) + " " + strconv.Itoa(j.o.Chunk)
	return blobs.Key("judge 1", identity, temperature, promptVersion(), mode, strconv.FormatBool(j.o.Canaries))
}

// Identity names the judge for reports: its model, and a hash of model,
// parameters, prompt, mode and votes. It is empty without a judge of its own.
func (j *Judge) Identity() string { return j.identity(j.o.Judges) }

// identity names some judges, whose votes are counted together.
func (j *Judge) identity(seats []Seat) string {
	if len(seats) == 0 {
		return ""
	}
	names := make([]string, len(seats))
	parts := []string{strconv.Itoa(j.o.Votes)}
	for i, s := range seats {
		names[i] = s.label()
		parts = append(parts, j.seatKey(s))
	}
	return strings.Join(names, "+") + "#" + blobs.Key(parts...)[:12]
}

// seats are the judges of a question: the grader that it names, or else those of
// the options.
func (j *Judge) seats(q proviso.Question) ([]Seat, error) {
	if q.Grader == nil && len(j.o.Judges) > 0 {
		return j.o.Judges, nil
	}
	s, err := j.able(q, Text)
	if err != nil {
		return nil, err
	}
	return []Seat{s}, nil
}

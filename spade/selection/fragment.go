package selection

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/value"
)

// Fragment writes the selected candidates as part of a suite, with comments on what each
// catches and its origin. It writes an assertion set or, if each is set, the assertions of
// defaultTest, which are scored together with those of the cases. If list lacks selected
// candidates, the error names them all.
func (s *Selection) Fragment(list []proviso.Candidate, each bool) ([]byte, error) {
	byName := map[string]*proviso.Candidate{}
	var names, missing []string
	for i := range list {
		byName[list[i].Name] = &list[i]
		names = append(names, list[i].Name)
	}
	for _, name := range s.Selected() {
		if byName[name] == nil {
			missing = append(missing, value.Stringify(name))
		}
	}
	if len(missing) > 0 {
		e := proviso.Errorf(proviso.Invalid, "no candidate has the name %s of what was selected", strings.Join(missing, ", "))
		if near := document.Nearest(strings.Trim(missing[0], `"`), names); near != "" {
			e.Valid = []string{near}
		}
		return nil, e
	}
	var y format.YAML
	for _, line := range s.head() {
		y.Comment("", line)
	}
	indent := ""
	if each {
		y.WriteString("defaultTest:\n")
		indent = "  "
	}
	s.members(&y, byName, indent, each)
	return y.Bytes(), nil
}

// Suite is [Selection.Fragment] if something was selected, else an empty assertion set.
func (s *Selection) Suite(list []proviso.Candidate, each bool) ([]byte, error) {
	if !s.Found() {
		return []byte("# Nothing was selected.\nassertions: []\n"), nil
	}
	return s.Fragment(list, each)
}

// members writes the assertion list under its key.
func (s *Selection) members(y *format.YAML, byName map[string]*proviso.Candidate, indent string, each bool) {
	key := "assertions"
	if each {
		key = "assert"
	}
	y.WriteString(indent + key + ":")
	if len(s.Answer.Selected) == 0 {
		y.WriteString(" []\n")
		return
	}
	y.WriteByte('\n')
	for _, a := range s.Accounts() {
		if a.Fate != Selected {
			continue
		}
		c := byName[a.Name]
		y.Comment(indent+"  ", a.Name+": "+s.worth(&a))
		if from := candidate.Origin(c); from != "" {
			y.Comment(indent+"  ", "from "+from)
		}
		o := candidate.Object(c, false)
		if each {
			o = inTest(o)
		}
		y.Item(indent+"  ", o)
	}
}

// inTest converts an assertion of a set to one of a case, with its name as metric.
func inTest(o *value.Object) *value.Object {
	out := value.NewObject(o.Len())
	for key, v := range o.All() {
		switch {
		case key == "id" && o.Has("instruction"): // reports name a judged assertion by its id
			out.Set("id", v)
		case key == "id" && !o.Has("metric"):
			out.Set("metric", v)
		case key != "id":
			out.Set(key, v)
		}
	}
	return out
}

// head returns comment lines on how the selection was made.
func (s *Selection) head() []string {
	o := s.Options
	lines := []string{fmt.Sprintf("Selected by proviso spade select: %d of %d candidates, method %s.", len(s.Answer.Selected), len(s.Matrix.Names), o.Method)}
	if s.Good+s.Bad > 0 {
		lines = append(lines,
			fmt.Sprintf("They catch %s of %d bad outputs and fail %s of %d good ones (alpha %v, tau %v).",
				Between(s.Answer.Covered, s.Doubt.Bad), s.Bad, Between(s.Answer.False-s.Doubt.Good, s.Doubt.Good), s.Good, o.Alpha, o.Tau))
	}
	if s.Open() {
		lines = append(lines, fmt.Sprintf("%s of theirs could not be decided, so this result is not proven.", plural.Of(s.Doubt.Cells, "cell")))
	}
	return lines
}

// worth describes what a selected candidate catches.
func (s *Selection) worth(a *Account) string {
	if s.Good+s.Bad == 0 {
		return "not tried on examples"
	}
	text := fmt.Sprintf("catches %d of %d bad", a.Covered, s.Bad)
	if n := len(a.Alone); n > 0 {
		text += fmt.Sprintf(", %d of them alone", n)
	}
	text += fmt.Sprintf("; fails %s of %d good", Between(a.False-a.Perhaps, a.Perhaps), s.Good)
	if a.Unknown > 0 {
		text += fmt.Sprintf("; undecided on %d", a.Unknown)
	}
	if len(a.LeftOver) > 0 {
		text += "; implies " + report.Line(strings.Join(a.LeftOver, ", "), 120)
	}
	return text
}

// Between formats a certain count and how much may be added to it.
func Between(certain, perhaps int) string {
	if perhaps == 0 {
		return fmt.Sprint(certain)
	}
	return fmt.Sprintf("%d to %d", certain, certain+perhaps)
}

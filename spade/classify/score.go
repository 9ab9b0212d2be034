package classify

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/value"
)

// LabelledChange is a change of a prompt with its human labels: categories.
type LabelledChange struct {
	Name       string
	Change     delta.Change
	Categories []string // in the order of [delta.Categories]; there may be none
	Predicted  []string // model's categories in the file; nil if there are none
}

// ReadLabelled reads labelled changes from JSON Lines: objects with ground_truth, a list of
// categories, and diff, the lines of the prompt with a prefix of two characters each: "+ "
// added, "- " removed, "  " unchanged; other lines are skipped. The change's name consists of
// repo, commit and name; predicted is optional. ReadLabelled reports all mistakes with their
// lines; if there are any, it returns nothing else.
func ReadLabelled(file string, data []byte) ([]LabelledChange, proviso.Mistakes) {
	t := &format.Table{File: file}
	var list []LabelledChange
	for line, err := range document.Lines(bytes.NewReader(data)) {
		if err != nil {
			t.Broken(err)
			continue
		}
		o, ok := line.Value.(*value.Object)
		if !ok {
			t.Mistake(line.Number, "", "an object with diff and ground_truth is expected")
			continue
		}
		if l, ok := labelled(t, line.Number, o); ok {
			list = append(list, l)
		}
	}
	if t.Mistakes.Err() == nil && len(list) == 0 {
		t.Mistake(0, "", "there is no labelled change in it")
	}
	if t.Mistakes.Err() != nil {
		return nil, t.Mistakes
	}
	return list, t.Mistakes
}

func labelled(t *format.Table, line int, o *value.Object) (l LabelledChange, ok bool) {
	diffText, ok := o.At("diff").(string)
	if !ok {
		t.Mistake(line, "", "diff is missing: the lines of the prompt with \"+ \", \"- \" or two blanks before each")
		return l, false
	}
	truth, ok := o.At("ground_truth").([]any)
	if !ok {
		t.Mistake(line, "", "ground_truth is missing: a list of categories")
		return l, false
	}
	l.Change = changeOf(diffText)
	parts := []string{o.Text("repo"), excerpt.Head(o.Text("commit"), 8)}
	if name := o.Text("name"); name != "" {
		parts = []string{name}
	}
	if l.Name = strings.TrimSpace(strings.Join(parts, " ")); l.Name == "" {
		l.Name = fmt.Sprintf("%s:%d", filepath.Base(t.File), line)
	}
	l.Categories = categoriesIn(t, line, truth)
	if said, ok := o.At("predicted").([]any); ok {
		l.Predicted = append([]string{}, categoriesIn(t, line, said)...)
	}
	return l, true
}

// categoriesIn reads category names.
func categoriesIn(t *format.Table, line int, list []any) []string {
	var out []string
	for _, v := range list {
		name := value.ToString(v)
		category, ok := delta.CategoryNamed(name)
		if !ok {
			t.Mistake(line, document.Nearest(name, delta.Categories), "there is no category %q", format.Excerpt(name))
			continue
		}
		out = append(out, category)
	}
	return inCategoryOrder(out)
}

// changeOf makes a change from the lines of a diff.
func changeOf(text string) delta.Change {
	var before, after strings.Builder
	for line := range strings.Lines(text) {
		mark, rest := line, ""
		if len(line) >= 2 {
			mark, rest = line[:2], line[2:]
		}
		if !strings.HasSuffix(rest, "\n") {
			rest += "\n"
		}
		switch mark {
		case "+ ":
			after.WriteString(rest)
		case "- ":
			before.WriteString(rest)
		case "  ":
			before.WriteString(rest)
			after.WriteString(rest)
		}
	}
	c := delta.Change{Version: delta.Version{Text: format.UnixLines(after.String())}, Number: 1}
	c.Deltas = delta.Diff(delta.Split(format.UnixLines(before.String())), delta.Split(c.Text))
	for i := range c.Deltas {
		c.Deltas[i].Version = 1
	}
	return c
}

// CategoryScore counts how often people and a model chose a category.
type CategoryScore struct {
	Category string // "" for all categories together
	Both     int    // true positives
	Model    int    // chosen only by the model
	People   int    // chosen only by people
}

// Precision is the share of the model's choices that people also made, with its 95 % interval
// (Wilson); false if the model made none.
func (s CategoryScore) Precision() (stats.Estimate, bool) { return shareOf(s.Both, s.Both+s.Model) }

// Recall is the share of people's choices that the model also made, with its 95 % interval
// (Wilson); false if people made none.
func (s CategoryScore) Recall() (stats.Estimate, bool) { return shareOf(s.Both, s.Both+s.People) }

func shareOf(k, n int) (stats.Estimate, bool) {
	if n == 0 {
		return stats.Estimate{}, false
	}
	return stats.Estimate{Value: float64(k) / float64(n), Interval: stats.Wilson(k, n, 0.95)}, true
}

// F1 is the harmonic mean of precision and recall; false if nobody chose anything.
func (s CategoryScore) F1() (float64, bool) {
	n := 2*s.Both + s.Model + s.People
	if n == 0 {
		return 0, false
	}
	return 2 * float64(s.Both) / float64(n), true
}

// Score compares a model's categories with human labels.
type Score struct {
	Micro      CategoryScore
	Categories []CategoryScore // categories that somebody chose, in the order of [delta.Categories]
	Groups     []CategoryScore // all categories of a group, in the order of [delta.Groups]
	Rows       int             // rows with an answer
	Exact      int             // rows with the same categories
	Undecided  []string        // names of the uncounted rows without an answer
}

// ScoreOf compares human labels with said, the model's categories for each labelled change;
// nil means no answer.
func ScoreOf(list []LabelledChange, said [][]string) Score {
	var out Score
	counts := map[string]*CategoryScore{}
	for _, c := range delta.Categories {
		counts[c] = &CategoryScore{Category: c}
	}
	for i := range list {
		if said[i] == nil {
			out.Undecided = append(out.Undecided, list[i].Name)
			continue
		}
		out.Rows++
		people, model := map[string]bool{}, map[string]bool{}
		for _, c := range list[i].Categories {
			people[c] = true
		}
		for _, c := range said[i] {
			model[c] = true
		}
		exact := true
		for _, c := range delta.Categories {
			s := counts[c]
			switch {
			case people[c] && model[c]:
				s.Both++
			case people[c]:
				s.People++
				exact = false
			case model[c]:
				s.Model++
				exact = false
			}
		}
		if exact {
			out.Exact++
		}
	}
	for _, c := range delta.Categories {
		s := counts[c]
		if s.Both+s.Model+s.People == 0 {
			continue
		}
		out.Micro.Both += s.Both
		out.Micro.Model += s.Model
		out.Micro.People += s.People
		out.Categories = append(out.Categories, *s)
	}
	for _, g := range delta.Groups {
		sum := CategoryScore{Category: g}
		for _, c := range out.Categories {
			if delta.GroupOf(c.Category) == g {
				sum.Both, sum.Model, sum.People = sum.Both+c.Both, sum.Model+c.Model, sum.People+c.People
			}
		}
		out.Groups = append(out.Groups, sum)
	}
	return out
}

// JSON returns the score as one indented JSON object.
func (s *Score) JSON() ([]byte, error) {
	each := make([]any, len(s.Categories))
	for i, c := range s.Categories {
		each[i] = c.object()
	}
	groups := make([]any, len(s.Groups))
	for i, g := range s.Groups {
		o := g.object()
		o.Delete("category")
		groups[i] = value.ObjectOf("group", g.Category)
		for k, v := range o.All() {
			groups[i].(*value.Object).Set(k, v)
		}
	}
	micro := s.Micro.object()
	micro.Delete("category")
	return value.EncodeJSON(value.ObjectOf("rows", float64(s.Rows), "exact", float64(s.Exact), "micro", micro, "categories", each, "groups", groups, "undecided", textlist.Values(s.Undecided)), "  ")
}

func (s CategoryScore) object() *value.Object {
	o := value.ObjectOf("category", s.Category, "both", float64(s.Both), "model_alone", float64(s.Model), "people_alone", float64(s.People))
	number := func(key string, v float64, ok bool) {
		if o.Set(key, nil); ok {
			o.Set(key, v)
		}
	}
	p, ok := s.Precision()
	number("precision", p.Value, ok)
	r, ok := s.Recall()
	number("recall", r.Value, ok)
	f, ok := s.F1()
	number("f1", f, ok)
	return o
}

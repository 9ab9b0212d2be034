package check

import (
	"context"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// question returns the question for the judge. The values of variables may try to
// influence the judge (prompt injection), so they are sent beside the criteria and
// not in them. filled are the criteria with the values inserted, for people to
// read.
func (j *judged) question(ctx context.Context, s *Subject) (q proviso.Question, filled []string, err error) {
	q = questionOf(j.spec.Assertion, j.spec.Base, s.Row)
	q.Output, q.Instruction, q.Background = s.judged(), j.spec.Instruction, s.Row.Background
	for _, cl := range j.clauses {
		if cl.counted == nil {
			q.Criteria = append(q.Criteria, cl.criterion)
			filled = append(filled, cl.criterion.Text)
		}
	}
	if !j.templates {
		return q, filled, nil
	}
	q.Values = value.NewObject(0)
	if q.Instruction, _, err = j.marked(ctx, s, q.Instruction, q.Values); err != nil {
		return q, nil, err
	}
	for i := range q.Criteria {
		if q.Criteria[i].Text, filled[i], err = j.marked(ctx, s, q.Criteria[i].Text, q.Values); err != nil {
			return q, nil, err
		}
	}
	return q, filled, nil
}

// marked returns a text with markers, adds the values of the markers to values, and
// returns the text with the values inserted.
func (j *judged) marked(ctx context.Context, s *Subject, text string, values *value.Object) (marked, filled string, err error) {
	if !hasTemplate(text) {
		return text, text, nil
	}
	marked, own, err := j.c.Templates.Mark(ctx, text, s.Row.Vars)
	if err != nil {
		return "", "", err
	}
	if filled, err = j.c.Templates.Render(ctx, text, s.Row.Vars); err != nil {
		return "", "", err
	}
	_, rename := Distinct(own, values)
	return rename.Replace(marked), filled, nil
}

// unfilled returns a mistake for each variable that the question needs and vars lack.
func (j *judged) unfilled(vars *value.Object) []*proviso.Error {
	if !j.templates {
		return nil
	}
	var all []*proviso.Error
	look := func(key, text string) {
		if !hasTemplate(text) {
			return
		}
		needs, _ := j.c.Templates.Needs(text) // the error was reported before
		for _, name := range needs {
			if vars.Has(name) {
				continue
			}
			e := proviso.Errorf(proviso.Invalid, "{{%s}} has no value: there is no variable %q", name, name)
			if near := document.Nearest(name, vars.Keys()); near != "" {
				e.Valid = []string{near}
			}
			all = append(all, mistakeAt(j.spec.Assertion, key, e))
		}
	}
	look("instruction", j.spec.Instruction)
	for _, cl := range j.clauses {
		if cl.counted == nil {
			look(cl.key, cl.criterion.Text)
		}
	}
	return all
}

// Distinct adds own, the values of a text's markers by name, to all. A name that
// all already uses for another value gets a number. It returns own under the new
// names, and a replacer that renames the markers in the text.
func Distinct(own, all *value.Object) (*value.Object, *strings.Replacer) {
	named := value.NewObject(own.Len())
	var pairs []string
	for name, v := range own.All() {
		unique := name
		for n := 2; all.Has(unique) && all.At(unique) != v; n++ {
			unique = name + " " + strconv.Itoa(n)
		}
		all.Set(unique, v)
		named.Set(unique, v)
		if unique != name {
			pairs = append(pairs, "{{"+name+"}}", "{{"+unique+"}}")
		}
	}
	return named, strings.NewReplacer(pairs...)
}

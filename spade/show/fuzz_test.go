package show_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/proviso-eval/proviso/internal/harmless"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/classify"
	"github.com/proviso-eval/proviso/spade/coverage"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/propose"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/show"
	"github.com/proviso-eval/proviso/spade/subsume"
	"github.com/proviso-eval/proviso/spade/update"
)

// fill sets every text in v to text, every number to 1 and every list to two elements.
func fill(v reflect.Value, text string, depth int) {
	if depth > 9 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int8:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		fill(p.Elem(), text, depth+1)
		v.Set(p)
	case reflect.Slice:
		s := reflect.MakeSlice(v.Type(), 2, 2)
		for i := range 2 {
			fill(s.Index(i), text, depth+1)
		}
		v.Set(s)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), text, depth+1)
		}
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(k, text, depth+1)
		fill(e, text, depth+1)
		m.SetMapIndex(k, e)
		v.Set(m)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), text, depth+1)
		}
	}
}

func filled[T any](text string) *T {
	v := new(T)
	fill(reflect.ValueOf(v).Elem(), text, 0)
	return v
}

// FuzzShow: no text from a prompt, a model, a label or a file has an effect where results are
// shown, however narrow the terminal is.
func FuzzShow(f *testing.F) {
	for _, text := range []string{"", "GH-12", "::error::no", "`", "a`b``", "| a |", "\\`@b`", "```\n<img>\n````", "<details><summary>", "&lt;img&gt; &#64;user [a](/b) #12", "a\n\n> b\n\n- c", "\xff\u202e", "\r\n##[error]no\x1b[31m"} {
		f.Add(text, uint8(100))
		f.Add(text, uint8(1))
	}
	plain := markdownOf("x")
	f.Fuzz(func(t *testing.T, text string, width uint8) {
		for name, got := range terminalOf(text, report.TerminalOptions{Width: int(width)}) {
			if wrong := harmless.Terminal(got); wrong != "" {
				t.Errorf("%s: %s\n%s", name, wrong, got)
			}
		}
		for name, got := range markdownOf(text) {
			if wrong := harmless.Markdown(got, plain[name]); wrong != "" {
				t.Errorf("%s: %s\n%s", name, wrong, got)
			}
		}
	})
}

// classesOf has a text where a model failed; the categories are those of package delta.
func classesOf(text string) []delta.Classes {
	one := delta.Classes{Whole: delta.Categories[:2], Deltas: delta.Categories[:2], Err: errors.New(text)}
	return []delta.Classes{one, one}
}

// coverOf has text wherever it is not of this program.
func coverOf(text string) *coverage.Cover {
	c := filled[coverage.Cover](text)
	c.Unread = ""
	return c
}

func terminalOf(text string, o report.TerminalOptions) map[string]string {
	precision := *filled[[]subsume.Precision](text)
	for i := range precision {
		precision[i].Source = "proof"
	}
	return map[string]string{
		"score":       string(show.Score(filled[classify.Score](text), o)),
		"cover":       string(show.Cover(coverOf(text), o)),
		"history":     string(show.History(filled[delta.History](text), classesOf(text), o, true)),
		"grid":        string(show.Grid(filled[matrix.Grid](text), *filled[[]matrix.Rate](text), o)),
		"proposal":    string(show.Proposal(filled[propose.Proposal](text), o, true)),
		"selection":   string(show.SelectionText(selectionOf(text), o)),
		"subsumption": string(show.Subsumption(filled[subsume.Subsumption](text), o)),
		"precision":   string(show.Precision(precision, o)),
		"update":      string(show.UpdateText(updateOf(text), o)),
	}
}

func markdownOf(text string) map[string]string {
	return map[string]string{
		"cover":     string(show.CoverMarkdown(coverOf(text))),
		"history":   string(show.HistoryMarkdown(filled[delta.History](text), classesOf(text))),
		"selection": string(show.SelectionMarkdown(selectionOf(text))),
		"sum":       string(show.SumMarkdown(filled[coverage.Sum](text))),
		"update":    string(show.UpdateMarkdown(updateOf(text))),
	}
}

func selectionOf(text string) show.Selection {
	s := filled[selection.Selection](text)
	s.Options.Method = "search"
	return show.Selection{Selection: s}
}

func updateOf(text string) show.Update {
	r := filled[update.Report](text)
	for _, s := range []*selection.Selection{r.Before, r.After} {
		s.Options.Method = "search"
	}
	return show.Update{Report: r, Written: "out"}
}

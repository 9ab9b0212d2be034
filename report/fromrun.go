package report

import (
	"fmt"
	"math"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/value"
)

var _ Rows = (*runfile.Reader)(nil)

// Header returns the header of a run file, from which [FromRun] restores m. The caller adds
// the hash and the options.
func (m *Meta) Header() runfile.Header {
	columns := make([]any, 0, len(m.Columns))
	for _, c := range m.Columns {
		columns = append(columns, value.ObjectOf("promptId", c.PromptID, "promptLabel", c.PromptLabel,
			"promptRaw", c.PromptRaw, "providerId", c.ProviderID, "providerLabel", c.ProviderLabel))
	}
	o := value.ObjectOf("columns", columns, "rows", float64(m.Planned))
	if m.Config != nil {
		o.Set("config", m.Config)
	}
	if m.Folder != "" {
		o.Set("folder", m.Folder)
	}
	if m.On != "" {
		o.Set("on", m.On)
	}
	m.setOrigin(o)
	return runfile.Header{Version: m.Version, Suite: m.Suite, Started: m.Started, Meta: o}
}

// Trailer returns the last line of a run file: the totals, and data that cannot be computed
// from the rows.
func Trailer(m *Meta, s *Summary) []byte {
	t := s.Totals()
	o := totalsOf(t)
	o.Set("elapsedMs", float64(m.Elapsed.Microseconds())/1000)
	derived := make([]any, 0, len(s.columns))
	some := false
	for i := range s.columns {
		list := make([]any, 0, len(s.columns[i].Derived))
		for _, d := range s.columns[i].Derived {
			list = append(list, value.ObjectOf("name", d.Name, "value", d.Value))
			some = true
		}
		derived = append(derived, list)
	}
	if some {
		o.Set("derived", derived)
	}
	return value.AppendJSON(nil, o)
}

// FromRun returns the data of a kept run for reports. It reads every row once. For an
// unfinished run, the duration and the derived metrics are unknown.
func FromRun(r *runfile.Reader) (*Meta, *Summary, error) {
	h := r.Header()
	m := &Meta{RunID: h.ID, Version: h.Version, Suite: h.Suite, Started: h.Started, RunFile: r.Path()}
	m.Config, _ = h.Meta.At("config").(*value.Object)
	m.Planned, m.Folder = integer(h.Meta, "rows"), h.Meta.Text("folder")
	m.Revision, m.Hashes = OriginOf(h.Meta)
	m.On = h.Meta.Text("on")
	columns, _ := h.Meta.At("columns").([]any)
	for _, v := range columns {
		o, _ := v.(*value.Object)
		prompt := &proviso.Prompt{ID: o.Text("promptId"), Label: o.Text("promptLabel"), Raw: o.Text("promptRaw")}
		provider := &proviso.ProviderSpec{ID: o.Text("providerId"), Label: o.Text("providerLabel")}
		m.Columns = append(m.Columns, NewColumn(prompt, provider))
	}
	s := NewSummary(len(m.Columns))
	for index, row := range r.Rows() {
		if err := s.AddRow(row); err != nil {
			return nil, nil, fmt.Errorf("%s: row %d: %w", r.Path(), index, err)
		}
	}
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	if r.Trailer() == nil {
		return m, s, nil
	}
	v, err := value.ParseJSON(string(r.Trailer()))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: trailer: %w", r.Path(), err)
	}
	trailer, _ := v.(*value.Object)
	m.Elapsed = elapsedOf(trailer)
	s.setDerived(trailer)
	return m, s, nil
}

func (s *Summary) setDerived(trailer *value.Object) {
	columns, _ := trailer.At("derived").([]any)
	for i, v := range columns {
		list, _ := v.([]any)
		for _, d := range list {
			o, _ := d.(*value.Object)
			s.SetDerived(i, o.Text("name"), o.At("value"))
		}
	}
}

// AddRow counts a row that [AppendRow] encoded, as [Summary.Add] does.
func (s *Summary) AddRow(row []byte) error {
	v, err := value.ParseJSON(string(row))
	if err != nil {
		return err
	}
	o, ok := v.(*value.Object)
	if !ok {
		return &value.SyntaxError{Message: "expected an object"}
	}
	grading, repeat := o.Object("gradingResult"), o.Object("repeat")
	f := facts{index: integer(o, "index"), column: integer(o, "promptIdx"), status: proviso.StatusNamed(o.Text("verdict")),
		score: score(o), latencyMS: num(o, "latencyMs"), gradingCost: num(grading, "cost"),
		caseID: o.Text("caseId"), error: o.Text("error"), repeats: integer(repeat, "of"), pass: integer(repeat, "pass")}
	f.cost, f.incurred = num(o, "cost"), num(o, "cost")
	if v, ok := o.At("incurredCost").(float64); ok {
		f.incurred = v
	}
	f.usage, f.spent = bothUsages(o.Object("response").Object("tokenUsage"))
	f.grading, f.asked = bothUsages(grading.Object("tokensUsed"))
	f.cached = o.Object("response").At("cached") == true
	f.share, f.unscored = f.score, Unscored(o)
	if share, ok := o.Object("evaluation").At("score").(float64); ok {
		f.share = share
	}
	for name, v := range o.Object("namedScores").All() {
		value, ok := v.(float64)
		if !ok {
			value = math.NaN()
		}
		f.named = append(f.named, proviso.NamedScore{Name: name, Value: value, Weight: num(o.Object("namedScoreWeights"), name)})
	}
	s.row(&f)
	components, _ := grading.At("componentResults").([]any)
	for _, v := range components {
		c, _ := v.(*value.Object)
		a := c.Object("assertion")
		cached, _ := c.At("cached").(bool)
		s.component(f.column, &part{status: proviso.StatusNamed(c.Text("status")), about: aboutRaw(a, c.Has("threshold")), waived: c.At("waived") == true,
			usage: usageOf(c.Object("tokensUsed")), cost: num(c, "cost"), judge: c.Text("judge"), cached: cached, unsure: cannotTellIn(c), raw: a})
	}
	return nil
}

// score returns a row's score. It is stored as a name if JSON has no such number.
func score(o *value.Object) float64 {
	if name, ok := o.At("scoreText").(string); ok {
		return value.ToNumber(name)
	}
	return num(o, "score")
}

// Unscored reports whether a row, or a component of one, has no score: it certainly failed
// while a part of it is undecided.
func Unscored(o *value.Object) bool {
	v, ok := o.Get("score")
	return ok && v == nil && !o.Has("scoreText")
}

// bothUsages reads the usage, and the incurred usage.
func bothUsages(o *value.Object) (u, incurred proviso.Usage) {
	u = usageOf(o)
	if o.Has("incurredTokenUsage") {
		return u, usageOf(o.Object("incurredTokenUsage"))
	}
	return u, u
}

func usageOf(o *value.Object) proviso.Usage {
	return proviso.Usage{Total: int64(integer(o, "total")), Prompt: int64(integer(o, "prompt")),
		Completion: int64(integer(o, "completion")), Cached: int64(integer(o, "cached")), Requests: int64(integer(o, "numRequests"))}
}

// num and integer read a member of an object. A missing member, or one of another kind,
// counts as 0.

func num(o *value.Object, key string) float64 {
	v, _ := o.At(key).(float64)
	return v
}

func integer(o *value.Object, key string) int {
	f := num(o, key)
	if !(math.Abs(f) <= 1<<53) {
		return 0
	}
	return int(f)
}

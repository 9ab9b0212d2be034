package align

import (
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/value"
)

// Limits on what is kept in memory of a run.
const (
	maxCandidates  = 64     // verdicts that may match one label
	maxKnownNames  = 10_000 // cases and assertions, for messages
	maxKnownHashes = 100    // texts of one assertion
)

// group is a pair of assertion and judge.
type group struct{ assertion, judge string }

// population counts all verdicts in a group, labelled or not.
type population struct {
	judged stats.Count // passes and fails
	hashes []string    // hashes of the assertion's texts
}

// candidate is a verdict that may match a label. Its texts are copies, so that the
// large rows can be freed.
type candidate struct {
	row      int
	outputID string // computed only if the label has one
	judge    string
	status   proviso.Status
	reason   string
	quotes   []string
}

// Limits on the texts of a candidate: bytes of a reason, number of quotes.
const (
	maxKeptReason = 4000
	maxKeptQuotes = 5
)

func candidateOf(row record.Row, v record.Verdict, id string) candidate {
	c := candidate{row: row.Index, outputID: id, judge: strings.Clone(v.Judge), status: v.Status,
		reason: strings.Clone(excerpt.Head(v.Reason(), maxKeptReason))}
	quotes := v.Quotes()
	for _, quote := range quotes[:min(len(quotes), maxKeptQuotes)] {
		c.quotes = append(c.quotes, strings.Clone(excerpt.Head(quote, maxKeptReason)))
	}
	return c
}

// matcher finds the verdicts for the labels in one pass over a run.
type matcher struct {
	labelMistakes
	wanted     map[string][]int // labels by case
	about      map[string]bool  // assertions that have labels
	candidates [][]candidate    // by label
	seen       map[string]bool  // cases in the run, up to maxKnownNames
	names      map[string][]string
	groups     map[group]*population
	judges     map[string][]string // judge identities by assertion
	hashes     map[string]string   // hashes of assertions by their JSON
}

func newMatcher(labels *Labels) *matcher {
	m := &matcher{labelMistakes: labelMistakes{labels: labels}, wanted: map[string][]int{}, about: map[string]bool{}, candidates: make([][]candidate, len(labels.Rows)),
		seen: map[string]bool{}, names: map[string][]string{}, groups: map[group]*population{},
		judges: map[string][]string{}, hashes: map[string]string{}}
	for i := range labels.Rows {
		l := &labels.Rows[i]
		m.wanted[l.Case] = append(m.wanted[l.Case], i)
		m.about[l.Assertion] = true
	}
	return m
}

// read reads the run once.
func (m *matcher) read(run record.Run) error {
	for row, err := range record.Rows(run) {
		if err != nil {
			return err
		}
		if len(m.seen) < maxKnownNames {
			m.seen[strings.Clone(row.Case)] = true
		}
		verdicts := row.Verdicts()
		for i := range verdicts {
			v := &verdicts[i]
			if m.about[v.Name] || len(m.about) == 0 {
				continue
			}
			if full := rowscan.NameOf(v.Assertion); m.about[full] { // the name that the app shows
				v.Name = full
			}
		}
		for _, v := range verdicts {
			if m.about[v.Name] {
				m.count(v)
			}
		}
		if labels, ok := m.wanted[row.Case]; ok {
			m.seen[row.Case] = true
			m.offer(row, verdicts, labels)
		}
	}
	m.settle()
	return nil
}

// count adds a verdict to its group.
func (m *matcher) count(v record.Verdict) {
	v.Name, v.Judge = strings.Clone(v.Name), strings.Clone(v.Judge) // so that the row can be freed
	if known := m.judges[v.Name]; v.Judge != "" && !slices.Contains(known, v.Judge) {
		m.judges[v.Name] = append(known, v.Judge)
	}
	g := group{v.Name, v.Judge}
	p := m.groups[g]
	if p == nil {
		p = &population{}
		m.groups[g] = p
	}
	switch v.Status {
	case proviso.Pass:
		p.judged.Pass++
		p.judged.N++
	case proviso.Fail:
		p.judged.N++
	}
	if hash := m.hash(v.Assertion); len(p.hashes) < maxKnownHashes && !slices.Contains(p.hashes, hash) {
		p.hashes = append(p.hashes, hash)
	}
}

// hash caches assertion hashes: most rows have the same assertions.
func (m *matcher) hash(a *value.Object) string {
	text := value.Stringify(a)
	if hash, ok := m.hashes[text]; ok {
		return hash
	}
	if len(m.hashes) >= maxKnownNames {
		clear(m.hashes)
	}
	hash := record.HashOf(a)
	m.hashes[text] = hash
	return hash
}

// offer adds the verdicts of a row as candidates for the labels of its case.
func (m *matcher) offer(row record.Row, verdicts []record.Verdict, labels []int) {
	id := ""
	for _, i := range labels {
		l := &m.labels.Rows[i]
		for _, v := range verdicts {
			if known := m.names[l.Case]; !slices.Contains(known, v.Name) {
				m.names[l.Case] = append(known, strings.Clone(v.Name))
			}
			if v.Name != l.Assertion || len(m.candidates[i]) >= maxCandidates {
				continue
			}
			if l.OutputID != "" && id == "" {
				id = record.OutputID(row.Output())
			}
			m.candidates[i] = append(m.candidates[i], candidateOf(row, v, id))
		}
	}
}

// settle handles verdicts without a judge, such as errors and verdicts that a check
// reached before any model was called. If their assertion has exactly one judge, it
// attributes them to that judge.
func (m *matcher) settle() {
	for name, judges := range m.judges {
		rest := m.groups[group{name, ""}]
		if rest == nil || len(judges) != 1 {
			continue
		}
		p := m.groups[group{name, judges[0]}]
		p.judged.Pass += rest.judged.Pass
		p.judged.N += rest.judged.N
		for _, hash := range rest.hashes {
			if !slices.Contains(p.hashes, hash) {
				p.hashes = append(p.hashes, hash)
			}
		}
		delete(m.groups, group{name, ""})
	}
	for i := range m.candidates {
		judges := m.judges[m.labels.Rows[i].Assertion]
		for j := range m.candidates[i] {
			if c := &m.candidates[i][j]; c.judge == "" && len(judges) == 1 {
				c.judge = judges[0]
			}
		}
	}
}

// found is the result of [matcher.find].
type found int

const (
	foundVerdict found = iota
	foundNothing       // the label has its own verdict
	foundStale         // the run has another output of this case
	foundWrong         // a mistake was recorded
)

// find returns the verdict that a label belongs to. used contains the verdicts that
// already have a label.
func (m *matcher) find(i int, used map[labelled]int) (candidate, found) {
	l := &m.labels.Rows[i]
	list := m.candidates[i]
	if l.JudgeID != "" {
		list = only(list, func(c candidate) bool { return c.judge == l.JudgeID })
	}
	inRow := only(list, func(c candidate) bool { return c.row == l.Row })
	switch {
	case l.OutputID != "" && len(list) > 0:
		// The same output of the same case may be in another row.
		same := only(list, func(c candidate) bool { return c.outputID == l.OutputID })
		if len(same) == 0 {
			return candidate{}, foundStale
		}
		list = only(same, func(c candidate) bool { return c.row == l.Row })
		if len(list) == 0 || used[labelled{l.Row, l.Assertion}] != 0 {
			list = firstUnused(same, l.Assertion, used)
		}
	case l.Row >= 0:
		list = inRow
	}
	if len(list) == 0 {
		if l.Judged {
			return candidate{}, foundNothing
		}
		m.missing(i)
		return candidate{}, foundWrong
	}
	c := list[0]
	switch {
	case len(list) > 1 && list[1].row == c.row:
		m.mistake(l.at[colAssertion], "the case has several assertions called %q; give each an id or a metric of its own", clipped(l.Assertion))
	case len(list) > 1:
		m.mistake(l.at[colCase], "case %q has several rows in the run, one for each prompt, provider and repeat: %s; say which in a column row", clipped(l.Case), rowsOf(list))
	case c.judge == "" && len(m.judges[l.Assertion]) == 0:
		m.mistake(l.at[colAssertion], "%q is decided without a judge in this run", clipped(l.Assertion))
	case l.Judged && c.status != l.Judge:
		m.mistake(l.at[colJudge], "the label says that the judge's verdict was %s, the run has %s", l.Judge, c.status)
	default:
		return c, foundVerdict
	}
	return candidate{}, foundWrong
}

func only(list []candidate, keep func(candidate) bool) []candidate {
	var kept []candidate
	for _, c := range list {
		if keep(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// firstUnused returns the candidates of the first row without a label.
func firstUnused(list []candidate, assertion string, used map[labelled]int) []candidate {
	for _, c := range list {
		if used[labelled{c.row, assertion}] == 0 {
			return only(list, func(other candidate) bool { return other.row == c.row })
		}
	}
	return list[:1]
}

// missing records why the run has no verdict for a label.
func (m *matcher) missing(i int) {
	l := &m.labels.Rows[i]
	names, known := m.names[l.Case]
	switch {
	case len(m.candidates[i]) > 0 && l.Row >= 0:
		m.mistake(l.at[colRow], "row %d of the run is not of case %q; its rows are %s", l.Row, clipped(l.Case), rowsOf(m.candidates[i]))
	case len(m.candidates[i]) > 0:
		m.near(l.at[colJudgeID], document.Nearest(l.JudgeID, m.judges[l.Assertion]), "the run has no verdict of the judge %q on this", clipped(l.JudgeID))
	case known || m.seen[l.Case]:
		m.near(l.at[colAssertion], document.Nearest(l.Assertion, names), "the case has no assertion %q in the run; it has %s", clipped(l.Assertion), fewOf(names))
	default:
		var cases []string
		for name := range m.seen {
			cases = append(cases, name)
		}
		slices.Sort(cases)
		m.near(l.at[colCase], document.Nearest(l.Case, cases), "the run has no case %q", clipped(l.Case))
	}
}

func rowsOf(list []candidate) string {
	var rows []string
	for _, c := range list {
		if row := fmt.Sprint(c.row); !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	return fewOf(rows)
}

// fewOf formats the first few names for a message.
func fewOf(names []string) string {
	const most = 8
	if len(names) == 0 {
		return "none"
	}
	text := clipped(names[0])
	for _, n := range names[1:min(len(names), most)] {
		text += ", " + clipped(n)
	}
	if len(names) > most {
		text += ", …"
	}
	return strings.ToValidUTF8(text, "�")
}

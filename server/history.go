package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/recent"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// AssertionHistory is the verdicts on an assertion in the latest runs.
type AssertionHistory struct {
	Suite     string         `json:"suite"`
	Assertion string         `json:"assertion" doc:"Its id, else its metric, else its type and value"`
	Type      string         `json:"type" doc:"Empty if it is not known"`
	Judged    bool           `json:"judged" doc:"Whether a model decides it"`
	Judges    []string       `json:"judges" doc:"Identities of the judges of the newest run"`
	History   []AssertionRun `json:"history" doc:"Oldest first"`
}

// AssertionRun counts the verdicts on an assertion in one run.
type AssertionRun struct {
	Run       string    `json:"run"`
	StartedAt time.Time `json:"started_at"`
	Passed    int       `json:"passed"`
	Failed    int       `json:"failed"`
	Errors    int       `json:"errors"`
	Skipped   int       `json:"skipped"`
}

// AssertionList is a page of assertions.
type AssertionList List[AssertionHistory]

// Limits for pages about several runs.
const (
	usualRuns  = 20
	mostRuns   = 100
	sampleRows = 20 // rows of a run that are read to describe its assertions
	oddNames   = 50 // assertions that are missing in these rows
)

// history caches data of ended runs for these pages. These data do not change.
type history struct {
	counts  *recent.Cache[string, []store.AssertionCount]
	about   *recent.Cache[string, map[string]assertionFacts]
	prompts *recent.Cache[string, []promptCount]
	tallies *recent.Cache[string, store.Tally]
	covers  *recent.Cache[string, []CoveredSentence]
}

// assertionFacts describes an assertion, from the rows of a run.
type assertionFacts struct {
	kind   string
	judges []string
	raw    *value.Object
	size   int // size of raw as JSON
}

// remembered returns the cached value of a key, or reads and caches it.
func remembered[T any](kept *recent.Cache[string, T], key string, read func() (T, error)) (T, error) {
	if v, ok := kept.Get(key); ok {
		return v, nil
	}
	v, err := read()
	if err == nil {
		kept.Add(key, v)
	}
	return v, err
}

// keyOfRun returns a run's key in the caches.
func keyOfRun(c *call, run string) string { return string(c.project) + "\x00" + run }

const historyRoom = 16 << 20 // bytes of each cache, roughly

func newHistory() *history {
	return &history{
		counts: recent.New[string](recent.Options[[]store.AssertionCount]{Entries: 500, Total: historyRoom, Size: func(l []store.AssertionCount) (n int) {
			for i := range l {
				n += 64 + len(l[i].ID)
			}
			return n
		}}),
		about: recent.New[string](recent.Options[map[string]assertionFacts]{Entries: 50, Total: historyRoom, Size: func(m map[string]assertionFacts) (n int) {
			for name, x := range m {
				n += 512 + len(name) + x.size
			}
			return n
		}}),
		prompts: recent.New[string](recent.Options[[]promptCount]{Entries: 500, Total: historyRoom, Size: func(l []promptCount) (n int) {
			for i := range l {
				n += 256 + len(l[i].text)
			}
			return n
		}}),
		tallies: recent.New[string](recent.Options[store.Tally]{Entries: 500, Total: historyRoom, Size: func(t store.Tally) int { return 256 * (len(t.Prompts) + len(t.Judges)) }}),
		covers: recent.New[string](recent.Options[[]CoveredSentence]{Entries: 200, Total: historyRoom, Size: func(l []CoveredSentence) (n int) {
			for i := range l {
				n += 128 + len(l[i].Text) + 64*len(l[i].Assertions)
			}
			return n
		}}),
	}
}

// latestRuns returns the latest finished runs that the request selects and its key may see,
// newest first.
func (s *Server) latestRuns(c *call, q query) ([]store.Run, error) {
	n := usualRuns
	if text := q.Get("runs"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 || n > mostRuns {
			return nil, proviso.Errorf(proviso.Invalid, "runs has to be a number from 1 to %d, not %q", mostRuns, shortened(text))
		}
	}
	f := store.RunFilter{Suite: q.Get("suite"), Status: []store.RunStatus{store.Done}}
	if !seesAll(c.key) {
		f.CreatedBy = c.key.ID
	}
	list, err := c.kept.ListRuns(c.r.Context(), f, store.Page{Limit: n})
	return list.Items, err
}

// pageOfList returns the requested page of a sorted list. name returns the position of an item.
func pageOfList[T any](q query, kind string, all []T, name func(*T) string) (part []T, next string, err error) {
	page := q.page()
	if q.err != nil {
		return nil, "", q.err
	}
	after, ok, err := page.Position(kind)
	if err != nil {
		return nil, "", err
	}
	from := 0
	if ok {
		from, _ = slices.BinarySearchFunc(all, after, func(v T, at string) int {
			if name(&v) <= at {
				return -1
			}
			return 1
		})
	}
	part = all[from:]
	if size := page.Size(); len(part) > size {
		part = part[:size]
		next = store.Cursor(kind, name(&part[size-1]))
	}
	return part, next, nil
}

func (s *Server) listAssertions(c *call) error {
	runs, err := s.latestRuns(c, c.q)
	if err != nil {
		return err
	}
	defer s.unlimited(c)()
	byName := map[string]*AssertionHistory{}
	newest := map[string]string{} // run id, by name
	position := func(h *AssertionHistory) string { return h.Suite + "\x00" + h.Assertion }
	for _, r := range s.counted(c, runs) {
		counts, err := s.countsOf(c, r.ID)
		if err != nil {
			return err
		}
		for _, n := range counts {
			h := &AssertionHistory{Suite: r.Suite, Assertion: n.ID, Judges: []string{}}
			if had := byName[position(h)]; had != nil {
				h = had
			} else {
				byName[position(h)], newest[position(h)] = h, r.ID
			}
			h.History = append(h.History, AssertionRun{r.ID, startOf(r), n.Passed, n.Failed, n.Errors, n.Skipped})
		}
	}
	all := make([]AssertionHistory, 0, len(byName))
	for _, h := range byName {
		slices.Reverse(h.History)
		all = append(all, *h)
	}
	slices.SortFunc(all, func(a, b AssertionHistory) int { return strings.Compare(position(&a), position(&b)) })
	part, next, err := pageOfList(c.q, "assertions", all, position)
	if err != nil {
		return err
	}
	for i := range part {
		about, err := s.aboutOf(c, newest[position(&part[i])])
		if err != nil {
			return err
		}
		x := about[part[i].Assertion]
		kind, _ := check.Lookup(strings.TrimPrefix(x.kind, "not-"))
		part[i].Type, part[i].Judges = x.kind, append(part[i].Judges, x.judges...)
		part[i].Judged = len(x.judges) > 0 || kind != nil && kind.Needs&check.NeedsJudge != 0
	}
	return c.json(http.StatusOK, AssertionList{Items: part, Next: next})
}

// countedRows limits the rows that a request counts. Only runs without stored counts need
// counting: old ones and those in files.
const countedRows = 200_000

// counted returns the first runs, up to the one that exceeds the request's limit of counted
// rows. The counts are cached, so that the next request gets further.
func (s *Server) counted(c *call, runs []store.Run) []store.Run {
	left := countedRows
	for i, r := range runs {
		if !r.Uncounted {
			continue
		}
		key := keyOfRun(c, r.ID)
		_, tallied := s.history.tallies.Get(key)
		if _, known := s.history.counts.Get(key); tallied || known {
			continue
		}
		if left <= 0 {
			return runs[:i]
		}
		left -= r.Totals.Rows()
	}
	return runs
}

// tallyOf returns the tally of an ended run.
func (s *Server) tallyOf(c *call, r store.Run) (store.Tally, error) {
	return remembered(s.history.tallies, keyOfRun(c, r.ID), func() (store.Tally, error) { return c.kept.Tally(c.r.Context(), r.ID) })
}

// startOf returns when a run started, or when it was created if that is not known.
func startOf(r store.Run) time.Time {
	if r.Started.IsZero() {
		return r.Created.UTC()
	}
	return r.Started.UTC()
}

// countsOf returns the counts of the assertions of an ended run.
func (s *Server) countsOf(c *call, run string) ([]store.AssertionCount, error) {
	return remembered(s.history.counts, keyOfRun(c, run), func() ([]store.AssertionCount, error) { return c.kept.CountAssertions(c.r.Context(), run) })
}

// aboutOf describes the assertions of a run, from a few rows and from one row for each
// assertion that is missing in those.
func (s *Server) aboutOf(c *call, run string) (map[string]assertionFacts, error) {
	return remembered(s.history.about, keyOfRun(c, run), func() (map[string]assertionFacts, error) { return s.readAbout(c, run) })
}

func (s *Server) readAbout(c *call, run string) (map[string]assertionFacts, error) {
	counts, err := s.countsOf(c, run)
	if err != nil {
		return nil, err
	}
	about := map[string]assertionFacts{}
	if err := s.sample(c.r.Context(), c.kept, run, "", sampleRows, about); err != nil {
		return nil, err
	}
	odd := 0
	for _, n := range counts {
		if _, ok := about[n.ID]; !ok && odd < oddNames {
			odd++
			if err := s.sample(c.r.Context(), c.kept, run, n.ID, 1, about); err != nil {
				return nil, err
			}
		}
	}
	return about, nil
}

// sample adds the assertions of a few rows.
func (s *Server) sample(ctx context.Context, kept store.Runs, run, assertion string, rows int, about map[string]assertionFacts) error {
	list, err := kept.ListResults(ctx, run, store.ResultFilter{Assertion: assertion}, store.Page{Limit: rows})
	if err != nil {
		return err
	}
	for i := range list.Items {
		row, err := record.Decode(list.Items[i].Index, list.Items[i].JSON)
		if err != nil {
			return err
		}
		for _, v := range row.Verdicts() {
			name := rowscan.NameOf(v.Assertion)
			x := about[name]
			if x.kind == "" {
				x.kind, x.raw = cmp.Or(v.Assertion.Text("type"), proviso.TypeJudge), v.Assertion
				x.size = len(value.AppendJSON(nil, x.raw))
			}
			if v.Judge != "" && !slices.Contains(x.judges, v.Judge) && len(x.judges) < 10 {
				x.judges = append(x.judges, v.Judge)
			}
			about[name] = x
		}
	}
	return nil
}

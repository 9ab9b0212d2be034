package label

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/judge/record"
)

// MaxItems bounds the number of a run's verdicts that a queue is made from.
const MaxItems = 500_000

// Item is one thing in a run to label.
type Item struct {
	Index      int    // row index
	Event      string // event id, "" if the item is a row of a run
	Assertion  string // assertion name; "" means the whole output
	Stratum    string // Random or Informative
	Rank       int    // rank among the items of its assertion, the most informative first, from 0
	Population int    // number of items of its assertion in the run
	Why        string // reason for its place in the order, for people
}

// Options configure a queue.
type Options struct {
	Assertions []string // only these assertions; "" means the whole output; nil means all that a model decides
	Size       int      // maximum number of items; 0 means all
	Random     int      // number of items that are drawn at random, and come first
	Seed       string   // seed of the random items; equal seeds give equal items
	// Differ is how often judge and people differ on an assertion, if that is known: a
	// share from 0 to 1.
	Differ map[string]float64
}

// Order chooses what to label in a run, and in which order: first items drawn at random,
// so that rates can be estimated, then the most informative ones. Call [Order.Add] for
// every row, then [Order.Items]. It is not safe for concurrent use.
type Order struct {
	o      Options
	items  []drawn
	judged map[string]bool           // assertions that a model decides
	counts map[string]*[statuses]int // verdicts by assertion
	groups map[repeated]*[statuses]int
	names  map[string]string // one copy of each name, so that rows can be freed
	share  float64           // share of the items that are drawn at random; 0 if their number is given
	full   bool
}

const statuses = 4 // number of [proviso.Status] values

// repeated identifies verdicts that should be the same in all repeats of a case.
type repeated struct {
	caseID    string
	column    int
	assertion string
}

// drawn is an item with the data that determines its place in the order.
type drawn struct {
	Item
	score    float64
	priority uint64
	status   proviso.Status
	of       repeated
}

// NewOrder returns an empty order.
func NewOrder(o Options) *Order {
	return &Order{o: o, judged: map[string]bool{}, counts: map[string]*[statuses]int{}, groups: map[repeated]*[statuses]int{}, names: map[string]string{}}
}

// Add adds a row. It omits rows without an output, and verdicts whose name occurs several
// times in the row.
func (q *Order) Add(row record.Row) {
	if !row.Answered() {
		return
	}
	column, _ := row.Column()
	caseID := q.kept(row.Case)
	verdicts := row.Verdicts()
	named := map[string]int{}
	names := make([]string, len(verdicts))
	for i, v := range verdicts {
		names[i] = q.kept(rowscan.NameOf(v.Assertion))
		named[names[i]]++
	}
	if q.o.Assertions != nil && slices.Contains(q.o.Assertions, "") {
		q.add(drawn{Item: Item{Index: row.Index, Why: "not labelled yet"}, status: row.Verdict(), of: repeated{caseID, column, ""}})
	}
	for i, v := range verdicts {
		name := names[i]
		if v.Judge != "" {
			q.judged[name] = true
		}
		if named[name] > 1 || v.Status == proviso.Skip || q.o.Assertions != nil && !slices.Contains(q.o.Assertions, name) ||
			q.o.Assertions == nil && v.Judge == "" && v.Status != proviso.Errored {
			continue
		}
		d := drawn{Item: Item{Index: row.Index, Assertion: name}, status: v.Status, of: repeated{caseID, column, name}}
		d.score, d.Why = doubt(v)
		q.add(d)
	}
}

func (q *Order) kept(name string) string {
	if known, ok := q.names[name]; ok {
		return known
	}
	name = strings.Clone(name)
	q.names[name] = name
	return name
}

func (q *Order) add(d drawn) {
	if len(q.items) == MaxItems {
		q.full = true
		return
	}
	h := sha256.New()
	h.Write([]byte(q.o.Seed + "\x00" + d.Assertion + "\x00"))
	var index [8]byte
	binary.BigEndian.PutUint64(index[:], uint64(d.Index))
	h.Write(index[:])
	d.priority = binary.BigEndian.Uint64(h.Sum(nil))
	if q.counts[d.Assertion] == nil {
		q.counts[d.Assertion] = &[statuses]int{}
	}
	q.counts[d.Assertion][d.status]++
	if q.groups[d.of] == nil {
		q.groups[d.of] = &[statuses]int{}
	}
	q.groups[d.of][d.status]++
	q.items = append(q.items, d)
}

// DrawAtRandom sets how many items are drawn at random: a number of items, or, below 1, a
// share of the items in the queue.
func (q *Order) DrawAtRandom(n float64) {
	if n >= 1 {
		q.o.Random, q.share = int(n), 0
		return
	}
	q.o.Random, q.share = 0, n
}

// Items returns the items in order. It returns an error if no row has one of the
// assertions, or if there is nothing to label, or too much.
func (q *Order) Items() ([]Item, error) {
	if q.full {
		return nil, proviso.Errorf(proviso.Limit, "the run has more than %d verdicts to label; name some of its assertions", MaxItems)
	}
	for _, name := range q.o.Assertions {
		if q.counts[name] == nil {
			e := proviso.Errorf(proviso.Invalid, "no row of the run has a verdict on the assertion %s", quoted(name))
			var known []string
			for n := range q.names {
				known = append(known, n)
			}
			slices.Sort(known)
			e.Valid = document.Suggest(name, known)
			return nil, e
		}
	}
	if q.o.Assertions == nil {
		q.items = slices.DeleteFunc(q.items, func(d drawn) bool { return !q.judged[d.Assertion] })
	}
	if len(q.items) == 0 {
		return nil, proviso.Errorf(proviso.Invalid, "the run has no verdict of a model to label; name the assertions to label")
	}
	q.rank()
	return q.choose(), nil
}

// rank sorts the items, the most informative first, and numbers those of each assertion.
func (q *Order) rank() {
	for i := range q.items {
		q.raise(&q.items[i])
	}
	slices.SortFunc(q.items, func(a, b drawn) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.priority, b.priority), cmp.Compare(a.Index, b.Index))
	})
	ranks := map[string]int{}
	for i := range q.items {
		d := &q.items[i]
		d.Rank = ranks[d.Assertion]
		ranks[d.Assertion]++
	}
	for i := range q.items {
		q.items[i].Population = ranks[q.items[i].Assertion]
	}
}

// choose draws the random items, and fills the queue with the others.
func (q *Order) choose() []Item {
	size := len(q.items)
	if q.o.Size > 0 {
		size = min(size, q.o.Size)
	}
	random := q.o.Random
	if q.share > 0 {
		random = int(math.Ceil(q.share * float64(size)))
	}
	byChance := make([]int, len(q.items))
	for i := range byChance {
		byChance[i] = i
	}
	slices.SortFunc(byChance, func(a, b int) int {
		return cmp.Or(cmp.Compare(q.items[a].priority, q.items[b].priority), cmp.Compare(a, b))
	})
	list := make([]Item, 0, size)
	taken := make([]bool, len(q.items))
	for _, i := range byChance[:min(size, max(random, 0))] {
		taken[i] = true
		item := q.items[i].Item
		item.Stratum, item.Why = Random, "drawn at random"
		list = append(list, item)
	}
	for i := range q.items {
		if len(list) == size {
			break
		}
		if !taken[i] {
			item := q.items[i].Item
			item.Stratum = Informative
			list = append(list, item)
		}
	}
	return list
}

// How informative a label is, from 0 to 1. The order matters, not the values: verdicts
// that a judge could not reach come before split ones, and these before close ones.
const (
	scoreCannotTell = 1.0
	scoreVotes      = 0.9 // times the evenness of the votes
	scoreRepeats    = 0.8 // times the evenness of the repeats
	scoreNear       = 0.7 // times the nearness of the score to the threshold
	scoreOneUnmet   = 0.5
	scoreUndecided  = 0.4
	scoreDiffer     = 0.3  // added, times how often judge and people differ
	scoreRare       = 0.25 // times the rarity of the verdict
)

const nearScore = 0.15 // a score closer than this to the threshold is near

// doubt returns how informative a label on one verdict is by itself, and why.
func doubt(v record.Verdict) (score float64, why string) {
	why = "not labelled yet"
	raise := func(to float64, format string, args ...any) {
		if to > score {
			score, why = to, fmt.Sprintf(format, args...)
		}
	}
	criteria := v.Criteria()
	unmet := 0
	for _, c := range criteria {
		if c.CannotTell {
			raise(scoreCannotTell, "the judge cannot tell")
		}
		if c.Status == proviso.Fail {
			unmet++
		}
		if n := c.Votes; n.Met+n.Unmet > 1 && n.Met > 0 && n.Unmet > 0 {
			raise(scoreVotes*evenly(n.Met, n.Unmet), "the judge's votes are split, %d to %d", max(n.Met, n.Unmet), min(n.Met, n.Unmet))
		}
	}
	if s, threshold, ok := v.Score(); ok && v.Judge != "" {
		if d := math.Abs(s - threshold); d < nearScore {
			raise(scoreNear*(1-d/nearScore), "the score %.2g is near the threshold %.2g", s, threshold)
		}
	}
	if v.Status == proviso.Fail && unmet == 1 && len(criteria) > 1 {
		raise(scoreOneUnmet, "one of %d criteria is not met", len(criteria))
	}
	if v.Status == proviso.Errored {
		raise(scoreUndecided, "the judge did not decide")
	}
	return score, why
}

// evenly returns 1 if two counts are equal, and 0 if one of them is 0.
func evenly(a, b int) float64 {
	n := float64(a + b)
	return 4 * float64(a) * float64(b) / (n * n)
}

// raise increases an item's score by what the other rows of the run show.
func (q *Order) raise(d *drawn) {
	if n := q.groups[d.of]; n[proviso.Pass] > 0 && n[proviso.Fail] > 0 {
		if s := scoreRepeats * evenly(n[proviso.Pass], n[proviso.Fail]); s > d.score {
			d.score, d.Why = s, "the repeats of the case have different verdicts"
		}
	}
	n := q.counts[d.Assertion]
	decided := n[proviso.Pass] + n[proviso.Fail]
	if (d.status == proviso.Pass || d.status == proviso.Fail) && decided > 0 {
		share := float64(n[d.status]) / float64(decided)
		if s := scoreRare * (1 - share); share <= 0.2 && s > d.score {
			d.score, d.Why = s, "one of few that "+d.status.String()
		}
	}
	if differ := q.o.Differ[d.Assertion]; differ > 0 {
		if d.score == 0 {
			d.Why = "judge and people often differ on this assertion"
		}
		d.score += scoreDiffer * differ
	}
}

// drawnFrom identifies the labels that were drawn from the same items.
type drawnFrom struct {
	run, queue, assertion string
	population            int
}

// Weights returns the number of items in its run that each label represents, so that
// weighted rates of the labels are rates of the run. All weights are 1 if the labels are
// a plain random sample, or if it is unknown how they were drawn.
//
// A queue gives out its informative items by rank, from the first. So all items up to the
// last labelled one form one stratum, in which each label represents an equal share.
// Below it, only randomly drawn items have labels: they represent all others.
func Weights(list []*Label) []float64 {
	weights := make([]float64, len(list))
	groups := map[drawnFrom][]int{}
	for i, l := range list {
		weights[i] = 1
		if l.Population > 0 {
			of := drawnFrom{l.Run, l.Queue, l.Assertion, l.Population}
			groups[of] = append(groups[of], i)
		}
	}
	for of, members := range groups {
		zone := 0
		for _, i := range members {
			if list[i].Stratum == Informative {
				zone = max(zone, list[i].Rank+1)
			}
		}
		inside, outside := 0, 0
		for _, i := range members {
			if list[i].Rank < zone {
				inside++
			} else {
				outside++
			}
		}
		if zone == 0 || zone > of.population || outside == 0 {
			continue
		}
		for _, i := range members {
			if list[i].Rank < zone {
				weights[i] = float64(zone) / float64(inside)
			} else {
				weights[i] = float64(of.population-zone) / float64(outside)
			}
		}
	}
	return weights
}

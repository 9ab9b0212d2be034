package label

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/judge/record"
)

// MaxItems bounds the verdicts of a run that a queue is made from.
const MaxItems = 500_000

// Item is one thing to label in a run.
type Item struct {
	Index      int    // of the row
	Event      string // id of an event, "" if it is a row of a run
	Assertion  string // name; "" is the whole output
	Stratum    string // Random or Informative
	Rank       int    // among the items of its assertion, the most informative first, from 0
	Population int    // items of its assertion in the run
	Why        string // it comes where it comes, for people
}

// Options say what a queue holds.
type Options struct {
	Assertions []string // only these; "" is the whole output; nil is all that a model decides
	Size       int      // most items; 0 is all
	Random     int      // how many of them are drawn at random, and come first
	Seed       string   // of the random items; equal seeds give equal ones
	// Differ says how often judge and people differ on an assertion, as far as that is
	// known: a share from 0 to 1.
	Differ map[string]float64
}

// Order chooses what to label of a run, and in which order: first items drawn at random,
// so that rates can be estimated, then those of which a label tells most. [Order.Add] every
// row, then call [Order.Items]. It is not safe for concurrent use.
type Order struct {
	o      Options
	items  []drawn
	judged map[string]bool           // assertions that a model decides
	counts map[string]*[statuses]int // verdicts by assertion
	groups map[repeated]*[statuses]int
	names  map[string]string // each name once, so that rows can be freed
	share  float64           // of the items that are drawn at random; 0 if their number is given
	full   bool
}

const statuses = 4 // of [proviso.Status]

// repeated is a verdict that repeats of a case should share.
type repeated struct {
	caseID    string
	column    int
	assertion string
}

// drawn is an item with what its order depends on.
type drawn struct {
	Item
	score    float64
	priority uint64
	status   proviso.Status
	of       repeated
}

// NewOrder begins an order.
func NewOrder(o Options) *Order {
	return &Order{o: o, judged: map[string]bool{}, counts: map[string]*[statuses]int{}, groups: map[repeated]*[statuses]int{}, names: map[string]string{}}
}

// Add offers a row. Rows without an output, and verdicts whose name is not the only one of
// the row, are left out.
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

// DrawAtRandom changes how many items are drawn at random: a number of items, or below 1 a
// share of those that the queue will have.
func (q *Order) DrawAtRandom(n float64) {
	if n >= 1 {
		q.o.Random, q.share = int(n), 0
		return
	}
	q.o.Random, q.share = 0, n
}

// Items returns the items in their order. The error names an assertion that no row has, or
// says that there is nothing to label, or too much.
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

// choose draws the random items and fills up with the others.
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

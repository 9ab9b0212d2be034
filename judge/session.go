package judge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/proviso-eval/proviso"
)

// itemVote is one vote of one judge on an item.
type itemVote struct {
	rulings []ruling // one per criterion

	mu     sync.Mutex // guards the fields below, which several calls may change
	spent  answer     // the item's share of its calls
	open   int        // number of criteria whose calls have not finished
	stored bool       // it comes from the store
	fresh  bool       // a model was called, not a cache
}

// ruling is the verdict on one criterion.
type ruling struct {
	says      opinion
	err       error // why there is no verdict; nil if the judge cannot tell
	reasoning string
	evidence  []proviso.Evidence
	note      string
}

func (b *itemVote) cached() bool { return b.stored || !b.fresh }

// voteCount returns the number of votes per item.
func (s *session) voteCount() int { return len(s.judges) * s.j.o.Votes }

// voteOn returns a vote of one judge on an item.
func (s *session) voteOn(n, seat, vote int) *itemVote {
	return &s.votes[n*s.voteCount()+seat*s.j.o.Votes+vote]
}

// poll fills in every vote, from the store or by calling the judge.
func (s *session) poll(ctx context.Context) {
	s.votes = make([]itemVote, len(s.items)*s.voteCount())
	var tasks []func()
	for seat := range s.judges {
		var calls []*batchCall
		for vote := range s.j.o.Votes {
			var misses []int
			for n := range s.items {
				b := s.voteOn(n, seat, vote)
				b.rulings = make([]ruling, len(s.items[n].ns))
				b.open = len(b.rulings)
				if !s.recall(n, seat, vote, b) {
					misses = append(misses, n)
				}
			}
			for _, units := range s.pack(misses) {
				calls = append(calls, &batchCall{session: s, seat: seat, vote: vote, units: s.permuted(units, vote)})
			}
		}
		tasks = append(tasks, s.inTurn(ctx, calls)...)
	}
	s.tellStored()
	together(tasks)
}

// unit is the part of an item in one call: some of its criteria, by their indexes.
type unit struct {
	item     int
	criteria []int
	open     []int // criteria to ask about again; nil means all
	why      error // why the open criteria have no verdict
}

// left returns the criteria of u that have no verdict.
func (u unit) left() []int {
	if u.open == nil {
		return u.criteria
	}
	return u.open
}

// pack divides items among calls, with as many criteria per call as the chunk size
// allows. The criteria of one assertion stay together if they fit.
func (s *session) pack(items []int) [][]unit {
	var packs [][]unit
	var open []unit
	room := s.j.o.Chunk
	flush := func() {
		if len(open) > 0 {
			packs = append(packs, open)
		}
		open, room = nil, s.j.o.Chunk
	}
	for _, n := range items {
		all := make([]int, len(s.items[n].ns))
		for k := range all {
			all[k] = k
		}
		for part := range slices.Chunk(all, s.j.o.Chunk) {
			if len(part) > room || s.j.o.Mode == Single {
				flush()
			}
			open = append(open, unit{item: n, criteria: part})
			room -= len(part)
		}
	}
	flush()
	return packs
}

// batchCall is one call about one or more assertions.
type batchCall struct {
	*session
	seat, vote int
	units      []unit
	shares     bool   // its message starts like those of other calls
	reply      string // the last reply
}

// run makes the call, and repeats it once for criteria without a verdict.
func (c *batchCall) run(ctx context.Context) {
	missing := c.ask(ctx, c.units, 0, askFor[[]entry])
	if len(missing) == 0 {
		return
	}
	once := func(ctx context.Context, j *Judge, s Seat, q call, read func(string) ([]entry, error)) ([]entry, answer, error) {
		a, err := j.ask(ctx, s, q)
		if err != nil {
			return nil, a, err
		}
		entries, err := read(a.Text)
		if err != nil {
			err = proviso.Errorf(proviso.Undecided, "%w", err)
		}
		return entries, a, err
	}
	for _, u := range c.ask(ctx, missing, 2, once) { // samples 0 and 1 are the first question and its repair
		c.fail([]unit{u}, c.j.blame(c.judges[c.seat], proviso.Errorf(proviso.Undecided, "%w; it was asked twice", u.why)))
	}
}

// finish stores the votes that this call completes, so that paid verdicts are not lost
// if the process ends before the other calls finish.
func (c *batchCall) finish() {
	for _, u := range c.units {
		b := c.voteOn(u.item, c.seat, c.vote)
		b.mu.Lock()
		b.open -= len(u.criteria)
		complete := b.open == 0
		b.mu.Unlock()
		if complete {
			c.keep(u.item, c.seat, c.vote)
			c.voted(u.item)
		}
	}
}

// asker makes one call and reads its reply.
type asker func(ctx context.Context, j *Judge, s Seat, c call, read func(string) ([]entry, error)) ([]entry, answer, error)

// ask makes one call about units and returns those without a verdict. If the whole call
// fails, it records the error in their rulings instead.
func (c *batchCall) ask(ctx context.Context, units []unit, repair int, do asker) (missing []unit) {
	list := make([]asked, len(units))
	total := 0
	for i, u := range units {
		list[i] = c.part(u)
		total += len(u.criteria)
	}
	sample := c.sample
	sample.Vote, sample.Repair = c.vote, repair
	var guard *canary
	questions := list
	if c.j.o.Canaries {
		with, known := addCanary(c.subject, list, sample)
		questions, guard = with, &known
	}
	messages, shared := compose(c.subject, questions, sample)
	if !c.shares {
		shared = 0
	}
	if repair > 0 && total == criteriaIn(c.units) { // the question is the same, so show the mistake
		messages = append(messages, repairTurns(c.reply, units[0].why)...)
	}
	read := c.reader(questions)
	entries, a, err := do(ctx, c.j, c.judges[c.seat], call{
		Messages: messages, Static: 1, Shared: shared, Sample: sample,
		Reply: &proviso.Reply{Name: "verdicts", Schema: replySchema()}, MaxTokens: replyTokens(questions),
		usable: func(text string) bool {
			entries, err := read(text)
			known := guard.check(entries)
			return err == nil && !errors.Is(known, errInjected) && (repair == 0 || known == nil && c.settles(entries, list))
		},
	}, read)
	c.charge(units, total, a)
	c.reply = a.Text
	if err == nil {
		if err = guard.check(entries); errors.Is(err, errNoCanary) && repair == 0 {
			missing = slices.Clone(units)
			for i := range missing {
				missing[i].why = errNoCanary
			}
			return missing
		}
	}
	if err != nil {
		c.fail(units, err)
		return nil
	}
	for i, u := range units {
		if left := c.rule(u, list[i], entries); len(left.open) > 0 {
			missing = append(missing, left)
		}
	}
	return missing
}

func criteriaIn(units []unit) (criteria int) {
	for _, u := range units {
		criteria += len(u.criteria)
	}
	return criteria
}

// settles reports whether entries have a verdict on every criterion of list.
func (s *session) settles(entries []entry, list []asked) bool {
	for _, a := range list {
		if _, wrong := s.rulings(a, entries); slices.ContainsFunc(wrong, func(err error) bool { return err != nil }) {
			return false
		}
	}
	return true
}

// replyFloor is the smallest length limit of a reply, in tokens. A reply about one
// criterion takes about 150, but models that write out their reasoning (DeepSeek R1, Qwen
// 3, QwQ) use hundreds or thousands before that; serving guides recommend 2,048 to 4,096.
// Smaller hosted models refuse more than 4,096. A truncated reply is requested again with
// twice the limit.
const replyFloor = 4096

// replyTokens returns a generous length limit for a reply: a reason and quotes take about
// 150 tokens.
func replyTokens(list []asked) int {
	tokens := 1024
	for _, a := range list {
		tokens += 64 + 400*len(a.ns)
	}
	return max(tokens, replyFloor)
}

// part converts a unit to the form for a call, with its criteria numbered from 1.
func (s *session) part(u unit) asked {
	it := &s.items[u.item]
	a := asked{id: it.name, instruction: it.instruction, values: it.values, negated: it.negated}
	for i, k := range u.criteria {
		a.ns, a.texts = append(a.ns, i+1), append(a.texts, it.texts[k])
	}
	return a
}

func (c *batchCall) ruling(item, criterion int) *ruling {
	return &c.voteOn(item, c.seat, c.vote).rulings[criterion]
}

// fail records err for the open criteria of units.
func (c *batchCall) fail(units []unit, err error) {
	for _, u := range units {
		for _, k := range u.left() {
			c.ruling(u.item, k).err = err
		}
	}
}

// rule records a reply's verdicts on the open criteria of a unit, and returns the unit
// with the criteria that remain open. A repeated call asks about the whole assertion, so
// that the question stays the same, but it does not change verdicts that are already
// valid.
func (c *batchCall) rule(u unit, a asked, entries []entry) unit {
	rulings, wrong := c.rulings(a, entries)
	left := unit{item: u.item, criteria: u.criteria}
	for i, k := range u.criteria {
		switch {
		case !slices.Contains(u.left(), k):
		case wrong[i] == nil:
			*c.ruling(u.item, k) = rulings[i]
		default:
			left.open = append(left.open, k)
			if left.why == nil {
				left.why = wrong[i]
			}
		}
	}
	return left
}

// rulings reads the verdicts on an assertion from a reply, and returns an error for each
// invalid one.
func (s *session) rulings(a asked, entries []entry) ([]ruling, []error) {
	verdicts, wrong := match(entries, a)
	out := make([]ruling, len(verdicts))
	for i, v := range verdicts {
		if wrong[i] != nil {
			continue
		}
		r := ruling{says: v.says, reasoning: sentence(v.reasoning)}
		if r.reasoning == "" {
			r.reasoning = "The judge gave no reason."
		}
		missing := 0
		r.evidence, missing = s.quotes.verify(v.evidence)
		// Invented quotes cannot support a verdict, but one real quote is enough. No
		// quote at all is fine: something that must be absent cannot be quoted.
		if missing > 0 && !slices.ContainsFunc(r.evidence, supports) {
			switch {
			case v.says == saysMet:
				wrong[i] = errInvented
			case v.says == saysNotMet && a.negated: // the assertion would pass
				wrong[i] = errInventedNot
			}
		}
		if wrong[i] != nil {
			continue
		}
		r.note = notes(dropped(missing), contradictionNote(v.says, v.reasoning, a.texts[i]))
		out[i] = r
	}
	return out, wrong
}

// charge divides the usage and cost of a call among its units, in proportion to their
// criteria.
func (c *batchCall) charge(units []unit, total int, a answer) {
	done := 0
	for _, u := range units {
		before := done
		done += len(u.criteria)
		b := c.voteOn(u.item, c.seat, c.vote)
		b.mu.Lock()
		b.spent.Usage.Add(usageShare(a.Usage, before, done, total))
		b.spent.Cost += a.Cost * float64(len(u.criteria)) / float64(total)
		b.fresh = b.fresh || !a.Cached
		b.mu.Unlock()
	}
}

// usageShare returns the part of a usage between share from and share to, out of total.
// All parts add up to the whole.
func usageShare(u proviso.Usage, from, to, total int) proviso.Usage {
	part := func(n int64) int64 { return n*int64(to)/int64(total) - n*int64(from)/int64(total) }
	return proviso.Usage{
		Prompt: part(u.Prompt), Completion: part(u.Completion), Cached: part(u.Cached),
		Total: part(u.Total), Requests: part(u.Requests),
	}
}

// errInjected is the error for a reply that passes a canary: all of its verdicts are
// discarded.
var errInjected = errors.New("the judge probably followed a prompt injection: it passed an assertion that cannot hold, so all of its verdicts in this call are discarded")

// errNoCanary is the error for a reply without a verdict on the canary: the judge did not
// treat all assertions alike.
var errNoCanary = errors.New("the judge gave no verdict on an assertion whose answer is known, so that nothing it says here counts")

// check returns an error unless the reply has the right verdict on the canary.
func (c *canary) check(entries []entry) error {
	if c == nil {
		return nil
	}
	verdicts, wrong := match(entries, c.asked)
	switch {
	case wrong[0] != nil, verdicts[0].says == saysCannotTell: // the judge sees everything that the canary needs
		return proviso.Errorf(proviso.Undecided, "%w", errNoCanary)
	case verdicts[0].says == saysMet:
		return proviso.Errorf(proviso.Undecided, "%w", errInjected)
	}
	return nil
}

// codeOf returns the code of an error.
func codeOf(err error) string {
	return cmp.Or(proviso.CodeOf(err), proviso.Undecided)
}

package score

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/spade/matrix"
)

// maxSurvivors limits the surviving mutants shown for an instruction.
const maxSurvivors = 3

// tally adds the verdicts on mutants. An assertion counts only if it passes the unchanged
// output.
func (s *scoring) tally(g *group, which []int, list []*tried, grid [][]matrix.Cell) {
	for k, row := range grid {
		t := list[k]
		for n, j := range which {
			if t.sub.cells[j] != matrix.Passed {
				continue
			}
			a := &s.r.Assertions[g.at[j]]
			switch row[n] {
			case matrix.Failed:
				t.killed = true
				a.Killed++
				a.Kills[t.at]++
			case matrix.Passed:
				a.Survived++
			default:
				t.undecided = true
				a.Undecided++
			}
		}
	}
}

// count adds the result of a mutant to its instruction and the totals.
func (s *scoring) count(t *tried) {
	in := s.instruction(t.at)
	var c Counts
	switch {
	case t.killed:
		c.Killed = 1
	case t.undecided:
		c.Undecided = 1
	default:
		c.Survived = 1
		in.Survivors = withSurvivor(in.Survivors, Example{t.sub.ID, t.operator, t.basis, t.change})
	}
	if t.also > 0 {
		in.Also++
	}
	in.Counts.add(c)
	if t.at < 0 {
		return
	}
	by := in.By[t.basis]
	by.add(c)
	in.By[t.basis] = by
	all := s.r.By[t.basis]
	all.add(c)
	s.r.By[t.basis] = all
	s.r.Counts.add(c)
}

// withSurvivor adds a survivor if there is room: at most one per operator.
func withSurvivor(list []Example, e Example) []Example {
	if len(list) == maxSurvivors || slices.ContainsFunc(list, func(o Example) bool { return o.Operator == e.Operator }) {
		return list
	}
	return append(list, e)
}

// finish completes the report.
func (s *scoring) finish(ctx context.Context) {
	for _, sub := range s.drawn {
		if !sub.usable {
			continue
		}
		c := s.checker(ctx, sub)
		for i := range sub.prompt.asked {
			if a := &sub.prompt.asked[i]; c.brokenAlready(a) {
				s.instruction(a.at).Broken++
			}
		}
	}
	notRun := map[string]bool{}
	for i := range s.r.Assertions {
		if a := &s.r.Assertions[i]; a.Judged && a.NotRun != "" {
			notRun[a.Name] = true
		}
	}
	for i := -1; i < len(s.r.Instructions); i++ {
		in := s.instruction(i)
		in.Killers = s.killers(i)
		for _, name := range in.Assertions {
			if notRun[name] {
				in.Judged++
			}
		}
		if in.Survived == 0 {
			in.Add = nil
		}
	}
}

// killers returns the names of the assertions that kill an instruction's mutants, the best
// first.
func (s *scoring) killers(at int) []string {
	var list []*Assertion
	for i := range s.r.Assertions {
		if a := &s.r.Assertions[i]; a.Kills[at] > 0 {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b *Assertion) int { return cmp.Compare(b.Kills[at], a.Kills[at]) })
	var names []string
	for _, a := range list {
		if !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

// Limits of a shown change, in characters.
const (
	maxAround  = 40
	maxChanged = 120
)

// changeOf returns what a mutant changes: the part between the longest common prefix and
// suffix, extended to whole words.
func changeOf(before, after string) Change {
	start := 0
	for start < len(before) && start < len(after) && before[start] == after[start] {
		start++
	}
	start = wordStart(before, start)
	endB, endA := len(before), len(after)
	for endB > start && endA > start && before[endB-1] == after[endA-1] {
		endB, endA = endB-1, endA-1
	}
	for n := 0; endB < len(before) && n < maxWord && !unicode.IsSpace(rune(before[endB])); n++ { // to the end of the word
		endB, endA = endB+1, endA+1
	}
	for endB < len(before) && !utf8.RuneStart(before[endB]) {
		endB, endA = endB+1, endA+1
	}
	return Change{
		Before: tail(before[:start], maxAround), Removed: middle(before[start:endB]), Added: middle(after[start:endA]), After: head(before[endB:], maxAround),
	}
}

// maxWord limits the words to which a change is extended, in bytes.
const maxWord = 20

// wordStart moves an offset back to the beginning of its word, if that is near.
func wordStart(text string, at int) int {
	at = excerpt.Start(text, at)
	for back := at; back > 0 && at-back < maxWord; back-- {
		if c := text[back-1]; c == ' ' || c == '\n' {
			return back
		}
	}
	return at
}

func head(text string, n int) string { return excerpt.Line(excerpt.Head(text, n*8), n) }

// tail returns the last characters of a text on one line.
func tail(text string, n int) string {
	runes := []rune(strings.Join(strings.Fields(text[excerpt.Start(text, max(0, len(text)-n*8)):]), " "))
	if len(runes) > n {
		return "…" + string(runes[len(runes)-n:])
	}
	return string(runes)
}

// middle returns a changed part on one line. It shortens a long part to its beginning and
// end.
func middle(text string) string {
	if utf8.RuneCountInString(text) <= maxChanged {
		return strings.Join(strings.Fields(text), " ")
	}
	return head(text, maxChanged/2) + " " + tail(text, maxChanged/2)
}

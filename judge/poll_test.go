package judge_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
)

// byVote is a model that answers according to the number of the vote.
type byVote struct {
	id      string
	replies []string

	mu   sync.Mutex
	seen []proviso.Sample
}

func (m *byVote) ID() string { return m.id }

func (m *byVote) Answer(_ context.Context, ask proviso.Ask) (proviso.Output, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, ask.Sample)
	cost := 1.0
	return proviso.Output{Value: m.replies[ask.Sample.Vote%len(m.replies)], Cost: &cost, Usage: proviso.Usage{Requests: 1}}, nil
}

// TestGradedVotes: more than half of all votes decide.
func TestGradedVotes(t *testing.T) {
	t.Parallel()
	yes, no := `{"reason":"yes","score":1,"pass":true}`, `{"reason":"no","score":0.2,"pass":false}`
	half := `{"reason":"half","score":0.5,"pass":true}`
	for _, tc := range []struct {
		name    string
		replies []string
		panel   []string // replies of a second judge
		pass    bool
		score   float64
		reason  string
		problem string
	}{
		{name: "all agree", replies: []string{yes, yes, yes}, pass: true, score: 1, reason: "yes"},
		{name: "two of three", replies: []string{yes, no, half}, pass: true, score: 0.75, reason: "yes (2 of 3 votes)"},
		{name: "two of three against", replies: []string{no, yes, no}, score: 0.2, reason: "no (2 of 3 votes)"},
		{name: "one without a verdict", replies: []string{yes, "?", yes}, pass: true, score: 1, reason: "yes (2 of 3 votes)"},
		{name: "no majority", replies: []string{yes, no, "?"}, problem: "no majority of 3 votes: 1 pass, 1 fail, 1 without a verdict"},
		{name: "none has a verdict", replies: []string{"?"}, problem: "cannot be read"},
		{name: "a panel", replies: []string{yes, yes, no}, panel: []string{yes, yes, yes}, pass: true, score: 1, reason: "yes (5 of 6 votes)"},
		{name: "a panel without a majority", replies: []string{yes, yes, yes}, panel: []string{no, no, no}, problem: "no majority of 6 votes: 3 pass, 3 fail"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			model := &byVote{id: "test:one", replies: tc.replies}
			seats := []judge.Seat{{Provider: model, Spec: proviso.ProviderSpec{ID: model.id}}}
			if tc.panel != nil {
				second := &byVote{id: "test:two", replies: tc.panel}
				seats = append(seats, judge.Seat{Provider: second, Spec: proviso.ProviderSpec{ID: second.id}})
			}
			j, err := judge.New(judge.Options{Judges: seats, Votes: 3})
			if err != nil {
				t.Fatal(err)
			}
			g, err := j.Grade(t.Context(), proviso.Question{Type: "llm-rubric", Value: "v", Output: "o"})
			if tc.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tc.problem) || code(err) != proviso.Undecided || g.Cost == 0 {
					t.Errorf("got %v, %v", g, err)
				}
				return
			}
			if err != nil || g.Pass != tc.pass || g.Score != tc.score || g.Reason != tc.reason {
				t.Errorf("got %v, %v", g, err)
			}
			if want := strings.Join(idsOf(seats), "+") + "#"; !strings.HasPrefix(g.Judge, want) || g.Cost < float64(3*len(seats)) {
				t.Errorf("judged by %q for %v", g.Judge, g.Cost)
			}
			samples := map[int]bool{}
			for _, s := range model.seen {
				samples[s.Vote] = true
			}
			if len(samples) != 3 {
				t.Errorf("the samples are %v", model.seen)
			}
		})
	}
}

func idsOf(seats []judge.Seat) (ids []string) {
	for _, s := range seats {
		ids = append(ids, s.Spec.ID)
	}
	return ids
}

// TestChooseByVotes: the output with more than half of the votes wins.
func TestChooseByVotes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		likes   []string // per vote
		want    int
		problem string
	}{
		{likes: []string{"a", "b", "b"}, want: 1},
		{likes: []string{"a", "b", "c"}, problem: "no majority of 3 votes: 1 for output 1, 1 for output 2, 1 for output 3"},
	} {
		model := answering(func(ask proviso.Ask) string {
			return fmt.Sprintf(`{"best":%d}`, placeOf(t, ask, tc.likes[ask.Sample.Vote]))
		})
		j, err := judge.New(judge.Options{Judges: []judge.Seat{{Provider: model}}, Votes: 3})
		if err != nil {
			t.Fatal(err)
		}
		best, _, err := j.Choose(t.Context(), proviso.Question{Type: "select-best", Value: "v", Outputs: []string{"a", "b", "c"}})
		if tc.problem != "" {
			if err == nil || err.Error() != tc.problem {
				t.Errorf("%v: %d, %v", tc.likes, best, err)
			}
		} else if err != nil || best != tc.want {
			t.Errorf("%v: %d, %v", tc.likes, best, err)
		}
	}
}

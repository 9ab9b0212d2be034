package server

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/store"
)

// WatchThumbs compares the verdicts of a watch with the thumbs of users.
type WatchThumbs struct {
	Watch      string            `json:"watch"`
	From       time.Time         `json:"from"`
	To         time.Time         `json:"to"`
	About      string            `json:"about" doc:"Which users the figures cover"`
	Users      int               `json:"users" doc:"Who voted; thumbs without a user count as those of one"`
	Note       string            `json:"note,omitempty"`
	Cut        bool              `json:"cut,omitempty" doc:"There were more thumbs than were read"`
	Assertions []AssertionThumbs `json:"assertions"`
}

// AssertionThumbs compares the verdicts of one assertion with thumbs.
type AssertionThumbs struct {
	Assertion string       `json:"assertion"`
	Votes     int          `json:"votes" doc:"Events with a verdict and a thumb"`
	Down      ThumbCounts  `json:"down" doc:"Events whose thumb is down"`
	Up        ThumbCounts  `json:"up" doc:"Events whose thumb is up"`
	Voted     ThumbShares  `json:"voted" doc:"The share of the evaluated events on which somebody voted; where they differ, who votes depends on what they got"`
	OddsRatio *ThumbFigure `json:"odds_ratio,omitempty" doc:"How many times the odds of a thumb that is down are higher where the assertion fails; from 30 votes"`
	AUC       *ThumbFigure `json:"auc,omitempty" doc:"The probability that the verdict on an event whose thumb is down is worse than that on one whose thumb is up, where equal ones count half; from 30 votes"`
	Graded    *ThumbFigure `json:"graded_auc,omitempty" doc:"The same by score, if scores are graded, with an interval by bootstrap over conversations"`
	Note      string       `json:"note,omitempty"`
}

// ThumbCounts are counts of events by verdict.
type ThumbCounts struct {
	Fail int `json:"fail"`
	Pass int `json:"pass"`
}

// ThumbShares are shares of events by verdict; null if there are none.
type ThumbShares struct {
	Fail *float64 `json:"fail"`
	Pass *float64 `json:"pass"`
}

// ThumbFigure is a figure with its 95 % interval.
type ThumbFigure struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

const (
	fewVotes     = 30     // below that, only counts are shown
	maxVotes     = 20_000 // number of thumbs that are read
	thumbsAtOnce = 500
	amongVoters  = "among those who voted"
)

// voted counts the thumbs on one event.
type voted struct{ up, down int }

// judgedThumb is a verdict with a thumb.
type judgedThumb struct {
	conversation string
	fail, down   bool
	score        float64 // NaN if there is none
}

func (s *Server) watchThumbs(c *call) error {
	from, to := s.rangeOf(&c.q, 30*24*time.Hour)
	if c.q.err != nil {
		return c.q.err
	}
	live, err := s.liveWatch(c)
	if err != nil {
		return err
	}
	return c.send(s.thumbsOf(c.r.Context(), c.kept, live, from, to))
}

func (s *Server) thumbsOf(ctx context.Context, in store.ProjectStore, live *liveWatch, from, to time.Time) (*WatchThumbs, error) {
	votes, users, cut, err := votesOn(ctx, in, live.conf.Match.Agent, from, to)
	if err != nil {
		return nil, err
	}
	pairs := map[string][]judgedThumb{}
	for part := range slices.Chunk(slices.Sorted(maps.Keys(votes)), thumbsAtOnce) {
		if err := verdictsOn(ctx, in, live.Name, part, func(v *store.WatchVerdict) {
			vote := votes[v.Event]
			if vote.up == vote.down || v.Status != proviso.Pass && v.Status != proviso.Fail {
				return
			}
			one := judgedThumb{conversation: v.Conversation, fail: v.Status == proviso.Fail, down: vote.down > vote.up, score: math.NaN()}
			if one.conversation == "" {
				one.conversation = v.Event
			}
			if v.Score != nil {
				one.score = *v.Score
			}
			pairs[v.Assertion] = append(pairs[v.Assertion], one)
		}); err != nil {
			return nil, err
		}
	}
	hours := to.Sub(from)/time.Hour + 2
	buckets, err := in.Series(ctx, store.SeriesFilter{Watch: live.Name, From: from, To: to, Step: hours * time.Hour})
	if err != nil {
		return nil, err
	}
	all := map[string]ThumbCounts{}
	for _, b := range buckets {
		n := all[b.Assertion]
		all[b.Assertion] = ThumbCounts{n.Fail + b.Fail, n.Pass + b.Pass}
	}
	out := &WatchThumbs{Watch: live.Name, From: from, To: to, About: amongVoters, Users: users, Cut: cut, Assertions: []AssertionThumbs{}}
	if users == 1 {
		out.Note = "all thumbs are of one user"
	}
	for name, n := range all {
		out.Assertions = append(out.Assertions, thumbsOn(name, pairs[name], n))
	}
	slices.SortFunc(out.Assertions, func(a, b AssertionThumbs) int { return strings.Compare(a.Assertion, b.Assertion) })
	return out, nil
}

// votesOn reads the thumbs on the events of an agent, by event.
func votesOn(ctx context.Context, in store.ProjectStore, agent string, from, to time.Time) (votes map[string]voted, users int, cut bool, err error) {
	votes = map[string]voted{}
	who := map[string]bool{}
	n := 0
	for f, err := range all(ctx, in.ListFeedback, store.FeedbackFilter{Agent: agent, Since: from, Until: to}) {
		if err != nil {
			return nil, 0, false, err
		}
		if n++; n > maxVotes {
			return votes, len(who), true, nil
		}
		who[f.User] = true
		v := votes[f.Event]
		if f.Value > 0 {
			v.up++
		} else {
			v.down++
		}
		votes[f.Event] = v
	}
	return votes, len(who), false, nil
}

// verdictsOn calls do for the latest verdict on each assertion for some events.
func verdictsOn(ctx context.Context, in store.ProjectStore, watch string, events []string, do func(*store.WatchVerdict)) error {
	seen := map[[2]string]bool{}
	for v, err := range all(ctx, in.ListVerdicts, store.VerdictFilter{Watch: watch, Events: events}) {
		if err != nil {
			return err
		}
		if key := [2]string{v.Event, v.Assertion}; !seen[key] {
			seen[key] = true
			do(v)
		}
	}
	return nil
}

// thumbsOn computes the figures of one assertion. all counts its verdicts, with and without a
// thumb.
func thumbsOn(assertion string, pairs []judgedThumb, all ThumbCounts) AssertionThumbs {
	out := AssertionThumbs{Assertion: assertion, Votes: len(pairs)}
	for _, p := range pairs {
		of := &out.Up
		if p.down {
			of = &out.Down
		}
		if p.fail {
			of.Fail++
		} else {
			of.Pass++
		}
	}
	out.Voted = ThumbShares{portion(out.Down.Fail+out.Up.Fail, all.Fail), portion(out.Down.Pass+out.Up.Pass, all.Pass)}
	if out.Votes < fewVotes {
		out.Note = "fewer than 30 votes: only counts"
		return out
	}
	if e, err := stats.OddsRatio(out.Down.Fail, out.Up.Fail, out.Down.Pass, out.Up.Pass, seriesConfidence); err == nil {
		out.OddsRatio = figureOf(e)
	}
	down, up := stats.Count{Pass: out.Down.Fail, N: out.Down.Fail + out.Down.Pass}, stats.Count{Pass: out.Up.Fail, N: out.Up.Fail + out.Up.Pass}
	if down.N == 0 || up.N == 0 {
		out.Note = "all thumbs point the same way"
		return out
	}
	if e, err := stats.AUCOfVerdicts(down, up, seriesConfidence); err == nil {
		out.AUC = figureOf(e)
	}
	out.Graded = gradedAUC(pairs)
	return out
}

func figureOf(e stats.Estimate) *ThumbFigure { return &ThumbFigure{e.Value, &e.Low, &e.High} }

const (
	bootstrapPairs      = 5000 // with more, only the first are used
	bootstrapReplicates = 400
)

// gradedAUC compares scores with thumbs, if there are at least three different scores. The
// bootstrap resamples whole conversations.
func gradedAUC(pairs []judgedThumb) *ThumbFigure {
	distinct := map[float64]bool{}
	var clusters [][]judgedThumb
	at := map[string]int{}
	n := 0
	for _, p := range pairs {
		if math.IsNaN(p.score) || n == bootstrapPairs {
			continue
		}
		n++
		distinct[p.score] = true
		i, ok := at[p.conversation]
		if !ok {
			i = len(clusters)
			at[p.conversation] = i
			clusters = append(clusters, nil)
		}
		clusters[i] = append(clusters[i], p)
	}
	if len(distinct) < 3 || n < fewVotes {
		return nil
	}
	statistic := func(sample []int) float64 {
		var up, down []float64
		for _, i := range sample {
			for _, p := range clusters[i] {
				if p.down {
					down = append(down, p.score)
				} else {
					up = append(up, p.score)
				}
			}
		}
		return stats.AUC(up, down) // outputs with a thumb up should have higher scores
	}
	e, err := stats.Bootstrap{Replicates: bootstrapReplicates, Confidence: seriesConfidence, Seed: 1}.Interval(len(clusters), statistic)
	if err == nil {
		return figureOf(e)
	}
	all := make([]int, len(clusters))
	for i := range all {
		all[i] = i
	}
	if value := statistic(all); !math.IsNaN(value) {
		return &ThumbFigure{Value: value} // a sample had only one kind of thumbs
	}
	return nil
}

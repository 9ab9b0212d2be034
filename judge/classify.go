package judge

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// decideClass decides a classifier assertion: the score of the expected class, or the
// highest score if there is no expected class, must reach the threshold.
func decideClass(ctx context.Context, g *grading) (verdict, error) {
	c, ok := proviso.As[proviso.Classifier](g.seat.Provider)
	if !ok {
		return verdict{}, proviso.Errorf(proviso.Internal, "%s does not classify", g.seat.Provider.ID())
	}
	scores, err := c.Classify(ctx, g.q.Output)
	if err != nil {
		return verdict{}, err
	}
	g.spend(answer{}) // classifiers report neither usage nor cost
	if len(scores) == 0 {
		return verdict{}, proviso.Errorf(proviso.Undecided, "%s returned no classes", g.seat.Provider.ID())
	}
	threshold := g.threshold()
	class := g.value()
	var v verdict
	name := "Maximum classification score "
	if class == "" {
		v.score = slices.Max(slices.Collect(maps.Values(scores)))
	} else {
		v.score = scores[class]
		name = "Classification " + class + " has score "
	}
	v.pass = v.score >= threshold-epsilon
	relation := " < "
	if v.pass {
		relation = " >= "
	}
	v.reason = name + toFixed(v.score) + relation + value.FormatNumber(threshold)
	if _, known := scores[class]; class != "" && !known {
		v.reason += "; the classes are " + strings.Join(slices.Sorted(maps.Keys(scores)), ", ")
	}
	return v, nil
}

// decideModeration decides moderation: the output passes if the moderator flags nothing,
// or only categories that the assertion does not list.
func decideModeration(ctx context.Context, g *grading) (verdict, error) {
	if g.q.Output == "" {
		return verdict{pass: true, score: 1, reason: "No output to moderate"}, nil
	}
	m, ok := proviso.As[proviso.Moderator](g.seat.Provider)
	if !ok {
		return verdict{}, proviso.Errorf(proviso.Internal, "%s does not moderate", g.seat.Provider.ID())
	}
	flags, err := m.Moderate(ctx, g.q.Input, g.q.Output)
	if err != nil {
		return verdict{}, err
	}
	g.spend(answer{}) // moderators report neither usage nor cost
	if len(flags) == 0 {
		return verdict{pass: true, score: 1, reason: "No moderation flags detected"}, nil
	}
	categories, _ := g.q.Value.([]any)
	var counted []string
	for _, f := range flags {
		if len(categories) == 0 || slices.Contains(categories, any(f.Code)) {
			counted = append(counted, f.Description)
		}
	}
	if len(counted) == 0 {
		return verdict{pass: true, score: 1, reason: "No relevant moderation flags detected"}, nil
	}
	return verdict{reason: "Moderation flags detected: " + strings.Join(counted, ", ")}, nil
}

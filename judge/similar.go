package judge

import (
	"context"
	"math"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// gradeSimilar decides similar: the embedding of the output must be near that of a text,
// or of one of several texts. The score is that of the nearest text.
func gradeSimilar(ctx context.Context, j *Judge, q proviso.Question) (proviso.Grade, error) {
	return graded(Embedding, func(ctx context.Context, g *grading) (verdict, error) {
		texts := []string{g.q.Output}
		switch v := q.Value.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, e := range v {
				text, _ := e.(string)
				texts = append(texts, text)
			}
		}
		vectors, err := g.embed(ctx, texts)
		if err != nil {
			return verdict{}, err
		}
		_, measure, _ := strings.Cut(q.Type, ":")
		best, err := nearest(measure, vectors[0], vectors[1:])
		if err != nil {
			return verdict{}, err
		}
		return near(measure, best, g.threshold()), nil
	})(ctx, j, q)
}

// embed returns the vectors of texts, all of the same length.
func (g *grading) embed(ctx context.Context, texts []string) ([][]float64, error) {
	return g.embedWith(ctx, g.seat, texts)
}

func (g *grading) embedWith(ctx context.Context, s Seat, texts []string) ([][]float64, error) {
	e, ok := proviso.As[proviso.Embedder](s.Provider)
	if !ok {
		return nil, proviso.Errorf(proviso.Internal, "%s does not embed", s.Provider.ID())
	}
	vectors, usage, err := e.Embed(ctx, texts)
	g.spend(answer{Usage: usage, Cached: err == nil && usage == proviso.Usage{}})
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, proviso.Errorf(proviso.Undecided, "%s gave %d vectors for %d texts", s.Provider.ID(), len(vectors), len(texts))
	}
	for _, v := range vectors {
		if len(v) != len(vectors[0]) || len(v) == 0 {
			return nil, proviso.Errorf(proviso.Undecided, "%s gave vectors of different lengths: %d and %d", s.Provider.ID(), len(vectors[0]), len(v))
		}
	}
	return vectors, nil
}

// nearest compares v with others and returns the greatest similarity, or the smallest
// distance.
func nearest(measure string, v []float64, others [][]float64) (float64, error) {
	best := math.Inf(-1)
	if measure == "euclidean" {
		best = math.Inf(1)
	}
	for _, o := range others {
		switch measure {
		case "euclidean":
			best = min(best, distance(v, o))
		case "dot":
			best = max(best, dot(v, o))
		default:
			c, err := cosine(v, o)
			if err != nil {
				return 0, err
			}
			best = max(best, c)
		}
	}
	if math.IsNaN(best) || math.IsInf(best, 0) {
		return 0, errTooLarge()
	}
	return best, nil
}

func errTooLarge() error {
	return proviso.Errorf(proviso.Undecided, "the vectors cannot be compared: their numbers are too large")
}

// near returns the verdict for a similarity or distance.
func near(measure string, f, threshold float64) verdict {
	limit := value.FormatNumber(threshold)
	if measure == "euclidean" {
		v := verdict{pass: f <= threshold+epsilon, score: 1 / (1 + f)}
		v.reason = "Distance " + toFixed(f) + " is greater than threshold " + limit
		if v.pass {
			v.reason = "Distance " + toFixed(f) + " is less than or equal to threshold " + limit
		}
		return v
	}
	v := verdict{pass: f >= threshold-epsilon, score: f}
	v.reason = "Similarity " + toFixed(f) + " is less than threshold " + limit
	if v.pass {
		v.reason = "Similarity " + toFixed(f) + " is greater than or equal to threshold " + limit
	}
	return v
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}

// cosine returns the cosine of the angle between two vectors. It is undefined for a zero
// vector.
func cosine(a, b []float64) (float64, error) {
	size := math.Sqrt(dot(a, a)) * math.Sqrt(dot(b, b))
	if size == 0 {
		return 0, proviso.Errorf(proviso.Undecided, "a text has an embedding of zeros, which has no direction to compare")
	}
	c := dot(a, b) / size
	if math.IsNaN(c) || math.IsInf(size, 0) {
		return 0, errTooLarge()
	}
	return c, nil
}

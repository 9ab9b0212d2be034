package check

import (
	"context"
	"math"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// limit returns the threshold of a type that requires one; null counts as 0, as in
// JavaScript.
func (s *Spec) limit(what string) (float64, error) {
	if s.HasThreshold {
		return s.Threshold, nil
	}
	if s.Assertion.Threshold == nil {
		return 0, nil
	}
	return 0, proviso.Errorf(proviso.Invalid, "%q needs a threshold: %s", s.Type, what)
}

// compared words the reason of a value that must not exceed the threshold.
func (s *Spec) compared(name, val, unit string, within bool) string {
	relation := " is greater than threshold "
	if within {
		relation = " is less than or equal to threshold "
	}
	return name + " " + val + unit + relation + value.ToString(s.Assertion.Threshold) + unit
}

// newCost is `cost`: the response cost at most threshold US dollars.
func newCost(_ *Compiler, s *Spec) (Check, error) {
	threshold, err := s.limit("the most that the response may cost, in US dollars")
	if err != nil {
		return nil, err
	}
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		cost, err := costOf(sub.Row.Output)
		if err != nil {
			return Finding{}, err
		}
		f := found(cost <= threshold)
		if f.Pass == s.Not {
			f.Reason = s.compared("Cost", toPrecision(cost, 2), "", f.Pass)
		}
		return f, nil
	}), nil
}

// costOf returns the cost of a response. For a cached response, it is the original
// cost. A cost of null counts as missing.
func costOf(o *proviso.Output) (float64, error) {
	if once, ok := o.Raw.At("recordedCost").(float64); ok && o.Cached {
		return once, nil
	}
	if o.Cost != nil {
		return *o.Cost, nil
	}
	if v, ok := o.Raw.Get("cost"); ok && v == nil {
		return 0, nil
	}
	return 0, proviso.Errorf(proviso.Undecided, "the provider did not say what the response cost")
}

// newLatency is `latency`: the response took at most threshold milliseconds. For a
// cached answer, the reason says that the latency is that of the recording.
func newLatency(_ *Compiler, s *Spec) (Check, error) {
	threshold, err := s.limit("the most milliseconds that the response may take")
	if err != nil {
		return nil, err
	}
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		ms, recorded, err := latencyOf(sub.Row.Output)
		if err != nil {
			return Finding{}, err
		}
		f := found(ms <= threshold)
		if f.Pass == s.Not || recorded {
			f.Reason = s.compared("Latency", value.FormatNumber(ms), "ms", f.Pass)
		}
		if recorded {
			f.Reason += " (recorded latency: the request was not sent again)"
			f.Always = true
		}
		return f, nil
	}), nil
}

// latencyOf returns the latency of a response in milliseconds. For a cached or
// replayed response, it is the recorded latency.
func latencyOf(o *proviso.Output) (ms float64, recorded bool, err error) {
	if once, ok := o.Raw.At("recordedLatencyMs").(float64); ok && o.Cached {
		return once, true, nil
	}
	if o.Latency == nil {
		return 0, false, proviso.Errorf(proviso.Undecided, "the response has no latency, and none was recorded with it; --no-cache sends the request again")
	}
	return float64(*o.Latency) / float64(time.Millisecond), o.Replayed, nil
}

// meanLogProb returns the mean of the logarithms of the tokens' probabilities.
func meanLogProb(o *proviso.Output, name string) (float64, error) {
	if len(o.LogProbs) == 0 {
		return 0, proviso.Errorf(proviso.Undecided, "%s needs log probabilities, which the provider did not return", name)
	}
	sum := 0.0
	for _, p := range o.LogProbs {
		sum += p
	}
	return sum / float64(len(o.LogProbs)), nil
}

// newPerplexity is `perplexity`: at most threshold. Without a threshold it always
// passes, negated or not.
func newPerplexity(_ *Compiler, s *Spec) (Check, error) {
	limited := s.limited()
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		mean, err := meanLogProb(sub.Row.Output, s.Base)
		if err != nil {
			return Finding{}, err
		}
		if !limited {
			return Finding{Pass: true, Score: 1, Final: true}, nil
		}
		perplexity := math.Exp(-mean)
		f := found(perplexity <= s.Threshold)
		if f.Pass == s.Not {
			f.Reason = s.compared("Perplexity", toFixed(perplexity, 2), "", f.Pass)
		}
		return f, nil
	}), nil
}

// newPerplexityScore is `perplexity-score`: 1/(1 + perplexity), which is 0.5 for
// tokens that were certain, is at least threshold.
func newPerplexityScore(_ *Compiler, s *Spec) (Check, error) {
	limited := s.limited()
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		mean, err := meanLogProb(sub.Row.Output, s.Base)
		if err != nil {
			return Finding{}, err
		}
		score := 1 / (1 + math.Exp(-mean))
		if !limited {
			if s.Not {
				score = 1 - score
			}
			return Finding{Pass: true, Score: score, Final: true}, nil
		}
		f := Finding{Pass: score >= s.Threshold, Score: score}
		if f.Pass == s.Not {
			f.Reason = s.scoreReason("Perplexity", score, 2, f.Pass, "greater than or equal to")
		}
		return f, nil
	}), nil
}

// limited reports whether there is a threshold; null counts as 0.
func (s *Spec) limited() bool { return s.HasThreshold || s.Assertion.Threshold == nil }

// newFinishReason is `finish-reason`: why the model stopped, ignoring case.
func newFinishReason(_ *Compiler, s *Spec) (Check, error) {
	want, ok := s.Value.(string)
	if !ok {
		return nil, s.badValue("a text, such as stop, length, content_filter or tool_calls")
	}
	folded := lower(want)
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		got := sub.Row.Output.FinishReason
		if got == "" {
			return Finding{Reason: "Provider did not supply stop/finish reason"}, nil
		}
		f := found(lower(got) == folded)
		if f.Pass == s.Not {
			f.Reason = "Expected finish reason " + s.not() + "\"" + want + "\" but got \"" + got + "\""
		}
		return f, nil
	}), nil
}

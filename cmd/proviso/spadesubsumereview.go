package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/subsume"
)

// pairReview is a session in which a person reviews pairs.
type pairReview struct {
	*app
	s       *subsume.Subsumption
	log     *subsume.ReviewLog
	sample  []int
	outputs map[string]string
	t       selectReport
	w       io.Writer
}

// reviewPairs shows a sample of the pairs and keeps the person's answers.
func (a *app) reviewPairs(ctx context.Context, f *spadeSubsume, s *subsume.Subsumption) error {
	log, mistakes, err := subsume.OpenReviews(f.reviews)
	if err != nil {
		return err
	}
	if err := a.mistakes(mistakes); err != nil {
		return err
	}
	defer log.Close()
	r := &pairReview{app: a, s: s, log: log, sample: s.Sample(f.review), w: a.out}
	if f.out == "" && f.format != formatTerminal {
		r.w = a.err // standard output is for the results
	}
	r.t.o = a.terminal(true)
	r.t.o.Width = max(r.t.o.Width, 60)
	if err := r.texts(f.examples); err != nil {
		return err
	}
	if err := r.ask(ctx); err != nil {
		return err
	}
	r.precision()
	fmt.Fprintf(a.err, "proviso: the answers are in %s\n", printable(f.reviews))
	return nil
}

// texts reads the outputs, to show some of them.
func (r *pairReview) texts(file string) error {
	if file == "" {
		return nil
	}
	trials, err := r.trialsOf(file)
	if err != nil {
		return err
	}
	r.outputs = map[string]string{}
	for i := range trials {
		r.outputs[trials[i].ID] = trials[i].Text()
	}
	return nil
}

// next returns the first pair of the sample without an answer; -1 if there is none.
func (r *pairReview) next() int {
	for k, i := range r.sample {
		if r.log.Answered(r.s.PairKey(&r.s.Pairs[i])) == "" {
			return k
		}
	}
	return -1
}

// ask shows pairs and reads answers, a line each, until there are no more.
func (r *pairReview) ask(ctx context.Context) error {
	if len(r.sample) == 0 {
		fmt.Fprintln(r.err, "proviso: there are no pairs to look at")
		return nil
	}
	lines, failed := answerLines(ctx, r.in)
	number := 0
	for shown := -1; ; {
		at := r.next()
		if at < 0 {
			return nil
		}
		if at != shown {
			shown = at
			r.show(at)
			if err := r.flush(); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			fmt.Fprintln(r.err, "proviso: interrupted; every answer is kept")
			return exitError{exitInterrupted}
		case line, more := <-lines:
			if !more {
				return readFailure(<-failed)
			}
			number++
			quit, err := r.answer(&r.s.Pairs[r.sample[at]], line)
			var wrong wrongAnswer
			if errors.As(err, &wrong) {
				fmt.Fprintf(r.err, "standard input:%d: error: %s\n", number, printable(wrong.Error()))
				if r.typed() {
					continue
				}
				return exitError{exitUsage}
			}
			if quit || err != nil {
				return err
			}
			shown = -1
		}
	}
}

// typed reports whether a person types the answers, and so can correct one.
func (r *pairReview) typed() bool {
	f, ok := r.in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// answer applies a line.
func (r *pairReview) answer(p *subsume.Pair, line string) (quit bool, err error) {
	said := ""
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "":
		return false, nil
	case "q", "quit":
		return true, nil
	case "u", "undo":
		_, ok, err := r.log.Undo()
		if err == nil && !ok {
			err = wrongAnswer("there is nothing to undo")
		}
		return false, err
	case "y", "yes":
		said = "yes"
	case "n", "no":
		said = "no"
	case "s", "skip":
		said = "skip"
	default:
		return false, wrongAnswer(fmt.Sprintf("%q is no answer; y, n, skip, undo or quit is expected", report.Line(line, 60)))
	}
	return false, r.log.Add(subsume.Review{Key: r.s.PairKey(p), A: r.s.Names[p.A], B: r.s.Names[p.B], Source: p.Source, Answer: said})
}

// show shows a pair with its evidence, but without its source, which would bias people.
func (r *pairReview) show(at int) {
	p := &r.s.Pairs[r.sample[at]]
	t := &r.t
	t.line("")
	t.line("%s", t.paint("1", fmt.Sprintf("%d of %d", at+1, len(r.sample))))
	for _, end := range []struct {
		letter string
		i      int
	}{{"a", p.A}, {"b", p.B}} {
		says, check := r.s.Shown(end.i)
		t.line("  %s  %s", t.paint("1", end.letter), t.paint("32", report.Line(r.s.Names[end.i], t.o.Width-5)))
		if says != "" {
			t.line("     %s", report.Line(says, t.o.Width-5))
		}
		if check != "" {
			t.line("     %s", t.paint("2", report.Line(check, 3*t.o.Width)))
		}
	}
	if c := r.s.Tally(p); c != nil {
		text := fmt.Sprintf("Of the outputs %d pass both, %d pass b alone, %d fail both", c.Both, c.OnlyB, c.Neither)
		if c.Undecided > 0 {
			text += fmt.Sprintf(", %d undecided", c.Undecided)
		}
		t.line("     %s", text)
		r.output("passes b alone", c.OnlyBID)
		r.output("fails both", c.NeitherID)
	}
	t.line("  %s  y yes, n no, s skip, u undo, q quit", t.paint("1", "Does every output that passes a pass b?"))
}

// output shows one output.
func (r *pairReview) output(what, id string) {
	if text, ok := r.outputs[id]; ok && id != "" {
		r.t.line("     %s %s: %s", report.Line(id, 40), what, r.t.paint("2", report.Line(text, 2*r.t.o.Width)))
	}
}

func (r *pairReview) flush() error {
	_, err := r.w.Write(r.t.Bytes())
	r.t.Reset()
	if err != nil {
		return proviso.Errorf(proviso.Unavailable, "%w", err)
	}
	return nil
}

// precision prints how many of the pairs of each source are right.
func (r *pairReview) precision() {
	t := &r.t
	list := r.log.Precision(r.s, spadeConfidence)
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line("%s", t.paint("1", fmt.Sprintf("  %-10s %6s %6s %8s  precision", "Source", "right", "wrong", "skipped")))
	for _, p := range list {
		share := "–"
		if n := p.Right + p.Wrong; n > 0 {
			share = report.PercentRange(float64(p.Right)/float64(n), p.Interval.Low, p.Interval.High)
		}
		t.line("  %-10s %6d %6d %8d  %s", p.Source, p.Right, p.Wrong, p.Skipped, share)
	}
	t.line("")
	t.line("%s", t.paint("2", "Ranges in brackets are 95 % intervals (Wilson)."))
	_ = r.flush() // the reader has gone
}

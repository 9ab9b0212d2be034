package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/show"
	"github.com/proviso-eval/proviso/spade/subsume"
)

// pairReview is a session in which a person reviews pairs.
type pairReview struct {
	*app
	s      *subsume.Subsumption
	log    *subsume.ReviewLog
	sample []int
	pairs  show.Pairs
	w      io.Writer
}

// reviewPairs shows a sample of the pairs and stores the person's answers.
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
	if f.result.out == "" && f.result.format != formatTerminal {
		r.w = a.err // standard output is for the results
	}
	r.pairs = show.Pairs{Subsumption: s, Options: a.terminal(true)}
	if err := r.texts(f.examples); err != nil {
		return err
	}
	if err := r.ask(ctx); err != nil {
		return err
	}
	if list := log.Precision(s, show.Confidence); len(list) > 0 {
		_, _ = r.w.Write(show.Precision(list, a.terminal(true))) // the reader may have closed it
	}
	fmt.Fprintf(a.err, "proviso: the answers are in %s\n", printable(f.reviews))
	return nil
}

// texts reads the outputs, so that some can be shown.
func (r *pairReview) texts(file string) error {
	if file == "" {
		return nil
	}
	trials, err := r.trialsOf(file)
	if err != nil {
		return err
	}
	r.pairs.Outputs = map[string]string{}
	for i := range trials {
		r.pairs.Outputs[trials[i].ID] = trials[i].Text()
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

// ask shows pairs and reads one answer per line until there are no more.
func (r *pairReview) ask(ctx context.Context) error {
	if len(r.sample) == 0 {
		fmt.Fprintln(r.err, "proviso: there are no pairs to look at")
		return nil
	}
	in, _ := r.in.(*os.File)
	pair := func(at int) *subsume.Pair { return &r.s.Pairs[r.sample[at]] }
	q := lineQuestions{
		next: r.next, again: true, typed: in != nil && term.IsTerminal(int(in.Fd())),
		answer: func(line string) (bool, error) { return r.answer(pair(r.next()), line) },
		show: func(at int) error {
			_, err := r.w.Write(r.pairs.Pair(pair(at), at+1, len(r.sample)))
			return err
		},
	}
	err := q.ask(ctx, r.app)
	if errors.Is(err, errInterrupted) {
		fmt.Fprintln(r.err, "proviso: interrupted; every answer is kept")
		return exitError{exitInterrupted}
	}
	return err
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
		return false, wrongAnswer(fmt.Sprintf("%q is not an answer; expected y, n, skip, undo or quit", report.Line(line, 60)))
	}
	return false, r.log.Add(subsume.Review{Key: r.s.PairKey(p), A: r.s.Names[p.A], B: r.s.Names[p.B], Source: p.Source, Answer: said})
}

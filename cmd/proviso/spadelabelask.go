package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/spade/show"
)

// maxAnswer bounds a line of answers, in bytes.
const maxAnswer = 1 << 20

// answerLines reads lines until there are no more or ctx ends. The error is available
// after the channel is closed.
func answerLines(ctx context.Context, r io.Reader) (<-chan string, <-chan error) {
	lines, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(r)
		in.Buffer(nil, maxAnswer)
		for in.Scan() {
			select {
			case lines <- in.Text():
			case <-ctx.Done():
				return
			}
		}
		failed <- in.Err()
	}()
	return lines, failed
}

// lineQuestions are questions that are answered by lines of standard input.
type lineQuestions struct {
	next   func() int                               // index of the next question; negative if there is none
	show   func(question int) error                 // shown again after each answer if again is set
	answer func(line string) (quit bool, err error) // the error is a wrongAnswer if the line is invalid
	again  bool
	typed  bool // a person types the answers, and so can correct one
}

// ask reads one answer per line.
func (q *lineQuestions) ask(ctx context.Context, a *app) error {
	lines, failed := answerLines(ctx, a.in)
	number := 0
	for shown := -1; ; {
		at := q.next()
		if at < 0 {
			return nil
		}
		if at != shown {
			shown = at
			if err := q.show(at); err != nil {
				return proviso.WithCode(proviso.Unavailable, err)
			}
		}
		select {
		case <-ctx.Done():
			return errInterrupted
		case line, more := <-lines:
			if !more {
				return readFailure(<-failed)
			}
			number++
			quit, err := q.answer(line)
			var wrong wrongAnswer
			if errors.As(err, &wrong) {
				fmt.Fprintf(a.err, "standard input:%d: error: %s\n", number, printable(wrong.Error()))
				if q.typed {
					continue
				}
				return exitError{exitUsage}
			}
			if quit || err != nil {
				return err
			}
			if q.again {
				shown = -1
			}
		}
	}
}

// askByLines reads one answer per line of standard input.
func (s *labelSession) askByLines(ctx context.Context) error {
	s.view = show.Output{Options: s.terminal(true), Verdicts: s.f.verdicts, Review: s.f.review != ""}
	q := lineQuestions{answer: s.answer}
	q.next = func() int {
		if asked, ok := s.l.Current(); ok {
			return asked.Index
		}
		return -1
	}
	q.show = func(int) error {
		asked, _ := s.l.Current()
		_, err := s.out.Write(s.view.Show(asked, s.progress()))
		return err
	}
	return q.ask(ctx, s.app)
}

// progress describes the labels so far.
func (s *labelSession) progress() string {
	n := s.log.Labels()
	return fmt.Sprintf("%d good, %d bad, %d left · %s", n.Good, n.Bad, s.l.Left(), s.enough(n))
}

func readFailure(err error) error {
	if err == nil {
		return nil
	}
	return proviso.Errorf(proviso.Unavailable, "read the answers: %w", err)
}

// wrongAnswer is the error for a line that is not a valid answer.
type wrongAnswer string

func (w wrongAnswer) Error() string { return string(w) }

// answer applies a line.
func (s *labelSession) answer(line string) (quit bool, err error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "":
		return false, nil
	case "q", "quit":
		return true, nil
	case "s", "skip":
		s.l.Skip()
		return false, nil
	case "u", "undo":
		undone, err := s.l.Undo()
		if err == nil && !undone {
			err = wrongAnswer("there is nothing to undo")
		}
		return false, err
	case "n", "note":
		if rest == "" {
			return false, wrongAnswer("a note needs a text: note TEXT")
		}
		return false, s.l.Note(rest)
	case "g":
		word = "good"
	case "b":
		word = "bad"
	}
	good, ok := align.ParseVerdict(word)
	if !ok || rest != "" {
		return false, wrongAnswer(fmt.Sprintf("%q is not an answer; expected good, bad, skip, undo, note TEXT or quit", line))
	}
	return false, s.l.Answer(labelWord(good))
}

// labelWord returns the word for a label in a file of labels.
func labelWord(good bool) string {
	if good {
		return "1"
	}
	return "0"
}

// Control keys.
const (
	keyInterrupt = 3 // Control-C
	keyEnd       = 4 // Control-D
	keyEscape    = 27
)

// pasted is the number of bytes from which a chunk of input counts as pasted. Pasted text must not
// label anything.
const pasted = 16

// askByKeys reads single keys from a terminal.
func (s *labelSession) askByKeys(ctx context.Context, in, out *os.File) error {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return proviso.Errorf(proviso.Unavailable, "read keys: %w", err)
	}
	defer func() { _ = term.Restore(int(in.Fd()), before) }()
	s.view = show.Output{Options: s.terminal(true), Screen: true, Verdicts: s.f.verdicts, Review: s.f.review != ""}
	keys := &keyReader{ctx: ctx, chunks: make(chan []byte)}
	go keys.read(in)
	return s.byKeys(keys, out, func() {
		if w, h, err := term.GetSize(int(out.Fd())); err == nil && w > 0 {
			s.view.Options.Width, s.view.Height = w, h
		}
	})
}

// byKeys shows outputs and handles keys. measure updates the size of the screen before each output.
func (s *labelSession) byKeys(keys *keyReader, out io.Writer, measure func()) error {
	for {
		asked, ok := s.l.Current()
		if !ok {
			return nil
		}
		measure()
		if _, err := out.Write(raw(s.view.Show(asked, s.progress()))); err != nil {
			return proviso.Errorf(proviso.Unavailable, "%w", err)
		}
		s.view.Hint = ""
		chunk, err := keys.chunk()
		switch {
		case keys.ctx.Err() != nil:
			return errInterrupted
		case err != nil:
			return nil // the terminal is closed; every answer is already stored
		case len(chunk) > 1 && chunk[0] == keyEscape, len(chunk) >= pasted:
			s.view.Hint = "nothing was done"
			continue
		}
		for i, key := range chunk {
			if _, more := s.l.Current(); !more {
				return nil
			}
			if quit, err := s.key(key, keys, chunk[i+1:], out); quit || err != nil {
				return err
			}
			if key == 'n' {
				break // the rest is the beginning of the note
			}
		}
	}
}

// key handles a key.
func (s *labelSession) key(key byte, keys *keyReader, rest []byte, out io.Writer) (quit bool, err error) {
	if s.view.Act(key) {
		return false, nil
	}
	s.view.Top, s.view.Open = 0, false
	switch lower := key | 0x20; lower { // ignore case
	case 'n':
		return false, s.takeNote(keys, rest, out)
	case 'g', 'b', 's', 'u', 'q':
		quit, err := s.answer(string(lower))
		var wrong wrongAnswer
		if errors.As(err, &wrong) {
			s.view.Hint, err = wrong.Error(), nil
		}
		return quit, err
	}
	switch key {
	case keyInterrupt:
		return true, errInterrupted
	case keyEnd:
		return true, nil
	}
	s.view.Hint = "g, b, s, u, n, p, m and q are the keys"
	return false, nil
}

// takeNote reads a note with a line editor. An empty note, or Control-C, changes nothing.
func (s *labelSession) takeNote(keys *keyReader, rest []byte, out io.Writer) error {
	keys.left = rest
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys, out}, "note: ")
	if s.view.Options.Width > 0 {
		_ = t.SetSize(s.view.Options.Width, max(1, s.view.Height))
	}
	text, err := t.ReadLine()
	keys.left = nil
	if text = strings.TrimSpace(text); err != nil || text == "" {
		return nil
	}
	return s.l.Note(text)
}

// keyReader passes typed input on until its context ends.
type keyReader struct {
	ctx    context.Context
	chunks chan []byte
	left   []byte // rest of a chunk, for Read
}

// read reads keys until the input ends.
func (k *keyReader) read(in io.Reader) {
	defer close(k.chunks)
	for {
		buf := make([]byte, 256)
		n, err := in.Read(buf)
		if n > 0 {
			select {
			case k.chunks <- buf[:n]:
			case <-k.ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// chunk returns input that arrived together.
func (k *keyReader) chunk() ([]byte, error) {
	select {
	case <-k.ctx.Done():
		return nil, k.ctx.Err()
	case c, ok := <-k.chunks:
		if !ok {
			return nil, io.EOF
		}
		return c, nil
	}
}

// Read implements io.Reader.
func (k *keyReader) Read(p []byte) (int, error) {
	if len(k.left) == 0 {
		var err error
		if k.left, err = k.chunk(); err != nil {
			return 0, err
		}
	}
	n := copy(p, k.left)
	k.left = k.left[n:]
	return n, nil
}

// raw converts line ends for a terminal in raw mode.
func raw(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")) }

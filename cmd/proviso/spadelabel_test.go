package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/label"
	"github.com/proviso-eval/proviso/spade/show"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// keySession is a session with n outputs of 30 lines each, which differ only in their ids: 1, 2 and
// so on.
func keySession(t *testing.T, n int) (*labelSession, *bytes.Buffer) {
	t.Helper()
	var trials []trial.Trial
	for i := range n {
		trials = append(trials, trial.Trial{ID: fmt.Sprint(i + 1), Output: strings.Repeat("a line\n", 30), Prompt: "first\nsecond\nthird", Vars: value.ObjectOf("x", "7\x1b[2J")})
	}
	entries, err := trial.Entries(trial.List(trials))
	if err != nil {
		t.Fatal(err)
	}
	f := &spadeLabel{labels: filepath.Join(t.TempDir(), "l.jsonl"), alpha: 0.6, tau: 0.25}
	var out bytes.Buffer
	a := newApp(stdio{out: &out, err: &out})
	log, err := a.openLabels(f, entries)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	s := &labelSession{app: a, f: f, log: log, view: show.Output{Screen: true}}
	if s.l, err = label.Start(trials, log, label.Options{}); err != nil {
		t.Fatal(err)
	}
	return s, &out
}

// press answers with chunks of keys, and then closes the terminal.
func press(s *labelSession, out *bytes.Buffer, chunks ...string) error {
	keys := &keyReader{ctx: context.Background(), chunks: make(chan []byte, len(chunks))}
	for _, c := range chunks {
		keys.chunks <- []byte(c)
	}
	close(keys.chunks)
	return s.byKeys(keys, out, func() { s.view.Options.Width, s.view.Height = 60, 20 })
}

func TestLabelKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys   []string
		labels string // labels of the outputs, in the order in which they are shown
		note   string // note of the first output
		err    error
	}{
		"good, bad, skip":         {[]string{"g", "b", "s"}, "10--", "", nil},
		"capitals":                {[]string{"G", "B"}, "10--", "", nil},
		"several at once":         {[]string{"gbgb"}, "1010", "", nil},
		"more than there are":     {[]string{"gggg", "g"}, "1111", "", nil},
		"undo":                    {[]string{"g", "b", "u", "g", "u", "u", "u"}, "----", "", nil},
		"quit":                    {[]string{"g", "q", "b"}, "1---", "", nil},
		"control C":               {[]string{"g", "\x03", "b"}, "1---", "", errInterrupted},
		"control D":               {[]string{"g", "\x04", "b"}, "1---", "", nil},
		"arrows do nothing":       {[]string{"\x1b[B", "\x1bOb", "g"}, "1---", "", nil},
		"what is pasted":          {[]string{"ggggbbbbgggggbbbb and more", "b"}, "0---", "", nil},
		"other keys":              {[]string{"x", "\r", "g"}, "1---", "", nil},
		"looking changes nothing": {[]string{"m", " ", "p", "P", "m"}, "----", "", nil},
		"note":                    {[]string{"n", "wie schön", "\r", "g", "b"}, "10--", "wie schön", nil},
		"note at once":            {[]string{"nhm\r", "g"}, "1---", "hm", nil},
		"note with keys in it":    {[]string{"n", "bgs", "u\r", "b"}, "0---", "bgsu", nil},
		"no note":                 {[]string{"n", "\r", "b"}, "0---", "", nil},
		"note given up":           {[]string{"n", "oops", "\x03", "b"}, "0---", "", nil},
	} {
		s, out := keySession(t, 4)
		if err := press(s, out, c.keys...); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
		got := ""
		for _, i := range [...]int{1, 0, 2, 3} { // all have the same length: the middle one first, then in order
			label, note := s.log.Label(i)
			if got += map[string]string{"": "-"}[label] + label; i == 1 && note != c.note {
				t.Errorf("%s: the note is %q, want %q", name, note, c.note)
			}
		}
		if got != c.labels {
			t.Errorf("%s: %s, want %s", name, got, c.labels)
		}
	}
}

// TestLabelScreen checks the screen: it fits, only the clearing of the screen moves the
// cursor, and prompt and variables are folded.
func TestLabelScreen(t *testing.T) {
	t.Parallel()
	s, out := keySession(t, 2)
	if err := press(s, out, "m", "m", "m", "p"); err != nil {
		t.Fatal(err)
	}
	screens := strings.Split(out.String(), "\x1b[H\x1b[2J")[1:]
	if len(screens) != 5 {
		t.Fatalf("%d screens", len(screens))
	}
	for i, screen := range screens {
		if n := strings.Count(screen, "\r\n"); n > 20 && i < 4 || strings.ContainsRune(screen, 0x1b) || strings.Count(screen, "\n") != n {
			t.Errorf("screen %d has %d lines:\n%s", i, n, screen)
		}
	}
	for i, want := range []string{"lines 1 to 12 of 30", "lines 13 to 24 of 30", "lines 25 to 30 of 30", "lines 1 to 12 of 30", "second\r\n"} {
		if !strings.Contains(screens[i], want) {
			t.Errorf("screen %d lacks %q:\n%s", i, want, screens[i])
		}
	}
	if !strings.Contains(screens[0], `prompt   first second third`) || !strings.Contains(screens[0], `x: 7\x1b[2J`) {
		t.Errorf("the first screen:\n%s", screens[0])
	}
}

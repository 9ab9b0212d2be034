package spade

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// Version is one wording of a prompt.
type Version struct {
	Name string    // of the file, commit or entry that has it
	Time time.Time // zero if unknown
	Text string
}

// Change is a version with what it changed in the one before; the one before the
// first is empty.
type Change struct {
	Version
	Number int // from 1, without those that say the same as the one before
	Deltas []proviso.Delta
}

// Skip is a version that says the same as the one before.
type Skip struct {
	Name string
	Same int // the number of the version before
}

// History is what became of a prompt.
type History struct {
	Changes []Change
	Skipped []Skip
}

// Limits of a history.
const (
	MaxPrompt   = 16 << 20 // bytes of one version
	MaxVersions = 10_000
)

// HistoryOf compares versions, oldest first. Without any text there is no history,
// which is an error, as are more or longer versions than the limits allow.
func HistoryOf(versions []Version) (*History, error) {
	if len(versions) > MaxVersions {
		return nil, proviso.Errorf(proviso.Limit, "%d versions, more than the %d that are read", len(versions), MaxVersions)
	}
	h := &History{}
	var before []Unit
	text := ""
	for _, v := range versions {
		if len(v.Text) > MaxPrompt {
			return nil, proviso.Errorf(proviso.Limit, "version %s is longer than the %d MiB that are read", quote(v.Name), MaxPrompt>>20)
		}
		if v.Text = unixLines(v.Text); v.Text == text && len(h.Changes) > 0 {
			h.Skipped = append(h.Skipped, Skip{Name: v.Name, Same: len(h.Changes)})
			continue
		}
		text = v.Text
		after := Split(text)
		c := Change{Version: v, Number: len(h.Changes) + 1, Deltas: diff(before, after)}
		for i := range c.Deltas {
			c.Deltas[i].Version = c.Number
		}
		h.Changes = append(h.Changes, c)
		before = after
	}
	for _, c := range h.Changes {
		if strings.TrimSpace(c.Text) != "" {
			return h, nil
		}
	}
	return nil, proviso.Errorf(proviso.Invalid, "no version of the prompt has any text")
}

func unixLines(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
}

// ReadVersions reads versions of a prompt from JSON Lines, if the name ends in
// .jsonl, or JSON: objects with the text under template, prompt or text, chat
// messages under messages, or a prompt as LangChain exports it, also under
// manifest; a list of such objects; or an object with such a list under versions
// or commits. Versions with a number (version) come in its order, others with a
// time (created_at or timestamp) in the order of time, else as they stand. Any
// other file is one version. A chat is one text: the role of each message stands
// on a line before it.
func ReadVersions(file string, data []byte) ([]Version, proviso.Mistakes) {
	r := &versionReader{file: file}
	switch ext := strings.ToLower(file[strings.LastIndexByte(file, '.')+1:]); ext {
	case "jsonl":
		for line, err := range document.Lines(bytes.NewReader(data)) {
			if err != nil {
				r.add(mistakeOfLine(file, err))
				continue
			}
			r.entry(line.Value, proviso.Place{File: file, Line: line.Number})
		}
	case "json":
		r.json(data)
	default:
		text, err := document.Text(file, data)
		var syntax *document.SyntaxError
		if errors.As(err, &syntax) {
			r.add(proviso.Mistake{Place: syntax.Place, Code: proviso.Invalid, Message: syntax.Message})
		}
		r.list = append(r.list, numbered{Version: Version{Name: file, Text: text}})
	}
	if r.mistakes.Err() != nil {
		return nil, r.mistakes
	}
	return r.inOrder(), r.mistakes
}

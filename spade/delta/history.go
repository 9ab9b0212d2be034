// Package delta compares the versions of a prompt, sentence by sentence. Start at
// [HistoryOf].
package delta

import (
	"errors"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/literal"
	"github.com/proviso-eval/proviso/spade/internal/exported"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/value"
)

// Version is one wording of a prompt.
type Version struct {
	Name string    // name of its file, commit or entry
	Time time.Time // zero if unknown
	Text string
}

// Change is a version with its differences from the previous one; the first is compared with
// an empty one.
type Change struct {
	Version
	Number int // from 1; versions equal to the previous one are not counted
	Deltas []proviso.Delta
}

// Skip is a version with the same text as the previous one.
type Skip struct {
	Name string `json:"name"`
	Same int    `json:"same_as"` // number of the previous version
}

// History is the sequence of changes of a prompt.
type History struct {
	Changes []Change
	Skipped []Skip
}

// Limits of a history.
const (
	MaxPrompt   = 16 << 20 // bytes of one version
	MaxVersions = 10_000
)

// HistoryOf compares versions, oldest first. It returns an error if all versions are empty, or
// if their number or length exceeds the limits.
func HistoryOf(versions []Version) (*History, error) {
	if len(versions) > MaxVersions {
		return nil, proviso.Errorf(proviso.Limit, "%d versions, more than the %d that are read", len(versions), MaxVersions)
	}
	h := &History{}
	var before []Unit
	text := ""
	for _, v := range versions {
		if len(v.Text) > MaxPrompt {
			return nil, proviso.Errorf(proviso.Limit, "version %s is longer than the %d MiB that are read", value.Stringify(v.Name), MaxPrompt>>20)
		}
		if v.Text = format.UnixLines(v.Text); v.Text == text && len(h.Changes) > 0 {
			h.Skipped = append(h.Skipped, Skip{Name: v.Name, Same: len(h.Changes)})
			continue
		}
		text = v.Text
		after := Split(text)
		c := Change{Version: v, Number: len(h.Changes) + 1, Deltas: Diff(before, after)}
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

// Last returns the units of the last version by key. A unit that occurs several times, under
// different conditions, applies under any of them.
func (h *History) Last() map[string]Unit {
	units := map[string]Unit{}
	for _, u := range Split(h.Changes[len(h.Changes)-1].Text) {
		old, twice := units[u.Key]
		if twice && old.Condition != u.Condition {
			u.Condition, u.When = either(old.Condition, u.Condition, " or "), either(old.When, u.When, " || ")
		}
		units[u.Key] = u
	}
	return units
}

// either joins two conditions with or; "" (always) if one of them is "".
func either(a, b, or string) string {
	if a == "" || b == "" {
		return ""
	}
	return "(" + a + ")" + or + "(" + b + ")"
}

// Asked returns every sentence that a version of the prompt added, once, where it was first
// added. Text that the last version no longer has is marked with the version that removed it.
// Text that the last version has gets the condition that it has there.
func (h *History) Asked() []proviso.Delta {
	last, removed := h.Last(), map[string]int{}
	for _, c := range h.Changes {
		for _, d := range c.Deltas {
			if !d.Added {
				removed[Key(d.Text)] = c.Number
			}
		}
	}
	done := map[string]bool{}
	var list []proviso.Delta
	for _, c := range h.Changes {
		for _, d := range c.Deltas {
			key := Key(d.Text)
			if !d.Added || d.Moved || done[key] {
				continue
			}
			done[key] = true
			if u, ok := last[key]; ok {
				d.Condition, d.When = u.Condition, u.When
			} else {
				d.Removed = removed[key]
			}
			list = append(list, d)
		}
	}
	return list
}

// ReadVersions reads versions of a prompt from JSON Lines (.jsonl) or JSON. A version is an
// object with the text under template, prompt or text, with chat messages under messages, or
// with a prompt as LangChain exports it, also under manifest. A file holds a version, a list
// of versions, or an object with such a list under versions or commits. Versions with a number
// (version) are sorted by it, others by time (created_at or timestamp); otherwise they keep
// their order. Files of other tools ([exported.Kinds]) are recognised by their content. Any
// other file is one version. A chat becomes one text, with the role of each message on the
// line before it.
func ReadVersions(file string, data []byte) ([]Version, proviso.Mistakes) {
	list, _, mistakes := ReadPart(file, "", data)
	return list, mistakes
}

// ReadPart is like [ReadVersions] for one part of a file, and also returns notes for the user.
// A part is a prompt's name, if a tool exports several, or the name of a string in a program
// or a YAML file ([literal.Find]). The part "" is the whole file.
func ReadPart(file, part string, data []byte) (list []Version, notes []string, mistakes proviso.Mistakes) {
	if part != "" && literal.Reads(file) {
		found, err := literal.Find(file, string(data), part)
		if err != nil {
			return nil, nil, proviso.Mistakes{mistakeOfLiteral(file, err)}
		}
		text, ok := exported.PromptText(found)
		if !ok {
			return nil, nil, proviso.Mistakes{{Place: proviso.Place{File: file}, Code: proviso.Invalid, Message: part + " is neither a text nor the messages of a chat"}}
		}
		return []Version{{Name: file + ":" + part, Text: text}}, nil, nil
	}
	r := &versionReader{file: file, part: part}
	switch ext := strings.ToLower(file[strings.LastIndexByte(file, '.')+1:]); ext {
	case "jsonl":
		r.lines(data)
	case "json":
		r.json(data)
	default:
		text, err := document.Text(file, data)
		if err != nil {
			r.mistakes.Add(document.MistakeOf(file, err))
		}
		if part != "" {
			r.mistakes.Add(proviso.Mistake{Place: proviso.Place{File: file}, Code: proviso.Unsupported, Message: "a name of a text is for " + literal.Files + ", or for the files of other tools"})
		}
		r.list = append(r.list, exported.Version{Name: file, Text: text})
	}
	if r.mistakes.Err() != nil {
		return nil, r.notes, r.mistakes
	}
	return r.inOrder(), r.notes, r.mistakes
}

// mistakeOfLiteral returns the mistake for a string that a file does not have.
func mistakeOfLiteral(file string, err error) proviso.Mistake {
	var syntax *document.SyntaxError
	var wrong *literal.Error
	m := document.MistakeOf(file, err)
	if errors.As(err, &wrong) {
		m.Place.Line, m.Nearest = wrong.Line, wrong.Nearest
	}
	if !errors.As(err, &syntax) {
		m.Code = proviso.NotFound
	}
	return m
}

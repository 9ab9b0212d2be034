package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// assertionSet is a set as a client sent it.
type assertionSet struct {
	name, prompt string
	assertions   []byte // JSON
}

// readSet reads a set. Its assertions are read like those of an evaluation.
func readSet(ctx context.Context, data []byte) (*assertionSet, error) {
	doc, err := parseBody(ctx, data)
	if err != nil {
		return nil, err
	}
	o, ok := doc.Root.(*value.Object)
	if !ok {
		return nil, invalid([]Mistake{{Code: proviso.Invalid, Message: "the body has to be an object, not " + kindOf(doc.Root)}})
	}
	set := &assertionSet{}
	d := decoder{}
	for key, v := range o.All() {
		text, isText := v.(string)
		switch {
		case key == "assertions":
			set.assertions = value.AppendJSON(nil, v)
		case key == "name" && isText:
			set.name = text
		case key == "prompt" && isText:
			set.prompt = text
		case key == "name" || key == "prompt":
			d.wants("/"+key, "text", v)
		default:
			d.unknown("", key, []string{"name", "assertions", "prompt"})
		}
	}
	if set.assertions == nil {
		d.mistake("", `"assertions" is missing`)
	} else if err := set.check(ctx); err != nil {
		return nil, err
	}
	if len(d.mistakes) > 0 {
		return nil, d.problem(doc)
	}
	return set, nil
}

// check checks the assertions like those of an evaluation.
func (s *assertionSet) check(ctx context.Context) error {
	_, err := judge.ReadRequestContext(ctx, s.request())
	if err == nil {
		return nil
	}
	return requestProblem(ctx, nil, err)
}

// request is an evaluation of an empty output against the set.
func (s *assertionSet) request() []byte {
	return append(append([]byte(`{"agent_input":"","agent_output":"","assertions":`), s.assertions...), '}')
}

// promptHash is the hash of the set's prompt, "" if it has none.
func (s *assertionSet) promptHash() string {
	if s.prompt == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s.prompt))
	return hex.EncodeToString(sum[:])
}

// content is the stored form of the set.
func (s *assertionSet) content() []byte {
	b := append([]byte(`{"assertions":`), s.assertions...)
	if s.prompt != "" {
		b = append(b, `,"prompt":`...)
		b = value.AppendQuoted(b, s.prompt)
	}
	return append(b, '}')
}

package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/value"
)

// assertionSet is a set as a client sent it.
type assertionSet struct {
	name, prompt string
	context      string   // context for judged assertions; "" if there is none
	threshold    *float64 // nil if there is none
	assertions   []byte   // JSON
	templates    *value.Object
	library      *criteria.Library // parsed templates; nil if there are none
}

// setFields are the members of a set.
var setFields = []string{"name", "assertions", "prompt", "threshold", "templates", "context"}

// readSet parses a set. Its assertions are parsed like those of an evaluation.
func readSet(ctx context.Context, data []byte) (*assertionSet, error) {
	doc, o, err := decodeObject(ctx, data)
	if err != nil {
		return nil, err
	}
	set := &assertionSet{}
	d := decoder{}
	for key, v := range o.All() {
		set.member(&d, key, v)
	}
	if len(d.mistakes) == 0 && set.assertions == nil {
		d.mistake("", `"assertions" is missing`)
	}
	if len(d.mistakes) == 0 {
		err := set.check(ctx, data)
		return set, err
	}
	return nil, d.problem(doc)
}

// member parses one member of a set.
func (s *assertionSet) member(d *decoder, key string, v any) {
	text := func(to *string) {
		var ok bool
		if *to, ok = v.(string); !ok {
			d.wants("/"+key, "text", v)
		}
	}
	switch key {
	case "assertions":
		s.assertions = value.AppendJSON(nil, v)
	case "name":
		text(&s.name)
	case "prompt":
		text(&s.prompt)
	case "context":
		if text(&s.context); len(s.context) > judge.MaxText {
			d.mistake("/context", "the context has %d bytes, and at most %d (2 MiB) are allowed", len(s.context), judge.MaxText)
		}
	case "threshold":
		f, ok := v.(float64)
		if ok && f >= 0 && f <= 1 {
			s.threshold = &f
		} else if v != nil {
			d.mistake("/threshold", "/threshold has to be a number from 0 to 1")
		}
	case "templates":
		s.templates, s.library = d.templates(v)
	default:
		d.unknown("", key, setFields)
	}
}

// templates parses the member /templates of a body: an object of templates by name.
func (d *decoder) templates(v any) (*value.Object, *criteria.Library) {
	o, ok := v.(*value.Object)
	if !ok && v != nil {
		d.wants("/templates", "an object of templates by their names", v)
	}
	if o.Len() == 0 {
		return o, nil
	}
	library, wrong := criteria.ReadLibrary(o, "/templates")
	for _, e := range wrong {
		d.mistakes = append(d.mistakes, mistakeOf(e))
	}
	return o, library
}

// check checks the assertions like those of an evaluation. data is the whole set, to locate
// mistakes.
func (s *assertionSet) check(ctx context.Context, data []byte) error {
	req, err := judge.ReadRequestWith(ctx, s.request(), s.library)
	if err != nil {
		return requestProblem(ctx, data, err)
	}
	var wrong judge.Mistakes
	for i := range req.Assertions {
		for k, c := range req.Assertions[i].Criteria {
			at := document.Join(document.Join("/assertions", i)+"/criteria", k)
			_, mistakes := s.library.Expand(proviso.Criterion{Text: c.Text, Template: c.Template, Params: c.Params}, at)
			wrong = append(wrong, mistakes...)
		}
	}
	if len(wrong) > 0 {
		return requestProblem(ctx, data, wrong)
	}
	return nil
}

// request returns an evaluation request for an empty output against the set.
func (s *assertionSet) request() []byte {
	return append(append([]byte(`{"agent_input":"","agent_output":"","assertions":`), s.assertions...), '}')
}

// promptHash returns the hash of the set's prompt, or "" if it has none.
func (s *assertionSet) promptHash() string {
	if s.prompt == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s.prompt))
	return hex.EncodeToString(sum[:])
}

// content returns the stored form of the set.
func (s *assertionSet) content() []byte {
	b := append([]byte(`{"assertions":`), s.assertions...)
	member := func(key string, v any) {
		b = append(b, `,"`+key+`":`...)
		b = value.AppendJSON(b, v)
	}
	if s.prompt != "" {
		member("prompt", s.prompt)
	}
	if s.threshold != nil {
		member("threshold", *s.threshold)
	}
	if s.templates.Len() > 0 {
		member("templates", s.templates)
	}
	if s.context != "" {
		member("context", s.context)
	}
	return append(b, '}')
}

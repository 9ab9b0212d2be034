package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/store"
)

// Version is one version of a suite or an assertion set.
type Version struct {
	Name       string    `json:"name"`
	Version    string    `json:"version" doc:"The hash of the content and of the prompts"`
	Number     int       `json:"number" doc:"Of the version under its name, from 1"`
	Current    bool      `json:"current" doc:"Whether it is the current version"`
	PromptHash string    `json:"prompt_hash,omitempty" doc:"The hash of the prompts that it belongs to"`
	Size       int       `json:"size" doc:"Bytes of the content"`
	CreatedAt  time.Time `json:"created_at"`
	CreatedBy  string    `json:"created_by,omitempty" doc:"The id of the API key"`
}

func versionOf(d *store.Document) Version {
	return Version{Name: d.Name, Version: d.Hash, Number: d.Number, Current: d.Current, PromptHash: d.PromptHash, Size: d.Size,
		CreatedAt: d.Created.UTC(), CreatedBy: d.CreatedBy}
}

// VersionList is a page of versions.
type VersionList List[Version]

// NewSuite is a suite to store under a name.
type NewSuite struct {
	Name  string            `json:"name,omitempty" doc:"What the suite is called in addresses; the suite's own id if it is missing"`
	Suite any               `json:"suite" doc:"The suite: an object, or the text of a suite file in YAML or JSON"`
	Files map[string]string `json:"files,omitempty" doc:"The files that the suite refers to, by their names relative to it"`
}

// StoredSuite is a version of a suite with its content.
type StoredSuite struct {
	Version
	AgentID  string    `json:"agent_id,omitempty" doc:"The suite's id, or else the name of its only provider"`
	Rows     int       `json:"rows,omitempty" doc:"Prompts × providers × cases"`
	Warnings []Mistake `json:"warnings,omitempty"`
	Suite    any       `json:"suite,omitempty" doc:"Missing if it or its files contain secrets, as warnings says"`
	Files    any       `json:"files,omitempty"`
}

// NewAssertionSet is an assertion set to store.
type NewAssertionSet struct {
	Name       string            `json:"name,omitempty" doc:"What the set is called in addresses"`
	Assertions []judge.Assertion `json:"assertions"`
	Prompt     string            `json:"prompt,omitempty" doc:"The prompt that the assertions are about; its hash is part of the version"`
	SetSettings
}

// SetSettings are a set's settings for its evaluation.
type SetSettings struct {
	Threshold *float64       `json:"threshold,omitempty" doc:"The share of the assertions that has to pass, from 0 to 1, where a request names none"`
	Templates map[string]any `json:"templates,omitempty" doc:"Templates that its criteria can name besides the shipped ones: {doc, params, one-of, parts} by name"`
	Context   string         `json:"context,omitempty" doc:"What judged assertions may look at besides the input and the output, where a request has none"`
}

// StoredAssertionSet is a version of an assertion set with its content.
type StoredAssertionSet struct {
	Version
	Assertions any    `json:"assertions"`
	Prompt     string `json:"prompt,omitempty"`
	SetSettings
}

// checkName rejects names that cannot be part of an address.
func checkName(name string) error {
	ok := name != "" && len(name) <= 100 && !strings.HasPrefix(name, ".") && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	})
	if ok {
		return nil
	}
	return &proviso.Error{Code: proviso.Invalid, Pointer: "/name",
		Message: "a name has 1 to 100 letters, digits, dots, dashes and underscores, and does not begin with a dot"}
}

// nameAsked returns the name under which to store a document, from the address or else the
// body.
func nameAsked(address, body string) (string, error) {
	if address != "" && body != "" && body != address {
		return "", pointed("/name", proviso.Invalid, "the name in the body is not the one in the address")
	}
	return cmp.Or(address, body), nil
}

// keepSuite stores a suite under the name in the address or the body, or its own id.
func (s *Server) keepSuite(c *call, in *NewSuite) error {
	if s.o.Runner == nil {
		return problem(proviso.Unsupported, "this server serves no suites")
	}
	name, err := nameAsked(c.r.PathValue("suite"), in.Name)
	if err != nil {
		return err
	}
	bundle := &Bundle{Suite: in.Suite, Files: in.Files, Datasets: storedDatasets{kept: c.kept}}
	secrets, more := bundle.inlineSecrets(c.r.Context())
	plan, mistakes := s.o.Runner.Check(c.r.Context(), bundle, RunOptions{})
	if outOfRoom(mistakes) {
		return noRoomForFiles()
	}
	if mistakes.Err() != nil || len(secrets) > 0 {
		return suiteProblem(mistakes, more, secrets...)
	}
	name = cmp.Or(name, plan.SuiteID)
	if err := checkName(name); err != nil {
		return err
	}
	content, err := encode(bundle)
	if err != nil {
		return err
	}
	doc, created, err := c.kept.PutDocument(c.r.Context(), store.NewDocument{
		Kind: store.SuiteKind, Name: name, PromptHash: plan.PromptHash, MediaType: mediaJSON, Content: content, CreatedBy: c.key.ID,
	})
	if err != nil {
		return err
	}
	out := StoredSuite{Version: versionOf(&doc), AgentID: plan.AgentID, Rows: plan.Rows, Warnings: placed(plan.Warnings)}
	return s.kept(c, "/v1/suites/"+url.PathEscape(doc.Name), created, out)
}

// kept sends the response of a request that stored a version.
func (s *Server) kept(c *call, location string, created bool, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return c.sendResponse(store.Response{Status: status, MediaType: mediaJSON, Location: location, Body: data})
}

// suiteProblem is the problem of a suite, or another file, with mistakes. It lists secrets in
// the suite first, and never quotes their values.
func suiteProblem(list proviso.Mistakes, more int, secrets ...Mistake) error {
	all := placed(list)
	wrong := secrets
	for i := range all {
		if len(secrets) > 0 {
			all[i].Excerpt = ""
		}
	}
	for i, m := range list {
		switch {
		case m.More > 0:
			more += m.More
		case !m.Warning:
			wrong = append(wrong, all[i])
		}
	}
	return invalid(wrong, more)
}

// placed converts a suite's mistakes with their positions.
func placed(list proviso.Mistakes) []Mistake {
	out := make([]Mistake, len(list))
	for i, m := range list {
		out[i] = Mistake{Code: m.Code, Message: m.Message, Nearest: m.Nearest, File: m.Place.File, Line: m.Place.Line, Column: m.Place.Column,
			Excerpt: m.Place.Excerpt}
	}
	return out
}

// getSuite sends a version of a suite: the current one, or the version in the query.
func (s *Server) getSuite(c *call) error {
	doc, err := s.versionAsked(c, store.SuiteKind, c.r.PathValue("suite"))
	if err != nil {
		return err
	}
	var b struct {
		Suite json.RawMessage `json:"suite"`
		Files json.RawMessage `json:"files"`
	}
	if err := json.Unmarshal(doc.Content, &b); err != nil {
		return err
	}
	out := StoredSuite{Version: versionOf(&doc)}
	var bundle Bundle
	if err := decode(c.r.Context(), doc.Content, &bundle); err != nil {
		return err
	}
	if out.Warnings, _ = bundle.inlineSecrets(c.r.Context()); len(out.Warnings) > 0 { // stored before secrets were rejected
		return c.json(http.StatusOK, out)
	}
	out.Suite = b.Suite
	if len(b.Files) > 0 {
		out.Files = b.Files
	}
	return c.json(http.StatusOK, out)
}

// versionAsked returns the requested version of a document.
func (s *Server) versionAsked(c *call, kind store.Kind, name string) (store.Document, error) {
	return c.kept.Document(c.r.Context(), kind, name, c.q.Get("version"))
}

// listVersions returns the handler of a list: of all names, or of all versions of the name in
// the address.
func listVersions[V any](kind store.Kind, pathValue string, view func(*store.Document) V) func(*Server, *call) error {
	return func(s *Server, c *call) error {
		f := store.DocumentFilter{Kind: kind}
		if pathValue != "" {
			f.Name = c.r.PathValue(pathValue)
			if _, err := versionNamed(c.r.Context(), c.kept, kind, f.Name, ""); err != nil {
				return err
			}
		}
		return sendList(c, c.kept.ListDocuments, f, view)
	}
}

// keepSet stores an assertion set under the name in the address, or in the body.
func (s *Server) keepSet(c *call) error {
	set, err := readSet(c.r.Context(), c.body)
	if err != nil {
		return err
	}
	name, err := nameAsked(c.r.PathValue("set"), set.name)
	if err != nil {
		return err
	}
	if err := checkName(name); err != nil {
		return err
	}
	if secrets, more := set.inlineSecrets(c.r.Context()); len(secrets) > 0 {
		return invalid(secrets, more)
	}
	replaces, err := ifMatch(c.r.Header)
	if err != nil {
		return err
	}
	sent := store.NewDocument{
		Kind: store.AssertionSetKind, Name: name, PromptHash: set.promptHash(), MediaType: mediaJSON, Content: set.content(), CreatedBy: c.key.ID, Replaces: replaces,
	}
	doc, created, err := c.kept.PutDocument(c.r.Context(), sent)
	if err != nil {
		return s.changedMeanwhile(doc, sent, err)
	}
	out, err := storedSet(doc)
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", `"`+doc.Hash+`"`)
	return s.kept(c, "/v1/assertion-sets/"+url.PathEscape(doc.Name), created, out)
}

// ifMatch returns the version that a request replaces, from If-Match; nil if the header is
// missing.
func ifMatch(h http.Header) (*string, error) {
	tag := h.Get("If-Match")
	if tag == "" {
		return nil, nil
	}
	hash, opens := strings.CutPrefix(tag, `"`)
	hash, closes := strings.CutSuffix(hash, `"`)
	if !opens || !closes || hash == "" || strings.ContainsAny(hash, `", `) {
		return nil, proviso.Errorf(proviso.Invalid, "If-Match holds the ETag of one version, in quotation marks, not %s", strconv.Quote(shortened(tag)))
	}
	return &hash, nil
}

// changedMeanwhile is the problem of a request that replaces an outdated version of a set. It
// contains both versions, so that no change is lost.
func (s *Server) changedMeanwhile(current store.Document, sent store.NewDocument, err error) error {
	var e *proviso.Error
	if !errors.As(err, &e) || e.Code != proviso.Conflict {
		return err
	}
	p := problem(proviso.Conflict, e.Error())
	if current.Hash != "" {
		if p.Current, err = storedSet(current); err != nil {
			return err
		}
	}
	if p.Yours, err = storedSet(store.Document{NewDocument: sent, Hash: sent.Version(), Size: len(sent.Content), Created: time.Now()}); err != nil {
		return err
	}
	return p
}

// storedSet returns a version of a set with its content.
func storedSet(doc store.Document) (*StoredAssertionSet, error) {
	out := &StoredAssertionSet{Version: versionOf(&doc)}
	var content struct {
		Assertions json.RawMessage            `json:"assertions"`
		Prompt     string                     `json:"prompt"`
		Threshold  *float64                   `json:"threshold"`
		Templates  map[string]json.RawMessage `json:"templates"`
		Context    string                     `json:"context"`
	}
	if err := json.Unmarshal(doc.Content, &content); err != nil {
		return nil, err
	}
	out.Assertions, out.Prompt, out.Threshold, out.Context = content.Assertions, content.Prompt, content.Threshold, content.Context
	for name, t := range content.Templates {
		if out.Templates == nil {
			out.Templates = map[string]any{}
		}
		out.Templates[name] = t
	}
	return out, nil
}

func (s *Server) getSet(c *call) error {
	doc, err := s.versionAsked(c, store.AssertionSetKind, c.r.PathValue("set"))
	if err != nil {
		return err
	}
	out, err := storedSet(doc)
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", `"`+doc.Hash+`"`)
	return c.json(http.StatusOK, out)
}

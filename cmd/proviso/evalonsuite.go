package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/report"
)

// sentSuite is a suite with its files, in the form that the server accepts.
type sentSuite struct {
	Name  string            `json:"name"`
	Suite string            `json:"suite"`
	Files map[string]string `json:"files,omitempty"`
}

// bundle reads the suite and the files beside it that were looked up. Files whose names begin with
// a dot, such as .env, are not sent.
func (r *remote) bundle(of *loaded) (*sentSuite, error) {
	out := &sentSuite{Name: remoteName(of), Files: map[string]string{}}
	dir, err := filepath.Abs(of.Dir)
	if err != nil {
		return nil, err
	}
	own := filepath.Join(dir, filepath.Base(of.File))
	if out.Suite, err = r.a.sentText(own); err != nil {
		return nil, err
	}
	for _, path := range r.files.sorted() {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(dir, abs)
		if err != nil || !filepath.IsLocal(rel) || abs == own || hiddenFile(rel) {
			continue
		}
		if info, err := os.Stat(abs); err != nil || !info.Mode().IsRegular() {
			continue // it was looked up but does not exist
		}
		if out.Files[filepath.ToSlash(rel)], err = r.a.sentText(abs); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func hiddenFile(rel string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}

func (a *app) sentText(path string) (string, error) {
	data, err := a.readInput(path, "text for a server")
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) {
		return "", proviso.Errorf(proviso.Unsupported, "%s is not UTF-8 text, and only text is sent to a server", path)
	}
	return string(data), nil
}

// remoteName returns the suite's name on the server: its id, or else its description or the name of
// its folder, in characters that URLs allow.
func remoteName(s *loaded) string {
	abs, _ := filepath.Abs(s.Dir)
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.':
			return r
		}
		return '-'
	}, cmp.Or(s.ID, s.Description, filepath.Base(abs)))
	return cmp.Or(strings.Trim(name[:min(len(name), 100)], "-."), "suite")
}

// start sends the suite and starts its run.
func (r *remote) start(ctx context.Context, f *evalFlags, s *loaded) error {
	sent, err := r.bundle(s)
	if err != nil {
		return err
	}
	suites := r.api.JoinPath("suites")
	var stored struct{ Name, Version string }
	if err := r.whenThere(ctx, func() error { return r.client.JSON(ctx, http.MethodPost, suites, sent, &stored) }); err != nil {
		return r.explained(ctx, err, s, sent)
	}
	started := struct{ ID string }{}
	options := struct {
		Version     string `json:"version"`
		Concurrency int    `json:"concurrency,omitempty"`
		Repeat      int    `json:"repeat,omitempty"`
	}{stored.Version, f.given0("max-concurrency", f.concurrency), f.repeat}
	once := rand.Text() // if the answer is lost, the repeated request starts no second run
	if err := r.patiently(ctx, func() error {
		return r.client.JSON(ctx, http.MethodPost, suites.JoinPath(stored.Name, "runs"), options, &started, "Idempotency-Key", once)
	}); err != nil {
		return r.explained(ctx, err, s, sent)
	}
	if started.ID == "" || strings.Contains(started.ID, "/") {
		return proviso.Errorf(proviso.Unavailable, "%s: the answer has no run id", r.api.Host)
	}
	r.run, r.began = r.api.JoinPath("runs", started.ID), true
	return nil
}

// given0 returns n if the flag was given, and otherwise 0.
func (f *remoteFlags) given0(name string, n int) int {
	if f.given.Changed(name) {
		return n
	}
	return 0
}

// explained prints the mistakes that a server found in a suite, at their local positions.
func (r *remote) explained(ctx context.Context, err error, s *loaded, sent *sentSuite) error {
	var no *client.Refusal
	if !errors.As(err, &no) || !slices.ContainsFunc(no.Errors, func(e client.Mistake) bool { return e.File != "" || e.Code != "" && e.Pointer == "" }) {
		return err
	}
	var list proviso.Mistakes
	for _, e := range no.Errors {
		m := proviso.Mistake{Code: e.Code, Message: report.Line(e.Message, 400), Nearest: report.Line(e.Nearest, 80)}
		if e.File != "" {
			m.Place = proviso.Place{File: report.Line(e.File, 200), Line: e.Line, Column: e.Column, Excerpt: report.Line(e.Excerpt, 200)}
			if _, is := sent.Files[e.File]; !is {
				m.Place.File = s.File // the server has another name for it
			}
		}
		list = append(list, m)
	}
	there := r.version(ctx)
	fmt.Fprintln(r.a.err, printable(fmt.Sprintf("proviso: the server %s refuses the suite", r.api.Host)))
	if here := versionName(); there != "" && there != here {
		fmt.Fprintln(r.a.err, printable(fmt.Sprintf("proviso: the server has version %s of proviso, and this is %s, so it may know other keys and types", there, here)))
	}
	return r.a.mistakes(list)
}

// version requests the version of the server; "" if unknown.
func (r *remote) version(ctx context.Context) string {
	var doc struct{ Info struct{ Version string } }
	if r.client.JSON(ctx, http.MethodGet, r.api.JoinPath("..", "openapi.json"), nil, &doc) != nil {
		return ""
	}
	return report.Line(doc.Info.Version, 80)
}

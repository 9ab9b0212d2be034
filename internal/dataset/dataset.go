// Package dataset fetches the remote cases of a suite: files at https:// addresses,
// and datasets of Hugging Face. It keeps a copy of each on this machine, as CSV or as
// JSON Lines. Start at [New].
package dataset

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// maxBytes is the maximum size of a copy, in bytes.
const maxBytes = 256 << 20

// MaxAge is how long a copy is used before it is fetched again. promptfoo's cache
// uses the same time.
const MaxAge = 14 * 24 * time.Hour

// Prefix starts a reference to a dataset of Hugging Face.
const Prefix = "huggingface://datasets/"

// Options configure a [Getter].
type Options struct {
	// Client makes the requests. If nil, only copies are used.
	Client *http.Client
	// Dir is the folder of the copies.
	Dir string
	// Fresh fetches again even if there is a copy. Any accepts a copy of any age.
	Fresh, Any bool
	// Server replaces the server of Hugging Face's datasets; "" is the real one.
	Server string
	// Asking, if not nil, is called with a reference before its first request.
	Asking func(ref string)
	// Now and Sleep are the clock; if nil, the real one is used.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

// Getter fetches cases.
type Getter struct{ o Options }

// New returns a getter. It makes no request.
func New(o Options) *Getter {
	if o.Server == "" {
		o.Server = "https://datasets-server.huggingface.co"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = transport.Wait
	}
	return &Getter{o}
}

// ErrNoCopy means that the network may not be used and there is no local copy.
var ErrNoCopy = errors.New("there is no local copy")

// Host returns the host of a reference, in lower case and without a port. It returns
// "" if this package does not support the reference.
func Host(ref string) string {
	if strings.HasPrefix(ref, Prefix) {
		return "datasets-server.huggingface.co"
	}
	u, err := url.Parse(ref)
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && transport.ThisMachine(u.Hostname())) {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// Show returns a reference for messages, without parts that may be secret.
func Show(ref string) string {
	if strings.HasPrefix(ref, Prefix) {
		return ref
	}
	u, err := url.Parse(ref)
	if err != nil {
		return "the address"
	}
	return transport.URL(u)
}

// Get returns the name of a copy, which ends in .csv, .tsv or .jsonl. It sends the
// token from env to Hugging Face.
func (g *Getter) Get(ctx context.Context, ref string, env proviso.Env) (string, error) {
	base := filepath.Join(g.o.Dir, blobs.Key("cases 1", ref))
	if !g.o.Fresh || g.o.Any || g.o.Client == nil {
		if name := g.kept(base); name != "" {
			return name, nil
		}
	}
	if g.o.Client == nil {
		return "", ErrNoCopy
	}
	if g.o.Asking != nil {
		g.o.Asking(ref)
	}
	var data []byte
	var ext string
	var err error
	if strings.HasPrefix(ref, Prefix) {
		ext = ".jsonl"
		data, err = g.rows(ctx, ref, token(env))
	} else {
		data, ext, err = g.file(ctx, ref)
	}
	if err != nil {
		return "", err
	}
	return keep(base, ext, data)
}

// endings are the extensions of copies.
var endings = [...]string{".csv", ".tsv", ".jsonl"}

// kept finds a usable copy.
func (g *Getter) kept(base string) string {
	for _, ext := range endings {
		info, err := os.Stat(base + ext)
		if err == nil && (g.o.Any || g.o.Client == nil || g.o.Now().Sub(info.ModTime()) < MaxAge) {
			return base + ext
		}
	}
	return ""
}

func keep(base, ext string, data []byte) (string, error) {
	if err := os.MkdirAll(filepath.Dir(base), 0o700); err != nil {
		return "", proviso.Errorf(proviso.Unavailable, "cannot save a copy: %w", err)
	}
	if err := blobs.Replace(base+ext, data, 0o600); err != nil {
		return "", proviso.Errorf(proviso.Unavailable, "cannot save a copy: %w", err)
	}
	for _, other := range endings {
		if other != ext {
			if err := os.Remove(base + other); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", proviso.Errorf(proviso.Unavailable, "cannot save a copy: %w", err)
			}
		}
	}
	return base + ext, nil
}

// Clear removes all copies in a folder and returns how many there were.
func Clear(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, e := range entries {
		if err == nil {
			err = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	return len(entries), err
}

// file fetches a file and converts it to CSV or JSON Lines.
func (g *Getter) file(ctx context.Context, ref string) ([]byte, string, error) {
	u, err := url.Parse(ref)
	if err != nil {
		return nil, "", proviso.Errorf(proviso.Invalid, "the address is malformed")
	}
	sheet := u.Host == "docs.google.com" && strings.HasPrefix(u.Path, "/spreadsheets/")
	if sheet {
		u = exported(u)
	}
	a, err := g.ask(ctx, u, "")
	if err != nil {
		return nil, "", err
	}
	if a.status != http.StatusOK {
		return nil, "", a.failure()
	}
	data := bytes.TrimPrefix(a.body, []byte("\ufeff"))
	kind := kindOf(u, a.contentType)
	if sheet && kind == ".html" {
		return nil, "", proviso.Errorf(proviso.Unavailable, "Google requires a login: share the spreadsheet with anyone who has the link")
	}
	switch kind {
	case ".csv", ".tsv", ".jsonl":
		return data, kind, nil
	case ".json":
		data, err = lines(data)
		return data, ".jsonl", err
	}
	return nil, "", proviso.Errorf(proviso.Invalid, "the response is not CSV, JSON or JSON Lines (content type %q, file extension %q)", a.contentType, path.Ext(u.Path))
}

// exported returns the CSV address of a Google spreadsheet, as in promptfoo.
func exported(u *url.URL) *url.URL {
	out := *u
	out.Path, _, _ = strings.Cut(u.Path, "/edit")
	out.Path = strings.TrimSuffix(out.Path, "/export") + "/export"
	q := url.Values{"format": {"csv"}}
	if gid := u.Query().Get("gid"); gid != "" {
		q.Set("gid", gid)
	}
	out.RawQuery, out.Fragment = q.Encode(), ""
	return &out
}

// kindOf returns the extension for a format: from the file name, else from the
// content type.
func kindOf(u *url.URL, contentType string) string {
	switch ext := strings.ToLower(path.Ext(u.Path)); ext {
	case ".csv", ".tsv", ".json", ".jsonl":
		return ext
	case ".ndjson":
		return ".jsonl"
	}
	media, _, _ := mime.ParseMediaType(contentType)
	switch media {
	case "text/csv", "application/csv":
		return ".csv"
	case "text/tab-separated-values":
		return ".tsv"
	case "application/json":
		return ".json"
	case "application/jsonl", "application/x-ndjson", "application/ndjson", "application/jsonlines", "application/x-jsonlines":
		return ".jsonl"
	case "text/html":
		return ".html"
	}
	return ""
}

// lines writes a list of cases, or one case, one per line.
func lines(data []byte) ([]byte, error) {
	v, err := value.ParseReply(context.Background(), string(data))
	if errors.Is(err, value.ErrTooMany) {
		return nil, proviso.Errorf(proviso.Limit, "%w", err)
	}
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "the response is not JSON: %w", err)
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []byte
	for _, e := range list {
		out = append(value.AppendJSON(out, e), '\n')
	}
	return out, nil
}

// answer is the response of an address.
type answer struct {
	status      int
	contentType string
	body        []byte
	where       string
}

// failure is the error for a status that does not mean success.
func (a *answer) failure() error {
	code := proviso.Unavailable
	if a.status == http.StatusNotFound || a.status == http.StatusGone {
		code = proviso.NotFound
	}
	hint := ""
	if a.status == http.StatusUnauthorized || a.status == http.StatusForbidden {
		hint = "; a dataset that is private or gated needs HF_TOKEN"
	}
	return proviso.Errorf(code, "%s answered HTTP %d%s", a.where, a.status, hint)
}

// attempts is the number of tries for a request that may succeed later.
const attempts = 4

// ask fetches an address, and retries if that can help.
func (g *Getter) ask(ctx context.Context, u *url.URL, token string) (*answer, error) {
	for n := 0; ; n++ {
		a, err := g.once(ctx, u, token)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var known *proviso.Error
		final := errors.As(err, &known) && (known.Code == proviso.Refused || known.Code == proviso.Limit)
		if final || n == attempts-1 || err == nil && a.status != http.StatusTooManyRequests && a.status/100 != 5 {
			return a, err
		}
		if err := g.o.Sleep(ctx, time.Second<<n); err != nil {
			return nil, err
		}
	}
}

func (g *Getter) once(ctx context.Context, u *url.URL, token string) (*answer, error) {
	const most = 2 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "the address is malformed")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := g.o.Client.Do(req)
	if err != nil {
		return nil, unreachable(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBytes+1))
	if err != nil {
		return nil, unreachable(err)
	}
	if len(body) > maxBytes {
		return nil, proviso.Errorf(proviso.Limit, "%s is larger than the limit of %d MiB", transport.URL(u), maxBytes>>20)
	}
	return &answer{resp.StatusCode, resp.Header.Get("Content-Type"), body, transport.URL(u)}, nil
}

// unreachable wraps a network error, and keeps its code if it has one.
func unreachable(err error) error {
	err = transport.Redact(err)
	var known *proviso.Error
	if errors.As(err, &known) {
		return known
	}
	return proviso.Errorf(proviso.Unavailable, "%w", err)
}

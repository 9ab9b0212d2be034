package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed" // app.html, docs.css
	"encoding/hex"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/web"
)

// appHTML is the page of the app. Its script renders everything else from the API.
//
//go:embed app.html
var appHTML []byte

// refusedHTML is the page for a browser without the token of [Options.OpenToken].
//
//go:embed refused.html
var refusedHTML []byte

// returnHTML redirects to the page that the address of a token named.
const returnHTML = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>proviso</title>\n<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n"

//go:embed docs.css
var docsCSS []byte

// appPolicy is the content security policy of the app. Run data are hostile: no script, style
// or request in them takes effect, and no text becomes markup.
const appPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// docsPolicy is the policy of pages without a script.
const docsPolicy = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

const assetPath = "/assets/"

// asset is a file of the app.
type asset struct {
	data      []byte
	packed    func() []byte // data in gzip; made for the first client that accepts gzip
	kind, tag string
	hashed    bool // the name changes with the content
}

// assets are the files of the app. They are embedded, so all servers of a process share them.
var assets = sync.OnceValue(func() map[string]*asset {
	list := map[string]*asset{"docs.css": newAsset("docs.css", docsCSS)}
	for _, name := range web.Names() {
		if data, ok := web.File(name); ok && strings.HasPrefix(name, "app") { // other files belong to reports
			list[name] = newAsset(name, data)
		}
	}
	return list
})

func newAsset(name string, data []byte) *asset {
	sum := sha256.Sum256(data)
	a := &asset{data: data, kind: mime.TypeByExtension(path.Ext(name)), tag: hex.EncodeToString(sum[:12]), hashed: isHashed(name)}
	switch path.Ext(name) { // the machine's table of types may differ
	case ".html":
		a.kind = "text/html; charset=utf-8"
	case ".js":
		a.kind = "text/javascript; charset=utf-8"
	case ".css":
		a.kind = "text/css; charset=utf-8"
	}
	a.packed = sync.OnceValue(func() []byte {
		small, _ := packed(gzip.BestCompression, func(w io.Writer) error { // writing to a buffer cannot fail
			_, err := w.Write(data)
			return err
		})
		return small
	})
	return a
}

// isHashed reports whether a name ends with the hash that the bundler adds to parts of the app,
// as in app-run-5NQXDOMY.js.
func isHashed(name string) bool {
	base := strings.TrimSuffix(name, path.Ext(name))
	hash := base[strings.LastIndexByte(base, '-')+1:]
	return len(hash) == 8 && len(hash) < len(base) && strings.Trim(hash, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// isPage reports whether a path is a page of the app.
func isPage(p string) bool {
	if !tidy(p) {
		return false
	}
	switch head, rest, _ := strings.Cut(p[1:], "/"); head {
	case "runs", "assertions", "judges", "prompts", "datasets", "label", "monitor", "alarms":
		return true
	case "", "compare", "playground", "spade", "settings", "login", "traffic":
		return rest == ""
	}
	return false
}

// opensPage reports whether a person opens a page of the app, perhaps through a link on another
// site. The page contains no data; its script requests them from this server.
func opensPage(r *http.Request) bool {
	return r.Method == http.MethodGet && isPage(r.URL.Path) && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// page answers requests for the files and pages of the app, and returns false for other
// requests.
func (s *Server) page(c *call) bool {
	r := c.r
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if r.URL.Path == panelPath {
		c.route = &route{Path: panelPath}
		s.panelScript(c)
		return true
	}
	name, isAsset := strings.CutPrefix(r.URL.Path, assetPath)
	a := assets()[name]
	switch {
	case isAsset && a != nil:
		c.route = &route{Path: assetPath}
		a.serve(c)
	case isPage(r.URL.Path):
		c.route = &route{Path: "app"}
		if s.o.OpenToken == "" || s.admit(c) {
			c.html(http.StatusOK, appPolicy, s.appPage())
		}
	case !isAsset && wantsHTML(r) && !strings.HasPrefix(r.URL.Path, "/v1/") && !s.routed(r):
		c.route = &route{Path: "app"}
		c.html(http.StatusNotFound, appPolicy, s.appPage()) // its script reports that there is no such page
	default:
		return false
	}
	return true
}

// appPage returns the page of the app. In proviso view the page carries a mark, because some
// pages need models, and their links are on every page.
func (s *Server) appPage() []byte {
	if s.o.OpenToken == "" {
		return appHTML
	}
	return bytes.Replace(appHTML, []byte("<html "), []byte(`<html data-mode="view" `), 1)
}

// routed reports whether a request has a route.
func (s *Server) routed(r *http.Request) bool {
	_, pattern := s.mux.Handler(r)
	return pattern != ""
}

// wantsHTML reports whether the client accepts HTML, as a browser that opens an address does.
func wantsHTML(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// html sends a page. Browsers may cache pages and files, but must revalidate them.
func (c *call) html(status int, policy string, data []byte) {
	h := c.w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Length", strconv.Itoa(len(data)))
	c.w.WriteHeader(status)
	_, _ = c.w.Write(data) // the client has disconnected
}

// serve sends a file of the app, or 304 to a browser that has it.
func (a *asset) serve(c *call) {
	h := c.w.Header()
	h.Set("Content-Type", a.kind)
	h.Add("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if a.hashed {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	data, tag := a.data, `"`+a.tag+`"`
	if takesGzip(c.r) {
		h.Set("Content-Encoding", "gzip")
		data, tag = a.packed(), `"`+a.tag+`-gzip"`
	}
	h.Set("ETag", tag)
	if matchesTag(c.r, tag) {
		h.Del("Content-Encoding")
		c.w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	c.w.WriteHeader(http.StatusOK)
	_, _ = c.w.Write(data) // the client has disconnected
}

package htmltext

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Check returns why text is not an HTML document or fragment, or "". It is HTML if it
// has a known HTML element or a custom element and, unless there is a literal body tag,
// no text outside elements. The error means that it is undecided: ctx is done, or it is
// a *[proviso.Error] with the code Limit for elements that nest too deeply, or Timeout
// for a text that takes more than ten seconds.
func Check(ctx context.Context, text string) (reason string, err error) {
	text = value.TrimSpace(text)
	switch {
	case text == "":
		return "Output is empty", nil
	case tooLong(text):
		return "Output exceeds maximum size limit", nil
	case len(text) >= 5 && strings.EqualFold(text[:5], "<?xml"):
		return "Output appears to be XML, not HTML", nil
	}
	root, err := html.Parse(&timedReader{text: text, stop: clock(ctx)})
	switch known := (*proviso.Error)(nil); {
	case err != nil && ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &known):
		return "", known
	case err != nil:
		return "", proviso.Errorf(proviso.Limit, "parsing HTML: %w", err)
	}
	literal := findWrappers(text)
	if !literal[atom.Body] && hasLooseText(root) {
		return "Output must be wrapped in HTML tags", nil
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && meant(n, literal) {
			return "", nil
		}
	}
	return "Output does not contain recognized HTML elements", nil
}

// maxTime bounds the parser. Its work is linear, but with a large factor for badly
// nested markup.
const maxTime = 10 * time.Second

// clock returns a function that says why no time is left; nil while there is some.
func clock(ctx context.Context) func() error {
	deadline := time.Now().Add(maxTime)
	return func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return proviso.Errorf(proviso.Timeout, "parsing HTML took longer than %v", maxTime)
		}
		return nil
	}
}

// timedReader feeds a text to the parser until time is up.
type timedReader struct {
	text string
	stop func() error
}

// Read reads a few bytes, so that the clock is checked often.
func (r *timedReader) Read(p []byte) (int, error) {
	if err := r.stop(); err != nil {
		return 0, err
	}
	if r.text == "" {
		return 0, io.EOF
	}
	const little = 4096
	n := copy(p[:min(len(p), little)], r.text)
	r.text = r.text[n:]
	return n, nil
}

// meant reports whether n is a known HTML element that the author wrote.
func meant(n *html.Node, literal map[atom.Atom]bool) bool {
	if n.DataAtom == atom.Html || n.DataAtom == atom.Head || n.DataAtom == atom.Body {
		return literal[n.DataAtom]
	}
	name := strings.ToLower(n.Data)
	return knownElements()[name] || strings.Contains(name, "-")
}

// hasLooseText reports whether text other than white space is directly in the body.
func hasLooseText(root *html.Node) bool {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.DataAtom != atom.Body {
			continue
		}
		for c := range n.ChildNodes() {
			if c.Type == html.TextNode && value.TrimSpace(c.Data) != "" {
				return true
			}
		}
		return false
	}
	return false
}

// findWrappers returns which of the elements html, head and body come from a tag in
// the text: the parser creates missing ones without reporting it. A tag counts
// where the parser would otherwise have had to create its element (HTML standard,
// 13.2.6.4.2 to 13.2.6.4.6).
func findWrappers(text string) map[atom.Atom]bool {
	found := map[atom.Atom]bool{}
	if !strings.ContainsAny(text, "<") {
		return found
	}
	w := wrappers{found: found, state: atom.Html}
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		kind := z.Next()
		if kind == html.ErrorToken || !w.token(kind, z) {
			return found
		}
	}
}

// wrappers reads the tokens up to the one that creates the body.
type wrappers struct {
	found     map[atom.Atom]bool
	state     atom.Atom // the next element to create: html, head or body
	templates int       // number of open templates
	inside    bool      // element that holds only text, such as title
}

// token reads one token and reports whether the body is still to be created.
func (w *wrappers) token(kind html.TokenType, z *html.Tokenizer) bool {
	inside := w.inside
	w.inside = false
	switch kind {
	case html.TextToken:
		return inside || w.templates > 0 || strings.Trim(string(z.Text()), "\t\n\f\r ") == ""
	case html.StartTagToken, html.SelfClosingTagToken:
		name, _ := z.TagName()
		return w.startTag(atom.Lookup(name))
	case html.EndTagToken:
		name, _ := z.TagName()
		return w.endTag(atom.Lookup(name))
	}
	return true
}

func (w *wrappers) startTag(name atom.Atom) bool {
	switch {
	case name == atom.Template:
		w.templates++
		w.state = atom.Body
		return true
	case w.templates > 0:
		return true
	}
	switch name {
	case atom.Html:
		if w.state == atom.Html {
			w.found[name] = true
			w.state = atom.Head
		}
	case atom.Head:
		if w.state != atom.Body {
			w.found[name] = true
			w.state = atom.Body
		}
	case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta:
		w.state = atom.Body
	case atom.Noframes, atom.Noscript, atom.Script, atom.Style, atom.Title:
		w.state = atom.Body
		w.inside = true
	case atom.Body:
		w.found[name] = true
		return false
	default:
		return false
	}
	return true
}

func (w *wrappers) endTag(name atom.Atom) bool {
	switch name {
	case atom.Template:
		w.templates = max(w.templates-1, 0)
	case atom.Head:
		w.state = atom.Body
	case atom.Html, atom.Body, atom.Br:
		return w.templates > 0
	}
	return true
}

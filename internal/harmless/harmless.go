// Package harmless is for tests of proviso's output: it reports what a hostile text
// in a document does to a terminal, a CI system, a forge or a browser. It reads
// documents with third-party parsers. Start at [Terminal], [Markdown] and [HTML].
package harmless

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
)

// Terminal returns what is wrong with a text for a terminal or a CI log, "" if
// nothing is: invisible characters, and lines that are commands.
func Terminal(document string) string { return unseen(document, "") }

// unseen is Terminal with some characters allowed.
func unseen(document, allowed string) string {
	if !utf8.ValidString(document) {
		return "it is not UTF-8"
	}
	for _, r := range document {
		if r != '\n' && r != 0x200d && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) && !strings.ContainsRune(allowed, r) {
			return fmt.Sprintf("it has the character %U", r)
		}
	}
	return Commands(document)
}

// Commands returns what a CI system would run in a log, "" if there is nothing.
// Blanks of any kind may precede two colons.
func Commands(document string) string {
	for line := range strings.Lines(document) {
		if strings.HasPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::") || strings.Contains(line, "##[") || strings.Contains(line, "##vso[") {
			return fmt.Sprintf("a line is a command: %q", line)
		}
	}
	return ""
}

// reference is a word that GitHub or GitLab would link, notify or fetch.
var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)@\w|[#!]\d|://|www\.\w|\bgh-\d`) })

// escaped matches the backslashes that a reader does not see.
var escaped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])") })

// Markdown returns what is wrong with a document for a terminal or on a forge, ""
// if nothing is. plain is the same document with a harmless text in place of the
// hostile one: the document may not have more links, images, HTML or references
// than plain.
func Markdown(document, plain string) string {
	const joiner = "\u2060" // added by our Markdown between marks
	if wrong := unseen(document, joiner); wrong != "" {
		return wrong
	}
	want := live(plain)
	for what, n := range live(document) {
		if n > want[what] {
			return fmt.Sprintf("it has %d times %s, and with a harmless text %d", n, what, want[what])
		}
	}
	return ""
}

// live counts the active parts of a document.
func live(document string) map[string]int {
	found := map[string]int{}
	source := []byte(document)
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	var words strings.Builder                                                    // words of a block, with a mark between parts that are not adjacent for a reader
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if n.Kind() == ast.KindEmphasis {
			words.WriteByte(0)
		}
		if !entering {
			if n.Type() == ast.TypeBlock {
				for _, word := range reference().FindAllString(words.String(), -1) {
					found["the reference "+word]++
				}
				words.Reset()
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link, *ast.Image, *ast.AutoLink:
			found["a "+n.Kind().String()]++
		case *ast.Heading:
			found["a heading"]++
		case *ast.RawHTML:
			for tag := range tags(string(n.Segments.Value(source))) {
				found[tag]++
			}
		case *ast.HTMLBlock:
			block := string(n.Lines().Value(source))
			if n.HasClosure() {
				block += string(n.ClosureLine.Value(source))
			}
			for tag := range tags(block) {
				found[tag]++
			}
		case *ast.CodeSpan:
			words.WriteByte(0)
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			words.WriteString(read(string(n.Segment.Value(source))))
			if n.SoftLineBreak() || n.HardLineBreak() {
				words.WriteByte('\n')
			}
		case *ast.String:
			words.Write(n.Value)
		}
		return ast.WalkContinue, nil
	})
	return found
}

// read returns a text as a reader sees it, without entities and backslashes.
func read(source string) string {
	return escaped().ReplaceAllString(html.UnescapeString(strings.ReplaceAll(source, `\&`, "&amp;")), "$1")
}

// HTML returns what is wrong with a page for a browser, "" if nothing is: elements
// and attributes that plain lacks. plain is the same page with a harmless text.
func HTML(page, plain string) string {
	for _, r := range page {
		if r == utf8.RuneError && !utf8.ValidString(page) {
			return "it is not UTF-8"
		}
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return fmt.Sprintf("it has the character %U", r)
		}
	}
	known := map[string]bool{}
	for tag := range tags(plain) {
		known[tag] = true
	}
	for tag := range tags(page) {
		if !known[tag] {
			return "it has " + tag
		}
	}
	return ""
}

// tags yields the tags of an HTML text, each with its attribute names and the
// values of attributes that hold an address, and the comments and scripts.
func tags(source string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		z := html.NewTokenizer(strings.NewReader(source))
		script := false
		for {
			kind := z.Next()
			if kind == html.ErrorToken {
				return
			}
			token := z.Token()
			said := ""
			switch kind {
			case html.StartTagToken, html.SelfClosingTagToken:
				said = "the tag " + token.Data
				for _, a := range token.Attr {
					said += " " + a.Key
					if a.Key == "href" || a.Key == "src" || a.Key == "style" || strings.HasPrefix(a.Key, "on") {
						said += "=" + a.Val
					}
				}
				script = token.Data == "script" || token.Data == "style"
			case html.EndTagToken:
				script = false
			case html.CommentToken:
				said = "the comment " + token.Data
			case html.TextToken:
				if script {
					said = "the script " + token.Data
				}
			}
			if said != "" && !yield(said) {
				return
			}
		}
	}
}

package main

import (
	"bytes"
	"cmp"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/report"
)

// redacting removes known secrets and passwords in URLs from output. Each message is one write.
type redacting struct {
	to        io.Writer
	secrets   *secrets.Set
	addresses *addresses
}

// Write prints p without the secrets in it.
func (r redacting) Write(p []byte) (int, error) {
	if _, err := r.to.Write(r.secrets.Redact(r.addresses.redact(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// passwordsIn returns the passwords of URLs in a command line, which must not be stored either. It
// ignores texts with spaces, and provider:model@version/x, which is more often a model.
func passwordsIn(args []string) (list []string) {
	for _, arg := range args {
		if !strings.Contains(arg, "://") || strings.ContainsFunc(arg, unicode.IsSpace) {
			continue
		}
		for _, p := range passwordsAt(arg) {
			if p.whole {
				list = append(list, arg[p.from:p.to])
			}
		}
	}
	return list
}

// processEnv is the environment of this process.
type processEnv struct{}

// Lookup returns the value of name and whether it is set.
func (processEnv) Lookup(name string) (string, bool) { return os.LookupEnv(name) }

// Names returns the names that are set.
func (processEnv) Names() []string {
	var names []string
	for _, pair := range os.Environ() {
		if name, _, ok := strings.Cut(pair, "="); ok && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// addresses removes the passwords in URLs of the command line from what a process prints. Commands
// get their arguments unchanged. A message may quote any part of an argument, and a password may be
// too short to be searched for alone. So redact looks for parts of an argument that contain both a
// part of the password and the text next to it. Call add before anything is printed; redact is safe
// for concurrent use.
type addresses struct {
	known []hidden
	words [][]byte // parts of passwords that are searched for alone
}

// hidden is an argument in a form that a message may quote. Its password is text[from:to].
type hidden struct {
	text     []byte
	from, to int
}

const (
	// leastRun is the minimum number of bytes around the boundary of a password that a text must
	// share with the argument.
	leastRun = 6
	// leastWord is the length of the shortest part of a password that is searched for alone.
	leastWord = 8
)

// forms are the ways in which messages quote an argument.
var forms = [...]func(string) string{
	func(s string) string { return s },
	func(s string) string { return strings.Trim(strconv.Quote(s), `"`) },
	report.Message,
	url.PathEscape,
	url.QueryEscape,
}

// add records the passwords in arguments.
func (l *addresses) add(args ...string) {
	for _, arg := range args {
		for _, p := range passwordsAt(arg) {
			for i, form := range forms {
				before, password, after := form(arg[:p.from]), form(arg[p.from:p.to]), form(arg[p.to:])
				h := hidden{[]byte(before + password + after), len(before), len(before + password)}
				if i == 0 || !bytes.Equal(h.text, []byte(arg)) {
					l.known = append(l.known, h)
				}
			}
			if strings.ContainsFunc(arg, unicode.IsSpace) { // it may be a sentence
				continue
			}
			for _, word := range strings.FieldsFunc(arg[p.from:p.to], func(r rune) bool { return strings.ContainsRune("@:/?#&=,;", r) }) {
				if len(word) >= leastWord && p.whole {
					l.words = append(l.words, []byte(word))
				}
			}
		}
	}
}

// redact returns a text without the passwords. It never changes its argument.
func (l *addresses) redact(text []byte) []byte {
	if l == nil || len(l.known) == 0 {
		return text
	}
	var found []span
	for i := range l.known {
		found = l.known[i].find(found, text)
	}
	for _, word := range l.words {
		for from := 0; ; {
			i := bytes.Index(text[from:], word)
			if i < 0 {
				break
			}
			found = append(found, span{from: from + i, to: from + i + len(word)})
			from += i + len(word)
		}
	}
	if len(found) == 0 {
		return text
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	out := make([]byte, 0, len(text)+len(proviso.Redaction))
	end := -1 // end of the last span
	for _, f := range found {
		switch {
		case f.from > end:
			out = append(append(out, text[max(0, end):f.from]...), proviso.Redaction...)
			end = f.to
		case f.to > end:
			end = f.to
		}
	}
	return append(out, text[end:]...)
}

// span is a part of a text.
type span struct {
	from, to int
	whole    bool // the span is a whole password of an argument
}

// find appends the parts of a text that are parts of the password. If one part extends into the
// password from the left, and another from the right on the same line, the text between them is the
// rest of the password, quoted in some other way, and is removed as well.
func (h *hidden) find(found []span, text []byte) []span {
	first := len(found)
	for _, at := range [...]int{h.from, h.to} { // a boundary of the password
		if at < 1 || at >= len(h.text) || h.from == h.to {
			continue
		}
		seed := h.text[at-1 : at+1]
		for from := 0; ; {
			i := bytes.Index(text[from:], seed)
			if i < 0 {
				break
			}
			i += from
			from = i + 1
			left, right := 0, 0 // how far the text equals the argument, from the middle of the seed
			for left < at && left <= i && h.text[at-1-left] == text[i-left] {
				left++
			}
			for at+right < len(h.text) && i+1+right < len(text) && h.text[at+right] == text[i+1+right] {
				right++
			}
			if left+right < min(leastRun, len(h.text)) {
				continue
			}
			middle := i + 1
			found = append(found, span{from: middle - min(left, at-h.from), to: middle + min(right, h.to-at)})
		}
	}
	list := found[first:]
	slices.SortFunc(list, func(a, b span) int { return a.from - b.from })
	for i := 1; i < len(list); i++ {
		if gap := list[i].from - list[i-1].to; gap > 0 && gap <= 4*(h.to-h.from) && !bytes.ContainsRune(text[list[i-1].to:list[i].from], '\n') {
			list[i-1].to = list[i].from
		}
	}
	return found
}

// passwordsAt returns the positions of passwords in an argument, including possible passwords,
// because messages quote malformed URLs. A URL may also be in --flag=URL, in -cURL and in a
// sentence.
func passwordsAt(arg string) (list []span) {
	from := 0
	if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && len(arg) > 2 {
		from = 2 // -cVALUE
	}
	if eq := strings.IndexByte(arg, '='); eq >= 0 && isFlag(arg[:eq]) {
		from = eq + 1
	}
	add := func(p span) {
		if p.from < p.to {
			list = append(list, p)
		}
	}
	if scheme := schemeOf(arg[from:]); scheme > 0 {
		for _, p := range inDatabase(arg[from+scheme:]) {
			add(span{p.from + from + scheme, p.to + from + scheme, p.whole})
		}
		return list
	}
	for at := from; ; {
		i := strings.Index(arg[at:], "://")
		if i < 0 {
			break
		}
		at += i + len("://")
		end := len(arg)
		if space := strings.IndexFunc(arg[at:], unicode.IsSpace); space >= 0 {
			end = at + space
		}
		if p := inAddress(arg[at:end]); p.to > 0 {
			add(span{p.from + at, p.to + at, p.whole})
		}
	}
	if p := inWords(arg[from:]); p.to > 0 {
		add(span{p.from + from, p.to + from, p.whole})
	}
	if user, rest, ok := strings.Cut(arg[from:], ":"); ok && isFlag("--"+user) && !strings.HasPrefix(rest, "//") { // user:password@host/database
		at := strings.LastIndexByte(rest, '@')
		if at > 0 && strings.Contains(rest[at:], "/") && !strings.ContainsFunc(rest, unicode.IsSpace) {
			add(span{from + len(user) + 1, from + len(user) + 1 + at, true})
		}
	}
	return list
}

// inDatabase returns the positions of possible passwords in the URL of a database, after its
// scheme.
func inDatabase(rest string) (list []span) {
	at, colon, query := strings.LastIndexByte(rest, '@'), strings.IndexByte(rest, ':'), strings.IndexByte(rest, '?')
	if host := strings.IndexByte(rest, ']'); host > 0 && rest[0] == '[' && strings.HasPrefix(rest[host:], "]:") { // an IPv6 address
		colon = host + 1
	}
	switch {
	case colon >= 0 && colon < at && !(query >= 0 && query < at && isPort(rest[colon+1:])): // postgres://host:5432/p?user=a@b
		list = append(list, span{colon + 1, at, true})
	case colon >= 0 && at < 0 && !isPort(rest[colon+1:]): // the host was forgotten
		list = append(list, span{colon + 1, len(rest), true})
	}
	if query >= 0 { // a parameter with a typo in its name may hold the password
		list = append(list, span{query + 1, len(rest), false})
		for at := query; at < len(rest); {
			name, value := rest[at+1:], ""
			name, _, _ = strings.Cut(name, "&")
			next := at + 1 + len(name)
			if name, value, _ = strings.Cut(name, "="); strings.HasSuffix(strings.ToLower(name), "password") {
				list = append(list, span{next - len(value), next, true})
			}
			at = next
		}
	}
	return list
}

// inAddress returns the position of the password in a URL of any scheme, after the scheme.
func inAddress(rest string) span {
	at, colon := strings.LastIndexByte(rest, '@'), strings.IndexAny(rest, ":/?#")
	if colon < 0 || at <= colon || rest[colon] != ':' {
		return span{}
	}
	if slash := strings.IndexByte(rest, '/'); slash >= 0 && slash < at && isPort(rest[colon+1:]) { // https://host:8080/a@b
		return span{}
	}
	return span{colon + 1, at, true}
}

// inWords returns the position of the password in a libpq connection string: host=h password=x.
func inWords(text string) span {
	at := strings.Index(strings.ToLower(text), "password=")
	if at < 0 || countWords(text) < 2 {
		return span{}
	}
	from := at + len("password=")
	rest := text[from:]
	if value, is := strings.CutPrefix(rest, "'"); is {
		if end := strings.IndexByte(value, '\''); end >= 0 {
			return span{from + 1, from + 1 + end, true}
		}
		return span{from + 1, len(text), true}
	}
	if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
		return span{from, from + end, true}
	}
	return span{from, len(text), true}
}

// schemeOf returns the length of a database scheme at the beginning of a text, including what
// separates it from the rest; 0 if there is none.
func schemeOf(text string) int {
	colon := strings.IndexAny(text, ":/")
	if colon < 0 {
		return 0
	}
	name := strings.TrimLeft(text[:colon], " \t\r\n\"'")
	if strings.ContainsFunc(name, func(r rune) bool { return !isSchemeRune(r) }) || document.Nearest(name, databaseSchemes) == "" {
		return 0
	}
	rest := strings.TrimPrefix(text[colon:], ":")
	slashes := strings.TrimLeft(rest, "/")
	if end := len(text) - len(slashes); text[colon:end] != "/" && !strings.HasPrefix(text[end:], " ") { // a folder, and a sentence: "Postgres: is it SQL?"
		return end
	}
	return 0
}

// isPort reports whether a text begins with a port number.
func isPort(text string) bool {
	rest := strings.TrimLeft(text, "0123456789")
	return rest != text && (rest == "" || rest[0] == '/' || rest[0] == '?')
}

// isFlag reports whether a text is the name of a flag rather than something else.
func isFlag(text string) bool {
	return strings.HasPrefix(text, "-") && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
}

// countWords returns the number of words in a text that belong to a libpq connection string.
func countWords(text string) (n int) {
	for word := range strings.FieldsSeq(text) {
		if name, _, is := strings.Cut(word, "="); is && connectionWords[strings.ToLower(name)] {
			n++
		}
	}
	return n
}

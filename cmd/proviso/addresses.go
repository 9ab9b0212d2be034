package main

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// addresses are those of databases with a password in the command line. A command sees them
// without it, wherever they stand: a password may have any length, and a message may quote
// any part of an argument. Only who opens the database gets the whole.
type addresses map[string]string // the whole, by what commands see

// hidden returns a command line without the passwords of databases.
func (l *addresses) hidden(args []string) []string {
	list := make([]string, len(args))
	for i, arg := range args {
		list[i] = arg
		from, secret := addressIn(arg)
		if from < 0 {
			continue
		}
		seen := arg[from:secret] + proviso.Redaction
		if *l == nil {
			*l = addresses{}
		}
		for n := 2; (*l)[seen] != "" && (*l)[seen] != arg[from:]; n++ {
			seen = fmt.Sprint(arg[from:secret], proviso.Redaction, n)
		}
		(*l)[seen] = arg[from:]
		list[i] = arg[:from] + seen
	}
	return list
}

// whole returns an address with its password.
func (l addresses) whole(seen string) string {
	if whole := l[seen]; whole != "" {
		return whole
	}
	return seen
}

// addressIn returns where the address of a database begins in an argument, which may also be
// --flag=address, and from where on it may have a password; -1 if it has none. Addresses with a
// mistake count, too: those are the ones that messages quote.
func addressIn(arg string) (from, secret int) {
	if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && len(arg) > 2 {
		from = 2 // -cVALUE
	}
	if eq := strings.IndexByte(arg, '='); eq >= 0 && isFlag(arg[:eq]) {
		from = eq + 1
	}
	text := arg[from:]
	if scheme := schemeOf(text); scheme > 0 {
		rest := text[scheme:]
		user := rest[:max(0, strings.LastIndexByte(rest, '@'))]
		if strings.Contains(user, ":") || strings.Contains(rest, "?") || wrongPort(rest) {
			return from, from + scheme
		}
		return -1, 0
	}
	if at := strings.Index(strings.ToLower(text), "password="); at >= 0 && countWords(text) > 1 {
		return from, from + at + len("password=")
	}
	if user, rest, ok := strings.Cut(text, ":"); ok && isFlag("--"+user) && !strings.HasPrefix(rest, "//") { // user:password@host:5432/database
		if host := strings.LastIndexByte(rest, '@'); host > 0 {
			if port, database, ok := strings.Cut(rest[host:], "/"); ok && database != "" && strings.Contains(port, ":") && !wrongPort(port) {
				return from, from + len(user) + 1
			}
		}
	}
	return -1, 0
}

// schemeOf returns the length of the scheme of a database at the beginning of a text, with what
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
	end := colon
	for end < len(text) && (text[end] == ':' || text[end] == '/') {
		end++
	}
	if text[colon:end] == "/" { // a folder
		return 0
	}
	return end
}

// wrongPort reports whether what stands behind a colon is no number, so that it may be a
// password.
func wrongPort(rest string) bool {
	_, port, ok := strings.Cut(rest, ":")
	port, _, _ = strings.Cut(port, "/")
	return ok && strings.Trim(port, "0123456789") != ""
}

// isFlag reports whether a text is the name of a flag, or of something else.
func isFlag(text string) bool {
	return strings.HasPrefix(text, "-") && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
}

// countWords returns how many words of libpq's form of a connection a text has.
func countWords(text string) (n int) {
	for word := range strings.FieldsSeq(text) {
		if name, _, is := strings.Cut(word, "="); is && connectionWords[strings.ToLower(name)] {
			n++
		}
	}
	return n
}

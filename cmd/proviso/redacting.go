package main

import (
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"

	"github.com/proviso-eval/proviso/internal/secrets"
)

// redacting removes known secrets, and the passwords of addresses, from output. Each message is
// one write.
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

// passwordsIn returns the passwords of URLs in a command line, which are secrets in what is
// stored as well. A sentence has none, and provider:model@version/x is more often a model.
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

// fileOf returns the file that w writes to; nil if it is none.
func fileOf(w io.Writer) *os.File {
	if r, ok := w.(redacting); ok {
		w = r.to
	}
	f, _ := w.(*os.File)
	return f
}

// isTerminal reports whether w writes to a terminal.
func isTerminal(w io.Writer) bool {
	f := fileOf(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
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

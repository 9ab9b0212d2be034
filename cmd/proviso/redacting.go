package main

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/proviso-eval/proviso/internal/secrets"
)

// redacting removes known secrets from output. Each message is one write.
type redacting struct {
	to      io.Writer
	secrets *secrets.Set
}

// Write prints p without the secrets in it.
func (r redacting) Write(p []byte) (int, error) {
	if _, err := r.to.Write(r.secrets.Redact(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// passwordsIn returns the passwords of URLs in a command line. Whoever names a place that
// does not fit there reads its message, which quotes it. A password that is too short to be
// found is returned with what is around it.
func passwordsIn(args []string) (list []string) {
	for _, arg := range args {
		scheme, rest, _ := strings.Cut(arg, "://")
		if at := strings.LastIndexByte(rest, '@'); at >= 0 { // a password that is not escaped may contain one
			_, password, is := strings.Cut(rest[:at], ":")
			list = append(list, password)
			if is && len(password) < secrets.Shortest {
				end := scheme[max(0, len(scheme)-3):]
				list = append(list, end+"://"+rest[:at+1], end+":/"+rest[:at+1]) // the second one as the path of a file
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

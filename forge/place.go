package forge

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
)

// Place is a change request and the CI job that reports on it. Every field comes from the
// job's environment or from its user, never from a file that the job was given.
type Place struct {
	Forge      string // "github" or "gitlab"
	API        string // base address of its API
	Repository string // owner/name; for GitLab also a number
	Number     int    // number of the change request; 0 if only Commit and Head are known
	Commit     string // that was evaluated, in full; "" if unknown
	Head       string // owner:branch of the change, where Number is 0
	Run        int64  // number of the CI run: a later run has a higher one; 0 if unknown
	Job        string // address of the CI run for people; "" if unknown
	Fork       bool   // the change comes from a fork
}

// Detect finds the place of a CI job in its environment. event is the content of the file
// that GITHUB_EVENT_PATH names. Outside the known CI systems, the place is zero. In a job
// that belongs to no change request, its Number and Head are zero. An error means that the
// CI system is known but its environment or event is malformed.
func Detect(env proviso.Env, event []byte) (Place, error) {
	for _, k := range kinds() {
		p, err := k.detect(env, event)
		if err != nil {
			return Place{}, proviso.Errorf(proviso.Invalid, "the environment of the %s job: %w", k.title, err)
		}
		if p.Forge != "" {
			return p, nil
		}
	}
	return Place{}, nil
}

// Token returns the forge's token from the environment. The error names the variables that
// it reads.
func Token(env proviso.Env, name string) (string, error) {
	k, err := kindOf(name)
	if err != nil {
		return "", err
	}
	for _, variable := range k.tokens {
		if v := lookup(env, variable); v != "" {
			return v, nil
		}
	}
	return "", proviso.Errorf(proviso.Invalid, "%w for %s: set %s", ErrNoToken, k.title, strings.Join(k.tokens, " or "))
}

// complete sets defaults, and checks the fields that become part of an address.
func (p *Place) complete(k *kind) (*url.URL, error) {
	if p.API == "" {
		p.API = k.address
	}
	base, err := url.Parse(strings.TrimSuffix(p.API, "/"))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil {
		return nil, proviso.Errorf(proviso.Invalid, "the address of %s's API is not http:// or https:// with a host", k.title)
	}
	if !regexp.MustCompile(`^[\w.-]+(/[\w.-]+){0,20}$`).MatchString(p.Repository) || strings.Contains(p.Repository, "..") {
		return nil, proviso.Errorf(proviso.Invalid, "%q is not a repository of %s: expected owner/name", p.Repository, k.title)
	}
	if p.Commit != "" && !isCommit(p.Commit) {
		return nil, proviso.Errorf(proviso.Invalid, "%q is not a commit: expected 40 or 64 hexadecimal digits", p.Commit)
	}
	if p.Number < 0 || p.Number == 0 && (p.Head == "" || p.Commit == "") {
		return nil, proviso.Errorf(proviso.Invalid, "this job belongs to no %s; run it for one, or name it", k.change)
	}
	return base, nil
}

// isCommit reports whether a text is a full commit hash.
func isCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

func lookup(env proviso.Env, name string) string {
	v, _ := env.Lookup(name)
	return strings.TrimSpace(v)
}

// number reads a whole number from the environment; 0 if the variable is not set.
func number(env proviso.Env, name string) (int64, error) {
	text := lookup(env, name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, proviso.Errorf(proviso.Invalid, "%s is %q; expected a whole number", name, text)
	}
	return n, nil
}

package store

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
)

// Scope is a right of an API key.
type Scope string

// The scopes. Admin includes the others, which do not include each other. Without read, a
// key sees only its own data, so that a key for CI cannot read what others evaluated.
const (
	Read      Scope = "read"     // see suites, runs, results, evaluations and labels
	Labelling Scope = "label"    // write labels, see what a queue gives and its own labels
	Evaluate  Scope = "evaluate" // evaluate outputs, put suites, start runs, see its own
	Edit      Scope = "edit"     // put suites, sets, datasets and runs that were made elsewhere, see its own; spends no money
	Ingest    Scope = "ingest"   // send events, thumbs and spans
	Admin     Scope = "admin"    // everything, in all projects
)

// scopes are all scopes, from the least to the most.
var scopes = [...]Scope{Read, Labelling, Evaluate, Edit, Ingest, Admin}

// ScopeNames returns the names of all scopes.
func ScopeNames() []string {
	var names []string
	for _, s := range scopes {
		names = append(names, string(s))
	}
	return names
}

// Project is the name of a project, to which keys and all their data belong.
// The keys of a project see nothing of another one.
type Project string

// DefaultProject is the project of keys made without one, and of requests
// without a key.
const DefaultProject Project = "default"

// maxProject bounds the length of a project name, in characters.
const maxProject = 100

// Check returns why the name of a project is invalid, or nil. The name is used
// unescaped in addresses and metric labels.
func (p Project) Check() error {
	if p != "" && len(p) <= maxProject && p[0] != '.' && !strings.ContainsFunc(string(p), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	}) {
		return nil
	}
	return proviso.Errorf(proviso.Invalid,
		"%s is not a valid project name: it has 1 to %d letters, digits, dots, dashes and underscores, and does not begin with a dot", quote(string(p)), maxProject)
}

// NewKey is an API key to be made.
type NewKey struct {
	Name      string   // its name; need not be unique
	Project   Project  // its project, "" for DefaultProject
	Scopes    []Scope  // at least one
	Budget    *float64 // US dollars, nil for no limit
	Providers []string // globs of provider ids that it may use; none means all
}

// Key is an API key, without its secret.
type Key struct {
	ID        string
	Name      string
	Project   Project
	Hint      string // the first characters of the secret, to distinguish keys
	Scopes    []Scope
	Budget    *float64 // US dollars, nil for no limit
	Spent     float64  // US dollars
	Providers []string // globs of provider ids; none means all
	Created   time.Time
	LastUsed  time.Time // zero if never; may lag by a minute
	Revoked   time.Time // zero if it is in force
}

// Can reports whether the key has a scope, or admin. A revoked key has no
// scope.
func (k Key) Can(s Scope) bool {
	return k.Revoked.IsZero() && (slices.Contains(k.Scopes, s) || slices.Contains(k.Scopes, Admin))
}

// MayAsk reports whether the key may use a provider, by its id. In the globs *
// stands for any text and ? for one character.
func (k Key) MayAsk(provider string) bool {
	if len(k.Providers) == 0 {
		return true
	}
	return slices.ContainsFunc(k.Providers, func(glob string) bool { return matches(glob, provider) })
}

// matches reports whether a glob matches a whole text, in time at most
// proportional to the product of their lengths.
func matches(glob, text string) bool {
	g, t := []rune(glob), []rune(text)
	i, j := 0, 0
	star, from := -1, 0 // position of the last star, and of the text after its match
	for j < len(t) {
		switch {
		case i < len(g) && g[i] == '*':
			star, from = i, j
			i++
		case i < len(g) && (g[i] == '?' || g[i] == t[j]):
			i++
			j++
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(g) && g[i] == '*' {
		i++
	}
	return i == len(g)
}

// Check returns why a key is invalid, or nil.
func (k NewKey) Check() error {
	if err := checkText("name", k.Name, MaxName); err != nil {
		return err
	}
	if k.Project != "" {
		if err := k.Project.Check(); err != nil {
			return err
		}
	}
	if len(k.Scopes) == 0 {
		return &proviso.Error{Code: proviso.Invalid, Message: "an API key needs a scope", Valid: ScopeNames()}
	}
	for _, s := range k.Scopes {
		if !slices.Contains(scopes[:], s) {
			return &proviso.Error{Code: proviso.Invalid, Message: "there is no scope " + quote(string(s)), Valid: ScopeNames()}
		}
	}
	if k.Budget != nil && (*k.Budget < 0 || math.IsNaN(*k.Budget) || math.IsInf(*k.Budget, 0)) {
		return proviso.Errorf(proviso.Invalid, "a budget is a number of US dollars from 0, not %v", *k.Budget)
	}
	if len(k.Providers) > MaxGlobs {
		return proviso.Errorf(proviso.Limit, "%d provider globs, more than %d", len(k.Providers), MaxGlobs)
	}
	for _, glob := range k.Providers {
		if err := checkText("provider glob", glob, MaxName); err != nil {
			return err
		}
	}
	return nil
}

// SecretPrefix is the prefix of every API key secret, so that scanners find
// leaked ones.
const SecretPrefix = "pvk_"

const (
	secretRandom = 25 // bytes: 200 bits
	secretLength = len(SecretPrefix) + 40 + 7
	hintLength   = len(SecretPrefix) + 4
)

// secretText encodes secrets without similar-looking characters, so that a
// double click selects the whole text.
var secretText = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// NewSecret returns a new secret: the prefix, 200 random bits, and a checksum
// (CRC-32) by which scanners and [IsSecret] recognize a secret.
func NewSecret() string {
	var random [secretRandom]byte
	rand.Read(random[:]) // never fails: crypto/rand ends the program instead
	body := SecretPrefix + secretText.EncodeToString(random[:])
	return body + checksum(body)
}

func checksum(body string) string {
	return secretText.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body))))
}

// IsSecret reports whether a text has the form and the checksum of a secret.
func IsSecret(text string) bool {
	if len(text) != secretLength || !strings.HasPrefix(text, SecretPrefix) {
		return false
	}
	body := text[:secretLength-7]
	return checksum(body) == text[len(body):]
}

// SecretHint returns the first characters of a secret. They do not help to guess the rest.
func SecretHint(secret string) string { return secret[:min(len(secret), hintLength)] }

// HashSecret returns the stored hash of a secret. A plain SHA-256 is enough:
// unlike passwords, 200 random bits cannot be guessed.
func HashSecret(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

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
	"github.com/proviso-eval/proviso/internal/glob"
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

// KeyFile is the form of a key in files and in the output of commands. Times that have not
// come are nil.
type KeyFile struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Project   Project    `json:"project"`
	Hint      string     `json:"hint"`
	Secret    string     `json:"secret,omitempty"` // only of a new key
	Scopes    []Scope    `json:"scopes"`
	Budget    *float64   `json:"budget"`
	Spent     float64    `json:"spent"`
	Providers []string   `json:"providers"`
	Created   time.Time  `json:"created"`
	LastUsed  *time.Time `json:"last_used"`
	Revoked   *time.Time `json:"revoked"`
}

// File returns the key as a [KeyFile], with its secret unless that is "".
func (k Key) File(secret string) KeyFile {
	come := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	return KeyFile{k.ID, k.Name, k.Project, k.Hint, secret, k.Scopes, k.Budget, k.Spent, append([]string{}, k.Providers...),
		k.Created, come(k.LastUsed), come(k.Revoked)}
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
	return slices.ContainsFunc(k.Providers, func(pattern string) bool { return glob.Match(pattern, provider) })
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

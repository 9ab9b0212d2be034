package runfile

import (
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"time"
)

const (
	idTime     = "20060102-150405"
	idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's base 32, which has no look-alikes
	idRandom   = 4
)

// newID returns an id such as 20261121-113015-k3f9: ids sort by time (UTC), to
// the second.
func newID(now time.Time) string {
	var random [idRandom]byte
	rand.Read(random[:]) // never fails: crypto/rand ends the program instead
	return id(now, random)
}

// ContentID returns an id that depends only on the run's content: its time, and
// characters of the SHA-256 of its input.
func ContentID(started time.Time, content string) string {
	sum := sha256.Sum256([]byte(content))
	return id(started, [idRandom]byte(sum[:]))
}

// id writes the low five bits of each byte as a character.
func id(started time.Time, bits [idRandom]byte) string {
	for i, b := range bits {
		bits[i] = idAlphabet[b&31]
	}
	return started.UTC().Format(idTime) + "-" + string(bits[:])
}

// isPlain reports whether an id is safe in the commands that reports print, which people copy
// into a shell.
func isPlain(id string) bool {
	for _, c := range []byte(id) {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return len(id) <= 80 && !strings.HasPrefix(id, "-")
}

// IsID reports whether a text has the form of an id.
func IsID(text string) bool {
	_, ok := parseID(text)
	return ok
}

// parseID returns the time in an id, and whether name has the form of one: a folder made by
// others may have a name with terminal control characters.
func parseID(name string) (time.Time, bool) {
	if len(name) != len(idTime)+1+idRandom || name[len(idTime)] != '-' {
		return time.Time{}, false
	}
	for _, c := range []byte(name[len(idTime)+1:]) {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z') {
			return time.Time{}, false
		}
	}
	started, err := time.Parse(idTime, name[:len(idTime)])
	return started, err == nil
}

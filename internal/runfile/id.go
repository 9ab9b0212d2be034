package runfile

import (
	"crypto/rand"
	"crypto/sha256"
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

// IsID reports whether a text has the form of an id.
func IsID(text string) bool {
	_, ok := parseID(text)
	return ok
}

// parseID returns the time in an id and whether name has the shape of one.
func parseID(name string) (time.Time, bool) {
	if len(name) != len(idTime)+1+idRandom || name[len(idTime)] != '-' {
		return time.Time{}, false
	}
	started, err := time.Parse(idTime, name[:len(idTime)])
	return started, err == nil
}

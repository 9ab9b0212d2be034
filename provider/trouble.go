package provider

import (
	"errors"
	"net/http"
	"strings"
)

// Trouble is why no request to an endpoint can succeed until somebody does something.
type Trouble string

// The troubles.
const (
	NoTrouble    Trouble = ""      // another request may succeed
	KeyTrouble   Trouble = "key"   // the key is missing, wrong, expired, or may not do this
	ModelTrouble Trouble = "model" // the model does not exist, or not any more
	QuotaTrouble Trouble = "quota" // the account has no credit left
)

// TroubleOf finds the trouble in the error of a provider.
func TroubleOf(err error) Trouble {
	if errors.Is(err, ErrNoKey) {
		return KeyTrouble
	}
	var failed *failure
	if !errors.As(err, &failed) {
		return NoTrouble
	}
	f := failed.fault
	text := strings.ToLower(f.message)
	switch {
	case quota(f, text):
		return QuotaTrouble
	case f.status == http.StatusNotFound, f.status == http.StatusBadRequest && unknownModel(f, text):
		return ModelTrouble
	case f.status == http.StatusUnauthorized, f.status == http.StatusForbidden && !unknownModel(f, text):
		return KeyTrouble
	case f.status == http.StatusForbidden:
		return ModelTrouble
	}
	return NoTrouble
}

// RefusedKey names the key of the user's environment that an endpoint refused (401, 403), as
// [Options.Need] is told of it. It is "" for other errors, and for a key that the suite has.
func RefusedKey(err error) string {
	var failed *failure
	if !errors.As(err, &failed) || TroubleOf(err) != KeyTrouble {
		return ""
	}
	return failed.need
}

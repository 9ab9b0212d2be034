package store

import (
	"crypto/sha256"
	"errors"
	"time"

	"github.com/proviso-eval/proviso"
)

// Causes of a Conflict that [Replies.Claim] returns, for errors.Is.
var (
	ErrOtherRequest = errors.New("the idempotency key was used for another request")
	ErrInProgress   = errors.New("the request with this idempotency key is being answered")
)

// ClaimLease is how long a claim without a reply is valid.
const ClaimLease = 15 * time.Minute

// Claim is a claim to answer a request with an idempotency key.
type Claim struct {
	CreatedBy string            // id of the API key, and the person if the key acts for one, so that clients do not see each other's keys
	Key       string            // the key that the client sent
	Request   [sha256.Size]byte // hash of method, path and body
}

// Response is an HTTP response that can be sent again.
type Response struct {
	Status    int
	MediaType string
	Location  string // Location header, "" if there is none
	Body      []byte
}

// Reply is the response to a claimed request.
type Reply struct {
	Claim
	Response
	Expires time.Time // time when it is deleted
}

// Check returns why a claim is invalid, or nil.
func (c Claim) Check() error {
	if c.CreatedBy == "" {
		return proviso.Errorf(proviso.Invalid, "an idempotency key belongs to an API key")
	}
	return checkText("idempotency key", c.Key, MaxName)
}

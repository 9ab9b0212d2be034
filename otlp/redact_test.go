package otlp

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// TestRedactionObeysItsContext: redacting a request of many small fields stops when its deadline
// has passed, in both encodings.
func TestRedactionObeysItsContext(t *testing.T) {
	t.Parallel()
	gone := errors.New("the client has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	body := bytes.Repeat([]byte{0x08, 0x01}, 100_000) // field 1, a number
	if _, err := redact(ctx, protoType, body, []string{"key"}); err != nil {
		t.Fatal(err)
	}
	cancel(gone)
	list := append(bytes.Repeat([]byte("[],"), 100_000), "[]]"...)
	for kind, body := range map[string][]byte{protoType: body, jsonType: append([]byte("["), list...)} {
		if _, err := redact(ctx, kind, body, []string{"key"}); !errors.Is(err, gone) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

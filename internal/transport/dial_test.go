package transport

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
)

// TestResolvedAddress checks that the address is checked after the name is resolved,
// even if a policy allows the name.
func TestResolvedAddress(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(nil)
	t.Cleanup(srv.Close)
	address := strings.Replace(strings.TrimPrefix(srv.URL, "http://"), "127.0.0.1", "localhost", 1)
	_, err := dialer{public: public{only: true}}.dial(t.Context(), "tcp", address)
	var known *proviso.Error
	if !errors.As(err, &known) || known.Code != proviso.Refused {
		t.Errorf("a name of a private address: %v", err)
	}
	conn, err := dialer{}.dial(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

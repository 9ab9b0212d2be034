package postgres_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store/postgres"
)

// listening accepts connections, and passes them to serve.
func listening(t *testing.T, serve func(net.Conn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return "postgres://u:s3cret-word@" + l.Addr().String() + "/p"
}

// TestAnotherProgramListens: another program at the address of a database is distinguished from
// an unreachable database.
func TestAnotherProgramListens(t *testing.T) {
	t.Parallel()
	silent := listening(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	http := listening(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 100))
		_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
	})
	closes := listening(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 100)) })
	for name, c := range map[string][2]string{
		"no answer": {silent + "?sslmode=disable&connect_timeout=1", "it cannot be reached (what listens there did not answer in time; perhaps it is not PostgreSQL)"},
		"HTTP":      {http + "?sslmode=disable", "it cannot be reached (what listens there does not answer as PostgreSQL does)"},
		"HTTP, TLS": {http, "it cannot be reached (what listens there does not answer as PostgreSQL does)"},
		"closes":    {closes + "?sslmode=disable", "it cannot be reached (the connection was closed without an answer)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := postgres.Open(t.Context(), c[0], postgres.Options{})
			if err == nil || !strings.HasSuffix(err.Error(), c[1]) || proviso.CodeOf(err) != proviso.Unavailable {
				t.Errorf("%v", err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := postgres.Open(ctx, silent, postgres.Options{}); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "user=") {
		t.Errorf("stopped: %v", err)
	}
}

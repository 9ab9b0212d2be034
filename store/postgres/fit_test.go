package postgres_test

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
)

// TestUnfit: a database that cannot hold a store is refused at once, in one line that says what
// to do and never contains a password.
func TestUnfit(t *testing.T) {
	t.Parallel()
	s := postgrestest.StartFor(t, "-c", "max_connections=20")
	for _, sql := range []string{
		"CREATE DATABASE p",
		"CREATE DATABASE newer OWNER app",
		"CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0",
		"CREATE DATABASE fixed",
		"ALTER DATABASE fixed SET default_transaction_read_only = on",
		"CREATE DATABASE narrow CONNECTION LIMIT 5",
		"CREATE ROLE stranger LOGIN PASSWORD 'the-right-one'",
		"CREATE ROLE visitor LOGIN",
		"CREATE ROLE few LOGIN CONNECTION LIMIT 3",
	} {
		if err := s.Run(sql, "postgres"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Run("REVOKE CREATE ON SCHEMA public FROM PUBLIC", "p"); err != nil {
		t.Fatal(err)
	}
	if err := s.Run("CREATE TABLE proviso_schema (version BIGINT PRIMARY KEY); INSERT INTO proviso_schema VALUES (9999); ALTER TABLE proviso_schema OWNER TO app", "newer"); err != nil {
		t.Fatal(err)
	}
	as := func(user, database string) string {
		return strings.Replace(s.URL(database), "app@", user+"@", 1)
	}
	for name, c := range map[string]struct {
		url, says string
		code      string
	}{
		"wrong password":             {as("stranger:s3cret-word", "p"), "it refuses the user or the password", proviso.Refused},
		"no such database":           {s.URL("nowhere"), "there is no such database; `createdb` makes one", proviso.Refused},
		"no rights":                  {as("visitor", "p"), "may not use the schema public, or make tables in it; GRANT USAGE, CREATE ON SCHEMA \"public\" TO \"visitor\"", proviso.Refused},
		"not UTF-8":                  {s.URL("latin"), "its encoding is LATIN1; make a database with UTF8", proviso.Refused},
		"read-only":                  {s.URL("fixed"), "it is read-only", proviso.Refused},
		"too few for the database":   {s.URL("narrow"), "allows 5 connections, and each server and worker takes up to 12", proviso.Refused},
		"too few for the user":       {as("few", "p"), "allows 3 connections", proviso.Refused},
		"newer":                      {s.URL("newer"), "later version of proviso (schema 9999", proviso.Refused},
		"nobody there":               {"postgres://u:s3cret-word@127.0.0.1:1/p", "it cannot be reached", proviso.Unavailable},
		"password with a slash":      {"postgres://u:s3cret-word/x@127.0.0.1:1/p", "written as %XX", proviso.Invalid},
		"digits with a slash":        {"postgres://u:12/s3cret-word@127.0.0.1:1/p", "written as %XX", proviso.Invalid},
		"password with an at sign":   {"postgres://u:x@s3cret-word@127.0.0.1:1/p", "written as %XX", proviso.Invalid},
		"password with an escape":    {"postgres://u:s3cret-word%zz@127.0.0.1:1/p", "written as %XX", proviso.Invalid},
		"bad port":                   {"postgres://u:s3cret-word@127.0.0.1:99999/p", "port 99999 is not valid", proviso.Invalid},
		"digits that are no port":    {"postgres://u:123456/s3cret-word@127.0.0.1:1/p", "written as %XX", proviso.Invalid},
		"bad parameter":              {"postgres://u:s3cret-word@127.0.0.1:1/p?sslmode=verify-fll", "sslmode", proviso.Invalid},
		"bad parameter and password": {"postgres://127.0.0.1:1/p?sslmode=no&password=s3cret-word", "the parameter sslmode: expected", proviso.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := postgres.Open(t.Context(), c.url, postgres.Options{})
			if err == nil {
				db.Close()
				t.Fatal("opened")
			}
			var known *proviso.Error
			if !errors.As(err, &known) || known.Code != c.code {
				t.Errorf("%v: expected the code %s", err, c.code)
			}
			if text := err.Error(); !strings.Contains(text, c.says) || strings.Contains(text, "\n") || strings.Contains(fmt.Sprintf("%+v %#v", err, known), "s3cret-word") {
				t.Errorf("%q: expected one line with %q, and no password", text, c.says)
			}
		})
	}
	if err := errors.Join(s.Stop(), s.Standby(), s.Restart()); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(t.Context(), s.URL("p"), postgres.Options{}); err == nil || !strings.Contains(err.Error(), "it is a replica, which can only be read; use the URL of the primary") {
		t.Errorf("a replica: %v", err)
	}
	if schema, err := postgres.Schema(t.Context(), s.URL("p")); err != nil || schema.Version != 0 {
		t.Errorf("reading a replica: %+v, %v", schema, err)
	}
}

// TestPooler: a pooler that gives transactions of two clients one session is detected.
func TestPooler(t *testing.T) {
	t.Parallel()
	database := postgrestest.Database(t)
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	back, err := net.Dial("unix", filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	go pool(l, back)
	through := "postgres://app@" + l.Addr().String() + u.Path + "?sslmode=disable"
	if db, err := postgres.Open(t.Context(), through, postgres.Options{}); err == nil || !strings.Contains(err.Error(), "set pool_mode = session") {
		if err == nil {
			db.Close()
		}
		t.Errorf("through a pooler: %v", err)
	}
}

// pool passes the simple queries of all clients to one session.
func pool(l net.Listener, back net.Conn) {
	session := make(chan *pgproto3.Frontend, 1)
	session <- nil
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			client := pgproto3.NewBackend(c, c)
			start, err := client.ReceiveStartupMessage()
			if err != nil {
				return
			}
			server := <-session
			if server == nil {
				server = pgproto3.NewFrontend(back, back)
				server.Send(start)
				if server.Flush() != nil || pass(server, nil) != nil {
					return
				}
			}
			session <- server
			client.Send(&pgproto3.AuthenticationOk{})
			client.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
			client.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
			client.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			for client.Flush() == nil {
				m, err := client.Receive()
				if err != nil {
					return
				}
				query, ok := m.(*pgproto3.Query)
				if !ok {
					return
				}
				server := <-session
				server.Send(query)
				err = server.Flush()
				if err == nil {
					err = pass(server, client)
				}
				session <- server
				if err != nil {
					return
				}
			}
		}()
	}
}

// pass forwards a server's messages up to the end of the query.
func pass(server *pgproto3.Frontend, client *pgproto3.Backend) error {
	for {
		m, err := server.Receive()
		if err != nil {
			return err
		}
		if client != nil {
			client.Send(m)
		}
		if _, ok := m.(*pgproto3.ReadyForQuery); ok {
			return nil
		}
	}
}

// TestNoTLS: the error names a server without TLS if the URL requires TLS.
func TestNoTLS(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 8)) // the request for TLS
			_, _ = c.Write([]byte("N"))
			_ = c.Close()
		}
	}()
	_, err = postgres.Schema(t.Context(), "postgres://u@"+l.Addr().String()+"/p?sslmode=verify-full")
	if err == nil || !strings.Contains(err.Error(), "it does not offer TLS, and sslmode=verify-full requires it") {
		t.Errorf("%v", err)
	}
}

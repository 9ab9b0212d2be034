package postgres_test

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
)

// notOpened returns why a database cannot be opened: one line, which is not from a server.
func notOpened(t *testing.T, url string) *proviso.Error {
	t.Helper()
	d, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err == nil {
		d.Close()
		t.Fatalf("%s: opened", url)
	}
	var e *proviso.Error
	if !errors.As(err, &e) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%s: %v", url, err)
	}
	return e
}

// TestParameters: for a parameter that pgx would send to the server, or whose value pgx would
// refuse in its own words, the error says what is expected, before anything is sent.
func TestParameters(t *testing.T) {
	const secret = "s3cret"
	for query, says := range map[string]string{
		"ssl_mode=disable":                "there is no parameter ssl_mode; did you mean \"sslmode\"?",
		"SSLMODE=disable":                 "there is no parameter SSLMODE; did you mean \"sslmode\"?",
		"ssl-mode=require":                "there is no parameter ssl-mode; did you mean \"sslmode\"?",
		"slmode=s3cret":                   "there is no parameter slmode; did you mean \"sslmode\"?",
		"passwort=s3cret":                 "there is no parameter passwort; did you mean \"password\"?",
		"serch_path=x":                    "there is no parameter serch_path; did you mean \"search_path\"?",
		"ssl_mode=x&conect_timeout=1":     "did you mean \"sslmode\"?; there is no parameter conect_timeout",
		"sslmode=s3cret":                  "the parameter sslmode: expected disable, allow, prefer, require, verify-ca or verify-full",
		"sslmode=verifyfull":              "or verify-full; did you mean \"verify-full\"?",
		"sslmode=disable&sslmode=require": "the parameter sslmode is given twice",
		"sslmode=":                        "the parameter sslmode: expected",
		"sslmode":                         "expected sslmode=value",
		"sslmode=a=b":                     "the parameter sslmode: expected disable",
		"s3cret=value&s3cret=value":       "parameter 2 is given twice",
		"sslmode=disable&s3cret":          "parameter 2: expected name=value",
		"my.s3cret":                       "parameter 1: expected name=value",
		"ssl=on":                          "the parameter ssl: expected true",
		"connect_timeout=x":               "the parameter connect_timeout: expected a whole number of seconds from 0",
		"connect_timeout=-1":              "the parameter connect_timeout: expected",
		"connect_timeout=99999999999":     "the parameter connect_timeout: expected",
		"target_session_attrs=master":     "the parameter target_session_attrs: expected any, read-write,",
		"sslrootcert=/no/such/file":       "the parameter sslrootcert: expected system, or a file that can be read",
		"sslcert=/no/such/file&sslkey=/":  "the parameter sslcert: expected a file that can be read; the parameter sslkey: expected a file that can be read",
		"sslnegotiation=x":                "the parameter sslnegotiation: expected postgres or direct",
		"sslsni=7":                        "the parameter sslsni: expected 0 or 1",
		"sslcertmode=x":                   "the parameter sslcertmode: expected",
		"channel_binding=x":               "the parameter channel_binding: expected",
		"require_auth=x":                  "the parameter require_auth: expected methods",
		"require_auth=md5,!password":      "the parameter require_auth: expected methods",
		"min_protocol_version=9":          "the parameter min_protocol_version: expected 3.0, 3.2 or latest",
		"max_protocol_version=2":          "the parameter max_protocol_version: expected",
		"min_protocol_version=3.2&max_protocol_version=3.0": "min_protocol_version is later than max_protocol_version",
		"statement_cache_capacity=x":                        "the parameter statement_cache_capacity: expected a whole number from 1",
		"statement_cache_capacity=0":                        "the parameter statement_cache_capacity: expected",
		"description_cache_capacity=x":                      "the parameter description_cache_capacity: expected",
		"default_query_exec_mode=simple":                    "the parameter default_query_exec_mode: expected cache_statement,",
		"port=99999":                                        "the parameter port: expected a number from 1 to 65535",
		"port=s3cret":                                       "the parameter port: expected",
		"servicefile=/no/such/file&service=a":               "the parameter servicefile: expected a file that can be read",
		"hostaddr=127.0.0.1":                                "the parameter hostaddr of libpq is not supported; leave it out",
		"sslcrl=a":                                          "the parameter sslcrl of libpq is not supported",
		"replication=database":                              "the parameter replication of libpq is not supported",
		"%zz=1":                                             "a parameter is like name=value",
		"=1":                                                "a parameter is like name=value",
	} {
		for _, user := range []string{"", "u@", "u:" + secret + "@"} {
			e := notOpened(t, "postgres://"+user+"127.0.0.1:1/p?"+query)
			if e.Code != proviso.Invalid || !strings.Contains(e.Message, says) || strings.Contains(e.Message, secret) || strings.Contains(e.Message, "%!") {
				t.Errorf("%s: %s: %v\nexpected %s", query, e.Code, e, says)
			}
		}
	}
	for _, query := range []string{"sslmode=disable", "application_name=a%40b", "application_name=a@b", "user=a@b", "user=a@b&options=-cx=y", "options=-csearch_path=x", "options=-c%20a=b=c", "TimeZone=UTC", "search_path=a", "my.setting=1", "require_auth=!password,!md5", "connect_timeout=0", "sslmode=prefer&", "options=-c%20a%3Db", "role=a", "seed=1"} {
		if e := notOpened(t, "postgres://u@127.0.0.1:1/p?"+query); e.Code != proviso.Unavailable {
			t.Errorf("%s: %v", query, e)
		}
	}
	for server, says := range map[string]string{
		"user:pa?s3cret":           "parameter 1: expected name=value",
		"user:pa?s3cret=1&s3cret=": "parameter 2 is given twice",
		"user:pa?s3cret=1":         "the port is not a number",
		"u:12/a?s3cret=1@h/p":      "an @ in its password or behind its host is written as %40",
		"h/p?user=a@b&ssl_mode=x":  "there is no parameter ssl_mode; did you mean \"sslmode\"?",
	} {
		if e := notOpened(t, "postgres://"+server); e.Code != proviso.Invalid || !strings.Contains(e.Message, says) || strings.Contains(e.Message, secret) {
			t.Errorf("%s: %v\nexpected %s", server, e, says)
		}
	}
	for variable, says := range map[string]string{
		"PGSSLMODE":            "the variable PGSSLMODE: expected disable,",
		"PGCONNECT_TIMEOUT":    "the variable PGCONNECT_TIMEOUT: expected a whole number of seconds from 0",
		"PGTARGETSESSIONATTRS": "the variable PGTARGETSESSIONATTRS: expected any,",
		"PGSSLROOTCERT":        "the variable PGSSLROOTCERT: expected system,",
		"PGREQUIREAUTH":        "the variable PGREQUIREAUTH: expected methods",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, secret)
			if e := notOpened(t, "postgres://127.0.0.1:1/p"); !strings.Contains(e.Message, says) || strings.Contains(e.Message, secret) {
				t.Errorf("%v", e)
			}
		})
	}
}

// TestParametersOfServer: an error that only the server can detect is not reported as a TLS
// problem or an unreachable server. No setting that the server knows is taken for a typo.
func TestParametersOfServer(t *testing.T) {
	t.Parallel()
	s := postgrestest.StartFor(t)
	database, err := s.Create("p")
	if err != nil {
		t.Fatal(err)
	}
	socket, _, _ := strings.Cut(database, "&")
	_, folder, _ := strings.Cut(socket, "host=")
	folder = strings.ReplaceAll(folder, "%2F", "/")
	tcp := "postgres://app@" + forward(t, filepath.Join(folder, ".s.PGSQL.5432")) + "/p?"
	for query, says := range map[string]string{
		"foo=1":                         "it does not take a parameter of the URL, or of PGOPTIONS: unrecognized configuration parameter \"foo\"",
		"schema=public":                 "unrecognized configuration parameter \"schema\"",
		"statement_timeout=1x":          "invalid value for parameter \"statement_timeout\"",
		"options=nonsense":              "it does not take a parameter of the URL, or of PGOPTIONS: invalid command-line argument",
		"role=nobody":                   "role \"nobody\" does not exist",
		"options=-csearch_path=nowhere": "no schema of its search_path (nowhere) is there",
		"search_path=nowhere":           "no schema of its search_path (nowhere) is there; CREATE SCHEMA makes one",
		"target_session_attrs=standby&sslmode=disable": "no server of the URL is what its target_session_attrs asks for",
		"require_auth=md5":        "its authentication method is not one that require_auth allows",
		"channel_binding=require": "channel_binding=require needs TLS",
		"sslcertmode=require":     "sslcertmode=require needs TLS",
		"sslmode=require":         "it does not offer TLS, and sslmode=require requires it",
		"ssl=true":                "it does not offer TLS, and sslmode requires it",
	} {
		if e := notOpened(t, tcp+query); e.Code == proviso.Unavailable && !strings.Contains(query, "ssl") || !strings.Contains(e.Message, says) {
			t.Errorf("%s: %s: %v\nexpected %s", query, e.Code, e, says)
		}
	}
	c, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	rows, err := c.Query(t.Context(), "SELECT name FROM pg_settings WHERE context IN ('user', 'superuser', 'backend', 'superuser-backend')")
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) < 100 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		if err := postgres.ParseURL("postgres://127.0.0.1:1/p?" + name + "=1"); err != nil {
			t.Errorf("the setting %s: %v", name, err)
		}
	}
}

// forward forwards connections to a socket, and returns its address.
func forward(t *testing.T, socket string) string {
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
			back, err := net.Dial("unix", socket)
			if err != nil {
				c.Close()
				continue
			}
			go func() { _, _ = io.Copy(back, c); back.Close() }()
			go func() { _, _ = io.Copy(c, back); c.Close() }()
		}
	}()
	return l.Addr().String()
}

// FuzzURL: no message contains the password, whatever surrounds it.
func FuzzURL(f *testing.F) {
	const secret = "S3CRETWORD"
	for _, parts := range [][2]string{{"u:", "@h/p"}, {"u:x@", "/p?a=b"}, {"u:12/", "@h:1/p"}, {"u:%z", "@h"}, {"h/p?", "=x"}, {"h/p?sslmode=", ""}, {"h/p?password=", "&x=y"}, {"u:?", "=1@h/p"}, {"u:1", ""}, {"[", "]:x"}} {
		f.Add(parts[0], parts[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		text := "postgres://" + before + secret + after
		for _, reads := range []string{"file", "cert", "key", "service"} {
			if strings.Contains(text, reads) {
				t.Skip("it may read a file")
			}
		}
		if err := postgres.ParseURL(text); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

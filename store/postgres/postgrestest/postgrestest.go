// Package postgrestest starts a PostgreSQL server for tests, on a socket in its own folder. It
// uses nothing of the machine but the PostgreSQL programs. Start at [Database].
package postgrestest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Variable is the environment variable that enables the tests with PostgreSQL.
const Variable = "PROVISO_TEST_POSTGRES"

// stranger is a user who needs a password. Tests create it.
const stranger = "stranger"

// Server is a running server, which ends with the process.
type Server struct {
	folder   string // contains the socket and the data
	bin      string
	user     *user.User // user that runs the server, not root
	command  *exec.Cmd
	ended    chan struct{} // nil if it is not running
	made     atomic.Int64
	settings []string
}

var (
	started atomic.Bool
	shared  = sync.OnceValues(func() (*Server, error) {
		started.Store(true)
		s, err := Start()
		if err == nil {
			_, err = s.Create(sharedName)
		}
		return s, err
	})
)

// Database makes an empty schema on a server that all tests of the process share. It returns a
// URL with a role that uses only this schema, which takes a quarter of the time of a new
// database. It skips the test if there is no PostgreSQL on the machine.
func Database(t testing.TB) string {
	t.Helper()
	need(t)
	url, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// need skips a test unless the tests with PostgreSQL are enabled: they take minutes.
func need(t testing.TB) {
	t.Helper()
	if os.Getenv(Variable) == "" {
		t.Skip("a test with PostgreSQL: make test-postgres runs it")
	}
	if _, err := programs(); err != nil {
		t.Fatal(err)
	}
}

// StartFor starts a separate server for a test that stops it or needs settings, such as "-c",
// "fsync=on".
func StartFor(t testing.TB, settings ...string) *Server {
	t.Helper()
	need(t)
	s, err := Start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Remove)
	return s
}

// Main runs the tests of a package and then removes the shared server. Call it from TestMain.
func Main(m *testing.M) int {
	code := m.Run()
	if first.data != "" {
		_ = os.RemoveAll(first.data)
	}
	if started.Load() {
		if s, err := shared(); err == nil {
			s.Remove()
		}
	}
	return code
}

// New is [Database] outside of tests.
func New() (string, error) {
	s, err := shared()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("test%d", s.made.Add(1))
	return s.URL(sharedName) + "&search_path=" + name, s.Run("CREATE SCHEMA "+name+" AUTHORIZATION app", sharedName)
}

// sharedName is the database of [Database].
const sharedName = "shared"

// programs returns the folder of the PostgreSQL programs.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // where Debian has them
	if len(found) == 0 {
		return "", fmt.Errorf("no PostgreSQL on this machine: initdb is not in the PATH (on Debian: apt-get install postgresql)")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// Start starts a server. It runs until Stop, or until the process ends for any reason.
func Start(settings ...string) (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "pg") // short: the path of a socket has at most 107 bytes
	if err != nil {
		return nil, err
	}
	s := &Server{folder: folder, bin: bin, settings: settings}
	if os.Getuid() == 0 { // PostgreSQL refuses root
		if s.user, err = user.Lookup("postgres"); err != nil {
			if s.user, err = user.Lookup("nobody"); err != nil {
				return nil, err
			}
		}
		uid, _ := strconv.Atoi(s.user.Uid)
		gid, _ := strconv.Atoi(s.user.Gid)
		if err := os.Chown(folder, uid, gid); err != nil {
			return nil, err
		}
	}
	if err := s.initialize(); err != nil {
		return nil, err
	}
	if err := s.Restart(); err != nil {
		return nil, err
	}
	return s, s.Run("CREATE ROLE app LOGIN", "postgres")
}

// Create creates an empty database and returns its URL. Its role is not a superuser, which
// policies would not bind.
func (s *Server) Create(name string) (url string, err error) {
	return s.URL(name), s.Run("CREATE DATABASE "+name+" OWNER app", "postgres")
}

// first is the data of a server that was never started. Other servers copy it: that takes a
// tenth of the time of initdb.
var first struct {
	sync.Mutex
	data string
}

// initialize creates the data of the server.
func (s *Server) initialize() error {
	first.Lock()
	defer first.Unlock()
	if first.data != "" {
		copying := exec.Command("cp", "-a", first.data, s.data())
		copying.SysProcAttr = attributes(s.user)
		if copying.Run() == nil {
			return nil
		}
	}
	if err := s.Command("initdb", "-D", s.data(), "-U", "proviso", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C").Run(); err != nil {
		return fmt.Errorf("initdb: %w", err)
	}
	access := "local all " + stranger + " scram-sha-256\nlocal all all trust\nlocal replication all trust\n"
	if err := os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte(access), 0o600); err != nil { // the file exists, with its owner
		return err
	}
	copied := s.folder + "first"
	copying := exec.Command("cp", "-a", s.data(), copied)
	if copying.Run() == nil {
		first.data = copied
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

// Command returns a command for a PostgreSQL program, such as pg_dump, which runs as the
// server's user in its folder.
func (s *Server) Command(program string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, program), args...)
	c.Dir = s.folder
	c.SysProcAttr = attributes(s.user)
	return c
}

// Restart starts the server again after Stop or Kill, and waits until it answers. It retries
// while processes of a killed server still hold its memory.
func (s *Server) Restart() error {
	for wait := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if s.ended == nil {
			if err := s.start(); err != nil {
				return err
			}
		}
		err := s.Run("SELECT 1", "postgres")
		if err == nil || time.Now().After(wait) {
			return err
		}
		select {
		case <-s.ended:
			s.ended = nil
		default:
		}
	}
}

func (s *Server) start() error {
	c := s.Command("postgres", append([]string{"-D", s.data(), "-k", s.folder, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "max_connections=300", "-c", "shared_buffers=128MB", "-c", "log_min_messages=panic"}, s.settings...)...)
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // returns an error after a kill
		close(ended)
	}()
	s.command, s.ended = c, ended
	return nil
}

// Stop stops the server as a restart does: clients lose their connections.
func (s *Server) Stop() error { return s.end(os.Interrupt) } // a fast shutdown

// Kill kills the server, like a crash.
func (s *Server) Kill() error { return s.end(os.Kill) }

func (s *Server) end(signal os.Signal) error {
	if s.ended == nil {
		return nil
	}
	if err := s.command.Process.Signal(signal); err != nil {
		return err
	}
	<-s.ended
	s.ended = nil
	if signal == os.Kill {
		_ = os.Remove(filepath.Join(s.data(), "postmaster.pid"))
	}
	return nil
}

// Standby makes the stopped server a replica: it is read-only, and waits for ever for a
// primary.
func (s *Server) Standby() error {
	return os.WriteFile(filepath.Join(s.data(), "standby.signal"), nil, 0o644)
}

// Recover makes the stopped server start from a base backup, which is a folder in its own, and
// replay the archived WAL according to further settings.
func (s *Server) Recover(backup string, settings ...string) error {
	if err := os.RemoveAll(s.data()); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(s.folder, backup), s.data()); err != nil {
		return err
	}
	s.settings = append(s.settings, settings...)
	return os.WriteFile(filepath.Join(s.data(), "recovery.signal"), nil, 0o644)
}

// Remove stops the server and removes its data.
func (s *Server) Remove() {
	_ = s.Stop()
	_ = os.RemoveAll(s.folder)
}

// URL returns the URL of a database of the server.
func (s *Server) URL(database string) string {
	return s.as("app", database)
}

func (s *Server) as(role, database string) string {
	return "postgres://" + role + "@/" + database + "?host=" + url.QueryEscape(s.folder)
}

// Run executes SQL as a superuser.
func (s *Server) Run(sql, database string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, s.as("proviso", database))
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.Exec(ctx, sql)
	return err
}

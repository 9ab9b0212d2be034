package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/internal/transport"
)

// keyVariable holds the API key for servers of proviso, and serverVariable the address of one.
const (
	keyVariable    = client.KeyVariable
	serverVariable = "PROVISO_SERVER"
)

// client asks servers of proviso, with the key of the environment.
func (a *app) client() *client.Client { return client.New(a.env, a.warn) }

// serverFlags name a server, and a project on it.
type serverFlags struct{ server, project string }

func (f *serverFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.server, "server", "", "`URL` of the server (default $"+serverVariable+")")
	fs.StringVar(&f.project, "project", "", "use this `PROJECT`; needs a key with the scope admin (default that of the key)")
}

// address returns an address in the API of the server.
func (f *serverFlags) address(a *app, path ...string) (*url.URL, error) {
	text := f.server
	if text == "" {
		text, _ = a.env.Lookup(serverVariable)
	}
	if text == "" {
		return nil, usageError{errors.New("the server is missing"), "--server or " + serverVariable + " is its URL, such as https://eval.example.com"}
	}
	u, err := client.Address(text, f.project)
	if err != nil {
		return nil, err
	}
	return u.JoinPath(path...), nil
}

// fetchRun copies a run of a server into a temporary file and opens it.
func (a *app) fetchRun(ctx context.Context, name string) (*namedRun, error) {
	u, err := client.RunAddress(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, client.Timeout)
	defer cancel()
	resp, err := a.client().Do(ctx, http.MethodGet, u.JoinPath("file"), nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	r := &namedRun{address: transport.URL(client.RunPage(u))}
	if r.fetched, err = os.MkdirTemp("", "proviso-fetched-"); err != nil {
		return nil, err
	}
	path := filepath.Join(r.fetched, "run.jsonl")
	if err = copyTo(path, resp.Body); err == nil {
		r.Reader, err = runfile.Open(path)
	}
	if err == nil {
		if _, cut := r.Damage(); cut || r.Trailer() == nil {
			err = errors.Join(proviso.Errorf(proviso.Unavailable, "the run arrived incomplete"), r.Reader.Close())
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", r.address, err), os.RemoveAll(r.fetched))
	}
	return r, nil
}

func copyTo(path string, from io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

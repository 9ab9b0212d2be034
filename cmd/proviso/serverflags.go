package main

import (
	"errors"
	"net/url"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso/client"
)

// client returns a client for proviso servers, with the key of the environment.
func (a *app) client() *client.Client { return client.New(a.env, a.warn) }

// serverFlags name a server and a project on it.
type serverFlags struct{ server, project string }

func (f *serverFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.server, "server", "", "`URL` of the server (default $"+serverVariable+")")
	fs.StringVar(&f.project, "project", "", "use this `PROJECT`; needs a key with the scope admin (default that of the key)")
}

// address returns a URL in the server's API.
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

package main

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/hub"
)

// The environment variables of LangSmith, the newer name first.
var (
	hubKeys    = [...]string{"LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"}
	hubServers = [...]string{"LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"}
)

// hubVersions reads the commits of a prompt from LangSmith's hub. Only its host is asked.
func (a *app) hubVersions(ctx context.Context, prompt string) ([]delta.Version, error) {
	owner, name, err := hub.Name(prompt)
	if err != nil {
		return nil, err
	}
	first := func(names [2]string) (value, variable string) {
		for _, n := range names {
			if v, ok := a.env.Lookup(n); ok && v != "" {
				return v, n
			}
		}
		return "", names[0]
	}
	key, keyOf := first(hubKeys)
	server, serverOf := first(hubServers)
	server = cmp.Or(server, hub.Server)
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && client.ThisMachine(u.Hostname())) {
		return nil, proviso.Errorf(proviso.Invalid, "%s is %q; an https:// address is expected", serverOf, proviso.RedactedURL(server))
	}
	host := strings.ToLower(u.Hostname())
	network := transport.New(transport.Options{Env: a.env, Hosts: func(asked string) bool { return asked == host }})
	defer network.CloseIdleConnections()
	data, err := hub.Read(ctx, hub.Options{Client: network.Client(), Server: server, Key: key, KeyOf: keyOf}, owner, name)
	if err != nil {
		return nil, a.orStopped(ctx, err)
	}
	list, notes, mistakes := delta.ReadPart("hub "+owner+"/"+name+".json", "", data)
	return a.noted(list, notes, mistakes.Err())
}

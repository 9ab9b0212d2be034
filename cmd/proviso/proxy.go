package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso/proxy"
)

// proxyCommand holds the flags of proxy.
type proxyCommand struct {
	config  string
	addr    string
	tls     tlsFlags
	silence time.Duration
	serving proxy.Serving
}

func newProxy(a *app) *cobra.Command {
	f := &proxyCommand{}
	cmd := &cobra.Command{
		Use:   "proxy",
		Short: "Pass requests to model vendors unchanged, and record them as events for a server",
		Long: "proxy sits between an agent and the APIs of OpenAI and Anthropic, or others with the same API.\n" +
			"Give the agent its address as base URL: http://127.0.0.1:8090/openai/v1 or\n" +
			"http://127.0.0.1:8090/anthropic. Requests and replies pass unchanged, streams part by part. A copy of\n" +
			"each goes as an event to `proviso serve`; if that is slow or down, traffic does not notice.\n\n" +
			"Keys of vendors are forwarded and never kept. The log on standard output has one line of JSON for\n" +
			"each request, without contents.\n\n" +
			"Exit codes: 0 stopped by a signal, and everything was finished and sent, 2 a mistake in the command\n" +
			"line or in the configuration, 3 it could not start, or not stop in time, or events were dropped at\n" +
			"the end.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.proxy(cmd.Context(), f) },
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *proxyCommand) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.config, "config", "proxy.yaml", "`FILE` with upstreams, and what is recorded of them")
	fs.StringVar(&f.addr, "addr", "127.0.0.1:8090", "listen on `ADDRESS`:PORT")
	f.tls.register(fs)
	timeVar(fs, &f.silence, "silence", proxy.DefaultSilence, "give up an upstream that sends nothing for `TIME`")
	timeVar(fs, &f.serving.Stop, "stop-timeout", 30*time.Second, "`TIME` for open requests to finish when the proxy stops")
	timeVar(fs, &f.serving.Flush, "flush-timeout", 10*time.Second, "`TIME` to send what is recorded after that")
	timeVar(fs, &f.serving.Drain, "drain", 0, "when stopped, keep serving for `TIME` while /readyz fails, so that a load balancer notices")
}

// check finds mistakes in the flags that cobra does not detect.
func (f *proxyCommand) check() error {
	const see = "see `proviso proxy --help`"
	return cmp.Or(checkAddr("--addr", f.addr, see), f.tls.check(see))
}

// proxy reads the configuration and passes requests until it is stopped.
func (a *app) proxy(ctx context.Context, f *proxyCommand) error {
	if err := f.check(); err != nil {
		return err
	}
	config, err := a.proxyConfig(f.config)
	if err != nil {
		return err
	}
	if f.serving.TLS, err = f.tls.config(); err != nil {
		return err
	}
	p, err := proxy.New(proxy.Options{Config: config, Env: a.env, Log: slog.New(slog.NewJSONHandler(a.out, nil)), Silence: f.silence})
	if err != nil {
		return err
	}
	l, err := listen(ctx, f.addr, "choose another address or port with --addr")
	if err != nil {
		return err
	}
	f.serving.Ready = func() { a.announceProxy(f, l.Addr(), config) }
	return p.Serve(ctx, l, f.serving)
}

// maxConfig bounds the file of --config, in bytes.
const maxConfig = 1 << 20

func (a *app) proxyConfig(file string) (*proxy.Config, error) {
	data, err := a.readBounded(file, "the configuration of a proxy, as in docs/proxy.md", maxConfig)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	config, wrong := proxy.ReadConfig(file, data, a.env)
	if err := a.mistakesSo(wrong, "nothing was started"); err != nil {
		return nil, err
	}
	return config, nil
}

// announceProxy prints the address of the proxy and what it does.
func (a *app) announceProxy(f *proxyCommand, at net.Addr, c *proxy.Config) {
	f.tls.announce(a, "passing requests", at)
	for _, name := range slices.Sorted(maps.Keys(c.Upstreams)) {
		fmt.Fprintf(a.err, "  /%s → %s\n", name, c.Upstreams[name])
	}
	if c.Record == nil {
		a.warn("nothing is recorded: the configuration has no record")
	}
	f.tls.warnPlain(a, f.addr)
}

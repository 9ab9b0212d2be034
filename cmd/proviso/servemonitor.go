package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/notify"
	"github.com/proviso-eval/proviso/otlp"
)

// serveMonitor holds the flags of serve about watches.
type serveMonitor struct {
	notify   string
	verdicts string
}

func (f *serveCommand) registerMonitor(fs *pflag.FlagSet) {
	o := &f.server
	fs.StringVar(&f.monitor.notify, "notify", "", "`FILE` with whom watches can tell of alarms: webhooks, Slack, issues on GitHub; see docs/monitor.md")
	fs.StringVar(&o.PublicURL, "public-url", "", "`URL` of the app for people, such as https://eval.example.com, for links in messages")
	fs.StringVar(&f.monitor.verdicts, "otlp-verdicts", "", "send the verdicts of watches on to this OTLP `ENDPOINT`, as events gen_ai.evaluation.result")
	countVar(fs, &o.WatchWorkers, "watch-workers", "", 8, 1, "let watches evaluate `N` events at a time")
}

// watching opens what watches need beside the judge.
func (a *app) watching(end *closers, f *serveCommand, env proviso.Env) error {
	if u := f.server.PublicURL; u != "" {
		parsed, err := url.Parse(u)
		if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" || parsed.RawQuery != "" || parsed.Fragment != "" {
			return badValue("--public-url", "a URL such as https://eval.example.com", u, "it has no query")
		}
		f.server.PublicURL = strings.TrimSuffix(u, "/")
	}
	if f.monitor.notify != "" {
		if err := a.notifying(f, env); err != nil {
			return err
		}
	}
	if f.monitor.verdicts == "" {
		return nil
	}
	host, err := url.Parse(f.monitor.verdicts)
	if err != nil {
		return badValue("--otlp-verdicts", "a URL such as http://localhost:4318", f.monitor.verdicts, "see docs/monitor.md")
	}
	network := transport.New(transport.Options{Env: env, Hosts: func(name string) bool { return name == strings.ToLower(host.Hostname()) }})
	exporter, err := otlp.NewExporter(otlp.LogsPath, otlp.ExporterOptions{Endpoint: f.monitor.verdicts, Client: network.Client()})
	if err != nil {
		return usageError{fmt.Errorf("--otlp-verdicts: %w", err), "it is a URL such as http://localhost:4318"}
	}
	f.server.Verdicts = otlp.NewResults(exporter, otlp.Origin{Version: versionName()})
	end.add(func() {
		if items, lost, err := exporter.Close(); lost > 0 {
			a.warn(fmt.Sprintf("%d of %d verdicts were not sent to --otlp-verdicts: %v", lost, items, err))
		}
	})
	return nil
}

// notifying opens the targets of alarms.
func (a *app) notifying(f *serveCommand, env proviso.Env) error {
	data, err := os.ReadFile(f.monitor.notify)
	if err != nil {
		return usageError{fmt.Errorf("--notify: %w", err), "docs/monitor.md has an example"}
	}
	targets, err := notify.Read(f.monitor.notify, data)
	if err != nil {
		return err
	}
	network := transport.New(transport.Options{Env: env, Hosts: targets.Allows})
	n, err := notify.Open(targets, notify.Options{Env: env, Network: network})
	if err != nil {
		return fmt.Errorf("--notify %s: %w", f.monitor.notify, err)
	}
	f.server.Notifier = n
	return nil
}

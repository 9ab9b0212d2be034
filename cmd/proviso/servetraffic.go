package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/document"
)

// serveTraffic holds the flags of serve about events of production.
type serveTraffic struct {
	redact string
	keyEnv string
}

func (f *serveCommand) registerTraffic(fs *pflag.FlagSet) {
	o := &f.server
	fs.StringVar(&f.traffic.redact, "redact-events", "", "`FILE` with a list of rules, as YAML or JSON: what they name is removed from events before anything is stored")
	f.registerContentKey(fs)
	shareVar(fs, &o.TrafficShare, "traffic-share", 1, "keep the texts of this `SHARE` of the conversations of agents without a watch")
	timeVar(fs, &o.KeepTraffic.Contents, "keep-texts", 7*24*time.Hour, "remove the texts of events after `TIME`")
	timeVar(fs, &o.KeepTraffic.Failures, "keep-failures", 30*24*time.Hour, "remove the texts of events with a failing verdict, or without an answer, after `TIME`")
	timeVar(fs, &o.KeepTraffic.Verdicts, "keep-verdicts", 90*24*time.Hour, "remove events, thumbs and the verdicts of watches after `TIME`")
	timeVar(fs, &o.KeepTraffic.Rollups, "keep-rollups", 395*24*time.Hour, "remove what events and verdicts add up to by hour, and closed alarms, after `TIME`")
}

func (f *serveCommand) registerContentKey(fs *pflag.FlagSet) {
	fs.StringVar(&f.traffic.keyEnv, "content-key-env", "", "seal the texts of events with the key in the variable `NAME`: 32 characters or more, for good")
}

// contentKey returns the key of contents, nil if there is none.
func (f *serveCommand) contentKey(env proviso.Env) ([]byte, error) {
	if f.traffic.keyEnv == "" {
		return nil, nil
	}
	key, _ := env.Lookup(f.traffic.keyEnv)
	if key == "" {
		return nil, usageError{fmt.Errorf("--content-key-env: the variable %s is not set", f.traffic.keyEnv), "`openssl rand -hex 32` makes a key"}
	}
	return []byte(key), nil
}

// redacting opens the rules of redaction.
func (f *serveCommand) redacting(a *app, env proviso.Env) error {
	file := f.traffic.redact
	if file == "" {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return usageError{fmt.Errorf("--redact-events: %w", err), `it has a list such as [{pattern: '\d{16}'}, {field: user, hash_env: SALT}]`}
	}
	doc, err := document.Parse(file, data)
	if err != nil {
		return err
	}
	rules, mistakes := ingest.ReadRules(doc.Root, "")
	if len(mistakes) > 0 {
		var all proviso.Mistakes
		for _, m := range mistakes {
			all = append(all, proviso.Mistake{Place: doc.Place(m.Pointer), Code: m.Code, Message: m.Message})
		}
		return a.mistakes(all)
	}
	f.server.Redactor, err = ingest.NewRedactor(rules, env)
	return err
}

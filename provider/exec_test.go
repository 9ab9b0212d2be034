//go:build unix

package provider_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// command opens an exec: provider that runs a shell script in its folder.
func command(t *testing.T, script string, o provider.Options, cfg *value.Object) proviso.Provider {
	t.Helper()
	o.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(o.Dir, "x.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if o.Env == nil {
		o.Env = proviso.EnvMap{"PATH": "/usr/bin:/bin", "GIVEN": "yes"}
	}
	p, err := provider.Open(proviso.ProviderSpec{ID: `exec: sh x.sh "an argument"`, Config: cfg}, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestExec(t *testing.T) {
	t.Setenv("NOT_GIVEN", "leaked")
	p := command(t, `printf '  %s|%s|%s|%s|%s%s\n\n' "$1" "$2" "$3" "$4" "$GIVEN" "$NOT_GIVEN"`, provider.Options{}, value.ObjectOf("k", 1.0))
	out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "say \"hi\" $HOME `x`", Label: "L", Vars: value.ObjectOf("q", "'"), Config: value.ObjectOf("t", 0.0)})
	want := "an argument|say \"hi\" $HOME `x`|" + `{"id":"exec: sh x.sh \"an argument\"","config":{"k":1,"t":0}}|` +
		`{"vars":{"q":"'"},"prompt":{"raw":"say \"hi\" $HOME ` + "`x`" + `","label":"L"}}|yes`
	if err != nil || out.Value != want || out.Latency == nil || *out.Latency <= 0 {
		t.Errorf("got  %v, %v\nwant %s", out.Value, err, want)
	}
}

// TestExecIsTraced checks which trace variables a command gets.
func TestExecIsTraced(t *testing.T) {
	t.Parallel()
	p := command(t, `printf '%s|%s|%s|%s' "$4" "$TRACEPARENT" "$OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" "$OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"`, provider.Options{}, nil)
	for _, tc := range []struct {
		trace *proviso.TraceContext
		want  string
	}{
		{nil, `{"vars":{},"prompt":{"raw":"q","label":""}}|||`},
		{&proviso.TraceContext{Parent: "00-1-2-01", Endpoint: "http://e/v1/traces"}, `{"vars":{},"prompt":{"raw":"q","label":""},"traceparent":"00-1-2-01"}|00-1-2-01|http://e/v1/traces|http/protobuf`},
		{&proviso.TraceContext{Parent: "00-1-2-01"}, `{"vars":{},"prompt":{"raw":"q","label":""},"traceparent":"00-1-2-01"}|00-1-2-01||`},
	} {
		out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "q", Trace: tc.trace})
		if err != nil || out.Value != tc.want {
			t.Errorf("got  %v, %v\nwant %s", out.Value, err, tc.want)
		}
	}
}

func TestExecFailures(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		script, code, text string
		timeout            float64
	}{
		{"echo partial; echo bad thing >&2; exit 3", proviso.Unavailable, "exit status 3: bad thing", 20000},
		{"echo only this >&2", proviso.Unavailable, "only this", 20000},
		{"exit 1", proviso.Unavailable, "exit status 1", 20000},
		{"sleep 60 & sleep 60", proviso.Timeout, "no answer within", 500},
		{"yes", proviso.Limit, "printed more", 20000},
	} {
		start := time.Now()
		_, err := command(t, tc.script, provider.Options{}, value.ObjectOf("timeout", tc.timeout)).Answer(t.Context(), proviso.Ask{})
		if codeOf(err) != tc.code || !strings.Contains(err.Error(), tc.text) || time.Since(start) > 20*time.Second {
			t.Errorf("%s gives %v after %v", tc.script, err, time.Since(start))
		}
	}
	out, err := command(t, "echo a warning >&2; echo ok", provider.Options{}, nil).Answer(t.Context(), proviso.Ask{})
	if err != nil || out.Value != "ok" {
		t.Errorf("a warning gives %v, %v", out.Value, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := command(t, "sleep 60", provider.Options{}, nil).Answer(ctx, proviso.Ask{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a row that ends gives %v", err)
	}
	p, err := provider.Open(proviso.ProviderSpec{ID: "exec: no-such-program"}, provider.Options{Env: proviso.EnvMap{"PATH": "/usr/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Answer(t.Context(), proviso.Ask{}); codeOf(err) != proviso.Unavailable || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("a missing program gives %v", err)
	}
	if _, err := provider.Open(proviso.ProviderSpec{ID: "exec: sh"}, provider.Options{Untrusted: true}); codeOf(err) != proviso.Refused {
		t.Errorf("an untrusted command gives %v", err)
	}
}

// TestExecKillsTheGroup checks that the child processes of a command are killed with it: they hold
// a pipe, which ends with the last of them.
func TestExecKillsTheGroup(t *testing.T) {
	t.Parallel()
	held := filepath.Join(t.TempDir(), "held")
	if err := syscall.Mkfifo(held, 0o600); err != nil {
		t.Fatal(err)
	}
	p := command(t, "exec 3>'"+held+"'; (echo begun >&3; sleep 60) & sleep 60", provider.Options{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { _, err := p.Answer(ctx, proviso.Ask{}); failed <- err }()
	pipe, err := os.Open(held)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if _, err := io.ReadFull(pipe, make([]byte, len("begun\n"))); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	_ = pipe.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := pipe.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a process that the command started lives on: %v", err)
	}
}

func TestExecOnCassette(t *testing.T) {
	t.Parallel()
	store := blobs.Open(t.TempDir())
	o := provider.Options{Cassette: transport.Record(store, transport.CassetteOptions{})}
	ask := proviso.Ask{Prompt: "p", Vars: value.ObjectOf("a", 1.0, "b", 2.0)}
	first, err := command(t, `echo "$$ $2"`, o, nil).Answer(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	o.Cassette = transport.Replay(store, transport.CassetteOptions{})
	replay := command(t, "echo not this", o, nil)
	ask.Vars = value.ObjectOf("b", 2.0, "a", 1.0)
	again, err := replay.Answer(t.Context(), ask)
	if err != nil || again.Value != first.Value || *again.Latency != *first.Latency {
		t.Errorf("recorded %+v, replayed %+v, %v", first, again, err)
	}
	ask.Sample.Vote = 1
	if _, err := replay.Answer(t.Context(), ask); codeOf(err) != proviso.NotFound || !strings.Contains(err.Error(), `prompt "p"`) {
		t.Errorf("another sample gives %v", err)
	}
	for info, err := range store.Walk() {
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(store.Path(info.Key), info.Size/2); err != nil {
			t.Fatal(err)
		}
		ask.Sample.Vote = 0
		if _, got := replay.Answer(t.Context(), ask); codeOf(got) != proviso.Invalid || !strings.Contains(got.Error(), store.Path(info.Key)) {
			t.Errorf("a truncated file gives %v", got)
		}
	}
}

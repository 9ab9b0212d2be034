package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/programtest"
)

// TestPlayground follows docs/playground.md: it starts the example, asks the stand-in as
// the page does, and judges its answer by the stored set.
func TestPlayground(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" { // the test stops it with a signal
		t.Skip("takes time")
	}
	manual, err := os.ReadFile("../../docs/playground.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"make build\n", "go run ./examples/playground\n"} {
		if !strings.Contains(string(manual), command) {
			t.Errorf("docs/playground.md lacks the command %q", command)
		}
	}
	program, err := programtest.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, program, "127.0.0.1:0", 0, write)
		_ = write.Close()
	}()
	defer func() {
		stop()
		<-ended
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(<-ended)
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	page, err := url.Parse(strings.TrimSpace(strings.TrimPrefix(line, "Open ")))
	if err != nil || page.Path != "/playground" {
		t.Fatalf("%q: %v", line, err)
	}
	base := "http://" + page.Host
	answer := ask[struct{ Output string }](t, base+"/v1/answers", `{"provider": "openai:chat:example", "prompt": "Say that returns are free of charge. Say that a return takes five days."}`)
	if want := "Thank you for your question. Returns are free of charge. A return takes five days."; answer.Output != want {
		t.Errorf("the answer is %q, want %q", answer.Output, want)
	}
	body, _ := json.Marshal(map[string]string{"agent_input": "My lamp arrived broken.", "agent_output": answer.Output})
	got := ask[struct {
		Results []struct{ ID, Status string }
	}](t, base+"/v1/assertion-sets/returns/evaluate", string(body))
	var said []string
	for _, r := range got.Results {
		said = append(said, r.ID+" "+r.Status)
	}
	if want := "free_returns pass, days pass, no_blame pass, receipt fail, short pass"; strings.Join(said, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(said, ", "), want)
	}
}

func ask[T any](t *testing.T, address, body string) (out T) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", address, resp.StatusCode, data, err)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDecide checks the stand-in's decisions on criteria.
func TestDecide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		criterion, output string
		met               bool
		quote             string
	}{
		{`The output names "five days"`, "It takes Five days.", true, "Five days"},
		{`The output names "five days"`, "It takes long.", false, ""},
		{`The output does not say "your fault"`, "It is your fault.", false, "your fault"},
		{`The output never says "sorry"`, "Fine.", true, ""},
		{"The output has at most 3 words", "one two three", true, ""},
		{"The output has at most 3 words", "one two three four", false, ""},
		{"The answer mentions refunds", "We give refunds.", true, "refunds"},
		{"The answer is", "", false, ""},
	} {
		met, why, quote := decide(c.criterion, c.output)
		if met != c.met || quote != c.quote || why == "" {
			t.Errorf("%s of %q: %v %q %q, want %v %q", c.criterion, c.output, met, quote, why, c.met, c.quote)
		}
	}
}

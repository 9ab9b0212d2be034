package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

var passingAt = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`passing requests on (https?://\S+);`) })

// startProxy starts a proxy with a configuration, as a separate process.
func startProxy(t *testing.T, dir, config string, args ...string) *serveProcess {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals")
	}
	file := filepath.Join(dir, "proxy.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &serveProcess{t: t, dir: dir, out: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	p.cmd = provisoCommand(t, dir, "", append([]string{"proxy", "--config", file, "--addr", "127.0.0.1:0"}, args...)...)
	p.cmd.Env = append(p.cmd.Env, "SALT=of-the-test")
	p.cmd.Stdout = p.out
	errs, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	found := make(chan string, 1)
	p.read.Go(func() {
		lines := bufio.NewScanner(errs)
		for lines.Scan() {
			p.stderr.WriteString(lines.Text() + "\n")
			if m := passingAt().FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
		}
		close(found)
	})
	var ok bool
	if p.url, ok = <-found; !ok {
		t.Fatalf("the proxy did not start: %v\n%s", p.cmd.Wait(), p.stderr)
	}
	return p
}

// TestProxyToServer follows docs/proxy.md: requests through the proxy become events on the server,
// and their prompts a history that spade reads. The server is killed and restarted in the middle:
// every event is there once.
func TestProxyToServer(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{Streams: true})
	defer model.Close()
	dir := t.TempDir()
	server := startServe(t, dir, model.URL, "--traffic-share", "1")
	address := strings.TrimPrefix(server.url, "http://")
	p := startProxy(t, dir, fmt.Sprintf("upstreams: {openai: %s, anthropic: %s}\nrecord: {to: %s}\nidentify: {agent: header:X-Proviso-Agent, conversation: header:X-Proviso-Conversation}\n"+
		"versions: system-prompt\nredact: [{pattern: '\\d{16}'}, {field: user, hash_env: SALT}]\n", model.URL, model.URL, server.url))
	const n = 60
	defer func() {
		if t.Failed() {
			_ = p.cmd.Process.Kill()
			p.read.Wait()
			_ = p.cmd.Wait()
			t.Logf("%s\n%s", p.stderr, p.out)
		}
	}()
	for i := range n {
		switch i {
		case 20:
			server.end(syscall.SIGKILL)
		case 40:
			server = startServe(t, dir, model.URL, "--traffic-share", "1", "--addr", address)
		}
		prompt := "Be kind."
		if i >= 30 {
			prompt = `Be kind.\nAnswer in German.`
		}
		body := fmt.Sprintf(`{"model":"gpt-4.1","stream":true,"user":"evelyn","messages":[{"role":"system","content":"%s"},{"role":"user","content":"My card is 4929123412341234, number %d"}]}`, prompt, i)
		status, answer := p.ask("POST", "/openai/v1/chat/completions", body, "X-Proviso-Agent: support", fmt.Sprintf("X-Proviso-Conversation: c%d", i))
		if status != http.StatusOK || !strings.Contains(answer, "[DONE]") {
			t.Fatal(status, answer)
		}
	}
	if code := p.end(syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d\n%s\n%s", code, p.stderr, p.out)
	}
	if log := p.out.String(); !strings.Contains(log, `"msg":"stopped"`) || strings.Contains(log, "4929123412341234") || strings.Contains(log, "evelyn") {
		t.Error(log)
	}
	_, list := server.ask("GET", "/v1/agents", "")
	if !strings.Contains(list, fmt.Sprintf(`"events":%d`, n)) {
		t.Error(list)
	}
	_, events := server.ask("GET", "/v1/events?agent=support&texts=full&limit=5", "")
	if strings.Contains(events, "4929") || strings.Contains(events, "evelyn") || !strings.Contains(events, "My card is [redacted]") {
		t.Error(events)
	}
	status, history := server.ask("GET", "/v1/agents/support/history", "")
	if status != http.StatusOK {
		t.Fatal(history)
	}
	if err := os.WriteFile(filepath.Join(dir, "support.json"), []byte(history), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := provisoCommand(t, dir, "", "spade", "deltas", "support.json").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Answer in German.") || !strings.Contains(string(out), "Version 2") {
		t.Errorf("%v\n%s", err, out)
	}
	if code := server.end(syscall.SIGTERM); code != exitOK {
		t.Error(code, server.stderr)
	}
}

// TestProxyQuiet: unsolicited bytes of an upstream are not written anywhere.
func TestProxyQuiet(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	answered, closed := make(chan struct{}), make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			closed <- err
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		if _, err := http.ReadRequest(in); err != nil {
			closed <- err
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		<-answered
		_, _ = io.WriteString(conn, "HTTP/1.1 200 secret-of-the-upstream\r\n\r\n")
		_, err = in.ReadByte()
		closed <- err
	}()
	p := startProxy(t, t.TempDir(), "upstreams: {openai: http://"+l.Addr().String()+"}\n")
	if status, body := p.ask("GET", "/openai/v1/models", ""); status != http.StatusOK || body != "{}" {
		t.Fatal(status, body)
	}
	time.Sleep(20 * time.Millisecond) // the connection is idle
	close(answered)
	if err := <-closed; err == nil {
		t.Error("the connection is still used")
	}
	if code := p.end(syscall.SIGTERM); code != exitOK || strings.Contains(p.stderr.String()+p.out.String(), "secret-of-the-upstream") {
		t.Errorf("exit code %d\n%s\n%s", code, p.stderr, p.out)
	}
}

// TestProxyStops: on a signal, an open stream finishes. Events that no server accepts are reported,
// with exit code 3.
func TestProxyStops(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{Streams: true, Reply: func(fakemodel.Request) fakemodel.Reply {
		return fakemodel.Reply{Text: "one two three four five six", Drip: 100 * time.Millisecond}
	}})
	defer model.Close()
	p := startProxy(t, t.TempDir(), "upstreams: {openai: "+model.URL+"}\nrecord: {to: http://127.0.0.1:9}\n", "--flush-timeout", "200ms")
	resp, err := http.Post(p.url+"/openai/v1/chat/completions", "application/json", strings.NewReader(`{"stream":true,"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	code := make(chan int)
	go func() { code <- p.end(syscall.SIGTERM) }()
	data, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(data), "[DONE]") {
		t.Errorf("%v after %s", err, data)
	}
	if got := <-code; got != exitUndecided || !strings.Contains(p.stderr.String(), "dropped 1 of the events: ") {
		t.Errorf("exit code %d\n%s", got, p.stderr)
	}
}

package report_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium with one page open, controlled over a pipe with the
// Chrome DevTools Protocol. Its calls are sequential.
type browser struct {
	t       testing.TB
	in      *os.File
	out     *bufio.Reader
	session string
	next    int
	events  []event
}

type event struct {
	Method string
	Params json.RawMessage
}

// openBrowser skips the test unless the environment requests browser tests, as `make
// browser` does. Chromium must then be installed.
func openBrowser(t testing.TB) *browser {
	t.Helper()
	if os.Getenv("PROVISO_TEST_BROWSER") == "" {
		t.Skip("`make browser` tries the page in a browser")
	}
	path := os.Getenv("CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Fatal("no Chromium is installed: .ci/browser install installs it")
	}
	var target struct{ TargetID string }
	b, raw, err := startBrowser(t, path)
	for tries := 1; err != nil && tries < 3; tries++ { // on a busy machine it may exit at once
		b, raw, err = startBrowser(t, path)
	}
	if err == nil {
		err = json.Unmarshal(raw, &target)
	}
	if err != nil {
		t.Fatal("Chromium does not start: ", err)
	}
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// startBrowser starts Chromium and opens a page. The reply names the page. The error
// includes Chromium's output.
func startBrowser(t testing.TB, path string) (*browser, json.RawMessage, error) {
	t.Helper()
	commandsR, commandsW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	repliesR, repliesW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--user-data-dir="+t.TempDir(), "--no-first-run", "--disable-background-networking", "--hide-scrollbars", "about:blank")
	cmd.ExtraFiles = []*os.File{commandsR, repliesW}
	cmd.Stderr, cmd.WaitDelay = &printed, 5*time.Second
	if err := cmd.Start(); err != nil {
		t.Skip("Chromium does not start: ", err)
	}
	b := &browser{t: t, in: commandsW, out: bufio.NewReader(repliesR)}
	timer := time.AfterFunc(90*time.Second, func() { _ = cmd.Process.Kill() })
	end := sync.OnceFunc(func() {
		timer.Stop()
		_, _ = b.try("Browser.close", nil)
		_ = cmd.Wait()
		for _, f := range []*os.File{commandsR, commandsW, repliesR, repliesW} {
			_ = f.Close()
		}
	})
	t.Cleanup(end)
	_ = repliesW.Close()  // the pipe then ends when the browser exits
	_ = commandsR.Close() // writes then fail once the browser has exited
	raw, err := b.try("Target.createTarget", map[string]any{"url": "about:blank"})
	if err != nil {
		end()
		return nil, nil, fmt.Errorf("%w: %s", err, printed.String())
	}
	return b, raw, nil
}

// try sends a command and waits for its reply; events in between are kept.
func (b *browser) try(method string, params any) (json.RawMessage, error) {
	b.next++
	m := map[string]any{"id": b.next, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" && method != "Browser.close" {
		m["sessionId"] = b.session
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		return nil, err
	}
	for {
		id, result, err := b.read()
		if err != nil || id == b.next {
			return result, err
		}
	}
}

func (b *browser) read() (int, json.RawMessage, error) {
	text, err := b.out.ReadBytes(0)
	if err != nil {
		return 0, nil, err
	}
	var m struct {
		ID     int
		Result json.RawMessage
		Error  *struct{ Message string }
		event
	}
	if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
		return 0, nil, err
	}
	if m.Error != nil {
		return m.ID, nil, errors.New(m.Error.Message)
	}
	if m.ID == 0 {
		b.events = append(b.events, m.event)
	}
	return m.ID, m.Result, nil
}

func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	raw, err := b.try(method, params)
	if err == nil && result != nil {
		err = json.Unmarshal(raw, result)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

// open shows a page in a temporary file, and waits until it is loaded.
func (b *browser) open(content string) {
	b.t.Helper()
	name := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": "file://" + name}, nil)
	for {
		for _, e := range b.events {
			if e.Method == "Page.loadEventFired" {
				return
			}
		}
		if _, _, err := b.read(); err != nil {
			b.t.Fatal(err)
		}
	}
}

// eval returns the value of an expression in the page, converted through JSON.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Text string }
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails.Text)
	}
	return r.Result.Value
}

// want fails if the value of an expression in the page differs.
func (b *browser) want(expression string, value any) {
	b.t.Helper()
	if got := b.eval(expression); fmt.Sprint(got) != fmt.Sprint(value) {
		b.t.Errorf("%s is %v, want %v", expression, got, value)
	}
}

// until waits for an expression in the page to be true.
func (b *browser) until(expression string) {
	b.t.Helper()
	b.want("new Promise((done, fail) => { const end = performance.now() + 20000; const look = () => { "+
		"if ("+expression+") done(true); else if (performance.now() > end) done(false); else requestAnimationFrame(look); }; look(); })", true)
}

// size sets the window and the colour scheme.
func (b *browser) size(width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// screenshot saves a picture of the window, for people, in the folder PROVISO_SCREENSHOTS.
func (b *browser) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("PROVISO_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data []byte }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), shot.Data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// trouble returns the page's errors and its attempted requests.
func (b *browser) trouble() []string {
	var list []string
	for _, e := range b.events {
		switch e.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening", "Runtime.consoleAPICalled":
			list = append(list, e.Method+" "+string(e.Params[:min(len(e.Params), 600)]))
		case "Network.requestWillBeSent":
			var p struct {
				Request struct{ URL string }
				Type    string
			}
			_ = json.Unmarshal(e.Params, &p)
			if p.Type != "Document" {
				list = append(list, "request of "+p.Request.URL)
			}
		}
	}
	return list
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// viewer is `proviso view` as a separate process, and the browser that opened its link.
type viewer struct {
	cmd    *exec.Cmd
	link   string
	base   string
	client *http.Client
	stderr bytes.Buffer
}

// startViewer starts a command that prints a link, and opens it.
func startViewer(cmd *exec.Cmd) (*viewer, error) {
	v := &viewer{cmd: cmd}
	jar, _ := cookiejar.New(nil)
	v.client = &http.Client{Jar: jar, Timeout: 20 * time.Second}
	cmd.Stderr = &v.stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("no link: %w\n%s", cmd.Wait(), v.stderr.String())
	}
	v.link = strings.TrimSpace(line)
	v.base, _, _ = strings.Cut(v.link, "/?")
	if u, err := url.Parse(v.link); err == nil {
		v.base = "http://" + u.Host
	}
	return v, nil
}

// get returns the answer to a page's request.
func (v *viewer) get(address string) (status int, body string, err error) {
	resp, err := v.client.Get(address)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

// stop ends the command as Ctrl-C does, and returns its exit code.
func (v *viewer) stop() int {
	if runtime.GOOS == "windows" {
		_ = v.cmd.Process.Kill() // signals are not supported
		_ = v.cmd.Wait()
		return 0
	}
	_ = v.cmd.Process.Signal(os.Interrupt)
	_ = v.cmd.Wait() // the exit code shows the result
	return v.cmd.ProcessState.ExitCode()
}

// browse is `browse PATH... -- COMMAND...`: it starts COMMAND, opens the link that COMMAND prints,
// and then each PATH, prints the answers, ends the command with Ctrl-C, and requires exit code 0.
func browse(ts *testscript.TestScript, neg bool, args []string) {
	at := slices.Index(args, "--")
	if neg || at < 0 || at+1 == len(args) {
		ts.Fatalf("usage: browse PATH... -- COMMAND...")
	}
	path, err := exec.LookPath(args[at+1])
	ts.Check(err)
	cmd := exec.Command(path, args[at+2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "XDG_STATE_HOME="+ts.Getenv("XDG_STATE_HOME"), "DISPLAY=", "WAYLAND_DISPLAY=")
	v, err := startViewer(cmd)
	ts.Check(err)
	for _, address := range append([]string{v.link}, args[:at]...) {
		if strings.HasPrefix(address, "/") {
			address = v.base + address
		}
		status, body, err := v.get(address)
		ts.Check(err)
		fmt.Fprintf(ts.Stdout(), "%d %s\n%s\n", status, strings.TrimPrefix(address, v.base), body)
	}
	if code := v.stop(); code != 0 {
		ts.Fatalf("exit code %d\n%s", code, v.stderr.String())
	}
	_, _ = ts.Stderr().Write(v.stderr.Bytes())
}

func startView(t *testing.T, dir string, args ...string) *viewer {
	t.Helper()
	cmd := provisoCommand(t, dir, "", append([]string{"view", "--run-dir", filepath.Join(dir, "runs")}, args...)...)
	cmd.Env = append(cmd.Env, "DISPLAY=", "WAYLAND_DISPLAY=")
	v, err := startViewer(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return v
}

func (v *viewer) json(t *testing.T, path string, into any) {
	t.Helper()
	status, body, err := v.get(v.base + path)
	if err == nil && status == http.StatusOK {
		err = json.Unmarshal([]byte(body), into)
	}
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %v\n%s", path, status, err, body)
	}
}

func keepRun(t *testing.T, dir string) *runfile.Writer {
	t.Helper()
	w, err := runfile.Create(filepath.Join(dir, "runs"), runfile.Header{Suite: "suite", Meta: value.ObjectOf("rows", 2.0)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close(nil) }) // again, if a test has already closed it
	return w
}

func keepRow(t *testing.T, w *runfile.Writer, index int) {
	t.Helper()
	row := fmt.Appendf(nil, `{"index":%d,"promptIdx":0,"verdict":"pass","score":1,"response":{"output":"x"}}`, index)
	if err := errors.Join(w.Append(index, row), w.Commit()); err != nil {
		t.Fatal(err)
	}
}

// TestView: only the browser with the link gets access, and only once; nothing can be changed; the
// pages follow a run that is running.
func TestView(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := keepRun(t, dir)
	keepRow(t, w, 0)
	id := w.Header().ID
	v := startView(t, dir)
	stranger := &viewer{client: &http.Client{}}
	if status, body, err := stranger.get(v.base + "/v1/runs"); status != http.StatusUnauthorized || strings.Contains(body, id) {
		t.Errorf("without the link: %d %s %v", status, body, err)
	}
	if status, body, err := v.get(v.link); status != http.StatusOK || !strings.Contains(body, "app.js") {
		t.Fatalf("%d %s %v", status, body, err)
	}
	if status, _, err := stranger.get(v.link); status != http.StatusForbidden {
		t.Errorf("the link a second time: %d %v", status, err)
	}
	var run struct {
		Status   store.RunStatus
		Error    string
		Progress struct{ Rows, Finished int }
	}
	if v.json(t, "/v1/runs/"+id, &run); run.Status != store.Running || run.Progress.Finished != 1 || run.Progress.Rows != 2 {
		t.Errorf("%+v", run)
	}
	events, err := v.client.Get(v.base + "/v1/runs/" + id + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	lines := bufio.NewScanner(events.Body)
	next := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("the events end before %s: %v", want, lines.Err())
	}
	next(`"finished":1,`)
	keepRow(t, w, 1)
	next(`"finished":2,`)
	if err := w.Close([]byte(`{"passed":2}`)); err != nil {
		t.Fatal(err)
	}
	next("event: end")
	next(`"status":"done"`)
	for _, path := range []string{"/v1/evaluate", "/v1/runs/" + id + "/cancel", "/v1/runs"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.base+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Origin", v.base)
		req.Header.Set("X-Proviso", "1")
		resp, err := v.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden || !strings.Contains(string(data), "proviso view only shows runs") {
			t.Errorf("POST %s: %d %s", path, resp.StatusCode, data)
		}
	}
	if code := v.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, v.stderr.String())
	}
}

// TestViewShowsInterrupted: an interrupted run can be read and downloaded unchanged.
func TestViewShowsInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := keepRun(t, dir)
	keepRow(t, w, 0)
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	v := startView(t, dir, w.Header().ID)
	if !strings.Contains(v.link, "/runs/"+w.Header().ID+"?token=") {
		t.Errorf("the link is %s", v.link)
	}
	if status, body, err := v.get(v.link); status != http.StatusOK {
		t.Fatalf("%d %s %v", status, body, err)
	}
	var run struct {
		Status  store.RunStatus
		Error   string
		Results *struct {
			Total int `json:"total_cases"`
		}
	}
	if v.json(t, "/v1/runs/"+w.Header().ID, &run); run.Status != store.Cancelled || !strings.Contains(run.Error, "proviso eval --resume="+w.Header().ID) || run.Results == nil || run.Results.Total != 1 {
		t.Errorf("%+v", run)
	}
	want, err := os.ReadFile(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	if status, body, err := v.get(v.base + "/v1/runs/" + w.Header().ID + "/file"); status != http.StatusOK || body != string(want) {
		t.Errorf("%d %v\n%s\nwant\n%s", status, err, body, want)
	}
	// If a run is replaced by another one, its page shows the results of the other.
	h := w.Header()
	for rows := range 3 {
		text := h.Line()
		for i := range rows {
			text = fmt.Appendf(text, `{"index":%d,"promptIdx":0,"verdict":"pass","score":1,"response":{"output":"x"}}`+"\n", i)
		}
		text = append(text, runfile.TrailerLine(fmt.Appendf(nil, `{"passed":%d}`, rows))...)
		if err := os.WriteFile(w.Path(), text, 0o600); err != nil {
			t.Fatal(err)
		}
		status := store.Done
		if rows < 2 { // fewer than the header announces
			status = store.Cancelled
		}
		if v.json(t, "/v1/runs/"+w.Header().ID, &run); run.Status != status || run.Results == nil || run.Results.Total != rows {
			t.Errorf("%d rows: %s %+v", rows, run.Status, run.Results)
		}
	}
	if code := v.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, v.stderr.String())
	}
}

// TestViewOpensBrowser: the system's browser gets the printed link, but not with --no-open or
// without a display.
func TestViewOpensBrowser(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the browser is opened by the system itself")
	}
	dir := t.TempDir()
	w := keepRun(t, dir)
	if err := w.Close([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	opened := filepath.Join(dir, "opened")
	script := "#!/bin/sh\nprintf %s \"$1\" > " + opened + ".part && mv " + opened + ".part " + opened + "\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	start := func(env string, args ...string) *viewer {
		t.Helper()
		cmd := provisoCommand(t, dir, "", append([]string{"view", filepath.Join(dir, "runs")}, args...)...)
		cmd.Env = append(cmd.Env, "PATH="+dir+":"+os.Getenv("PATH"), "DISPLAY=", "WAYLAND_DISPLAY=", "SSH_CONNECTION=", env)
		v, err := startViewer(cmd)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return v
	}
	for _, v := range []*viewer{start("DISPLAY=:1", "--no-open"), start("DISPLAY=")} {
		if status, _, err := v.get(v.link); status != http.StatusOK {
			t.Errorf("%d %v", status, err)
		}
		v.stop()
		if _, err := os.Stat(opened); err == nil {
			t.Error("a browser was opened")
		}
	}
	v := start("DISPLAY=:1")
	for range 4000 {
		if _, err := os.Stat(opened); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if data, err := os.ReadFile(opened); err != nil || string(data) != v.link {
		t.Errorf("opened %q, want %q: %v", data, v.link, err)
	}
	if code := v.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, v.stderr.String())
	}
}

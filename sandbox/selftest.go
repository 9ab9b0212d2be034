package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

// errLeaks is the error of a sandbox that does not block what it must. No code runs in it, and
// Auto does not fall back to running without a sandbox: something is wrong with this machine.
var errLeaks = errors.New("the sandbox leaks")

// selfTest makes a worker try, before its first source, what the sandbox must block: reading a
// file or the environment of its parent, writing, opening a socket, forking, and executing a
// program.
func (h *host) selfTest(ctx context.Context) error {
	w, err := h.fork("")
	if err != nil && w != nil && w.namespaces { // namespaces may be what does not work here
		h.plain = true
		w, err = h.fork("")
	}
	if err != nil {
		return unstarted(h.language.program, fmt.Errorf("its self-test does not start: %w", err))
	}
	passed := false
	defer func() { // a directly started worker has run nothing else, so a source can use it
		if !passed || h.forks() || !h.spare.CompareAndSwap(nil, w) {
			w.close()
		}
	}()
	probe := value.ObjectOf(
		"file", h.ungranted(), "parent", fmt.Sprintf("/proc/%d/environ", os.Getpid()),
		"write", textlist.Values(h.writable()), "exec", textlist.Values([]string{"/bin/true", h.interpreter.path}), "network", h.profile.network,
	)
	o := &source{sandbox: h.sandbox, profile: h.profile, language: h.language, pool: h.sandbox.deciding, name: "self-test"}
	c := &call{source: o, soft: startTimeout, hard: startTimeout, maxReply: maxReply}
	f, err := w.exchange(ctx, c, kindProbe, value.AppendJSON(nil, probe))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := err.(*proviso.Error); ok && e.Code == proviso.Unavailable {
		return e // no worker ran the test
	}
	var through []any
	if err == nil {
		v, _ := decodeResult(f.kind, f.payload)
		list, ok := v.([]any)
		if passed = ok && len(list) == 0; passed {
			h.namespaces = h.namespaces || w.namespaces
			return nil
		}
		through = list
	}
	what := "its worker ended in the middle"
	if len(through) > 0 {
		what = "it lets through: " + strings.Join(texts(value.ObjectOf("names", through), "names"), ", ")
	}
	return proviso.Because(errLeaks, proviso.Refused, "the sandbox for %s does not pass its self-test, so no code is run: %s", h.language.program, what)
}

// ungranted returns an existing file that is not granted.
func (h *host) ungranted() string {
	for _, name := range []string{"/etc/passwd", "/etc/hostname", "/proc/self/environ"} {
		free := true
		for _, granted := range h.launch(false).read {
			free = free && !beneath(name, granted)
		}
		if _, err := os.Stat(name); err == nil && free {
			return name
		}
	}
	return "/proc/self/environ"
}

// writable returns file names in folders that exist outside; the test must fail to create them.
func (h *host) writable() []string {
	var files []string
	for _, dir := range append([]string{"/tmp", "/dev/shm", os.TempDir()}, h.sandbox.granted(h.profile)...) {
		files = append(files, filepath.Join(dir, fmt.Sprintf(".proviso-self-test-%d", os.Getpid())))
	}
	return files
}

// beneath reports whether path is dir or inside it.
func beneath(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

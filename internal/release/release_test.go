package main

import (
	"bufio"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sources copies the module's files that git tracks to another folder, without git.
func sources(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	list, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("not a checkout of git")
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // removed, or a link to a folder
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func newRelease(t *testing.T, source, version string) (r release, said *strings.Builder) {
	t.Helper()
	said = &strings.Builder{}
	return release{dir: filepath.Join(t.TempDir(), "dist"), source: source, version: version, made: time.Unix(1_700_000_000, 0).UTC(),
		platforms: []string{runtime.GOOS + "/" + runtime.GOARCH}, say: func(format string, args ...any) { said.WriteString(format + "\n") }}, said
}

// TestReproducible builds a release for one platform twice, in different folders and from
// different copies of the sources. Every file must have the same bytes.
func TestReproducible(t *testing.T) {
	if os.Getenv("PROVISO_TEST_SLOW") == "" {
		t.Skip("`make test-slow` makes a release twice")
	}
	key := filepath.Join(t.TempDir(), "key")
	if _, err := keygen("-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key); err != nil {
		t.Skip(err)
	}
	private, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	var made [2]map[string]string
	var dirs [2]string
	for i := range made {
		r, said := newRelease(t, sources(t), "v1.2.3")
		r.key = string(private)
		if err := r.make(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(said.String(), "PRIVATE") {
			t.Error("the key is printed")
		}
		made[i], dirs[i] = map[string]string{}, r.dir
		err := filepath.WalkDir(r.dir, func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			sum, err := sumOf(name)
			rel, _ := filepath.Rel(r.dir, name)
			made[i][rel] = sum
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, sum := range made[0] {
		if made[1][name] != sum {
			t.Errorf("%s differs", name)
		}
	}
	if len(made[0]) < 9 || len(made[0]) != len(made[1]) {
		t.Errorf("the files are %v", made[0])
	}
	checkParts(t, dirs[0])
	checkSignature(t, dirs[0])
	checkInstalled(t, dirs[0])
	checkPanel(t, dirs[0])
}

// checkPanel checks the npm package of the panel, and imports it in Node, where there is no
// document.
func checkPanel(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "npm", "panel", "package.json"))
	if err != nil || !strings.Contains(string(data), `"version": "1.2.3"`) {
		t.Errorf("package.json of the panel: %v\n%s", err, data)
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return
	}
	list, err := exec.Command("tar", "-tzf", filepath.Join(dir, "proviso-panel-1.2.3.tgz")).Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(list))
	slices.Sort(names)
	want := []string{"package/LICENSE", "package/README.md", "package/THIRD_PARTY_NOTICES", "package/package.json", "package/panel.d.ts", "package/panel.js"}
	if !slices.Equal(names, want) {
		t.Errorf("the package of the panel has %q, expected %q", names, want)
	}
	cmd := exec.Command("node", "--input-type=module", "-e", "await import(process.argv[1])", filepath.Join(dir, "npm", "panel", "panel.js"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("importing the panel in Node: %v\n%s", err, out)
	}
}

// checkSignature verifies the release as docs/release.md shows.
func checkSignature(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("sha256sum"); err != nil {
		return
	}
	verify := func() error {
		cmd := exec.Command("sh", "-c", "sha256sum --check --quiet SHA256SUMS && ssh-keygen -Y verify -f allowed_signers -I proviso -n file -s SHA256SUMS.sig <SHA256SUMS")
		cmd.Dir = dir
		return cmd.Run()
	}
	if err := verify(); err != nil {
		t.Errorf("the signature: %v", err)
	}
	sums := filepath.Join(dir, sumsName)
	data, err := os.ReadFile(sums)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sums, append(data, []byte(strings.Repeat("0", 64)+"  evil\n")...), 0o600); err != nil {
		t.Fatal(err)
	}
	if verify() == nil {
		t.Error("changed checksums are accepted")
	}
}

// checkParts checks what SPDX requires: unique identifiers, which every relationship uses.
// It also checks for the modules of go.mod.
func checkParts(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, partsName))
	if err != nil {
		t.Fatal(err)
	}
	var doc spdxDocument
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	if u, err := url.Parse(doc.Namespace); err != nil || !u.IsAbs() || strings.Contains(doc.Namespace, "#") {
		t.Errorf("the namespace %q", doc.Namespace)
	}
	ids := []string{doc.ID}
	valid := regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`)
	names := map[string]bool{}
	for _, p := range doc.Packages {
		if slices.Contains(ids, p.ID) || !valid.MatchString(p.ID) || p.Name == "" || p.Version == "" || p.Download == "" {
			t.Errorf("the package %+v", p)
		}
		ids = append(ids, p.ID)
		names[p.Name] = true
	}
	for _, r := range doc.Relationships {
		if !slices.Contains(ids, r.From) || !slices.Contains(ids, r.To) {
			t.Errorf("the relationship %+v", r)
		}
	}
	for _, name := range []string{"proviso", "std", "github.com/spf13/cobra", "modernc.org/sqlite"} {
		if !names[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if names["github.com/rogpeppe/go-internal"] || doc.Creation.Created != "2023-11-14T22:13:20Z" || doc.Version != "SPDX-2.3" {
		t.Errorf("the document is of %+v, %s", doc.Creation, doc.Version)
	}
}

// checkInstalled starts the binary through the npm packages, in npm's layout, and checks
// the formula.
func checkInstalled(t *testing.T, dir string) {
	t.Helper()
	formula, err := os.ReadFile(filepath.Join(dir, "proviso.rb"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := sumOf(filepath.Join(dir, "proviso-"+runtime.GOOS+"-"+runtime.GOARCH))
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && !strings.Contains(string(formula), `sha256 "`+sum+`"`) || !strings.Contains(string(formula), `version "1.2.3"`) {
		t.Errorf("the formula is\n%s", formula)
	}
	if _, err := exec.LookPath("node"); err != nil {
		return
	}
	modules := filepath.Join(t.TempDir(), "node_modules", "@proviso-eval")
	if err := os.MkdirAll(filepath.Dir(modules), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "npm"), modules); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command("node", append([]string{"--preserve-symlinks", "--preserve-symlinks-main", filepath.Join(modules, "proviso", "proviso.js")}, args...)...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("version"); err != nil || !strings.HasPrefix(out, "proviso v1.2.3 ") {
		t.Errorf("through npm: %v, %s", err, out)
	}
	if out, err := run("evil"); err == nil || err.Error() != "exit status 2" {
		t.Errorf("the exit code through npm: %v, %s", err, out)
	}
	checkStopped(t, filepath.Join(modules, "proviso", "proviso.js"))
	platforms, err := filepath.Glob(filepath.Join(dir, "npm", "proviso-*"))
	if err != nil || len(platforms) != 1 {
		t.Fatalf("%v, %v", platforms, err)
	}
	if err := os.Rename(platforms[0], platforms[0]+"-gone"); err != nil {
		t.Fatal(err)
	}
	if out, err := run("version"); err == nil || !strings.Contains(out, "proviso: there is no binary for ") {
		t.Errorf("without a binary: %v, %s", err, out)
	}
}

// checkStopped checks that a signal to the launcher alone lets the program shut down
// gracefully: here a server whose exit code reports that.
func checkStopped(t *testing.T, launcher string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return
	}
	cmd := exec.Command("node", "--preserve-symlinks", "--preserve-symlinks-main", launcher,
		"serve", "--addr", "127.0.0.1:0", "--db", filepath.Join(t.TempDir(), "proviso.db"))
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.Contains(lines.Text(), "serving on") {
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for lines.Scan() { // until the program has closed its end, too
		}
		ended <- cmd.Wait()
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("a server that is stopped through npm: %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the server runs on after the launcher")
	}
}

// TestSigningKeys checks that an invalid key is an error, and that no message shows it.
func TestSigningKeys(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	rsa := filepath.Join(dir, "rsa")
	if _, err := keygen("-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", rsa); err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(rsa)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"sekret": "is not an OpenSSH key", string(other): "is not an Ed25519 key"} {
		r, _ := newRelease(t, ".", "v1.2.3")
		r.key = key
		if err := r.sign(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sekret") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	r, said := newRelease(t, ".", "v1.2.3")
	if err := r.sign(); err != nil || !strings.Contains(said.String(), "not signed") {
		t.Errorf("without a key: %v, %s", err, said)
	}
}

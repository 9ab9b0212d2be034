package main

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"io"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// container is what the Compose and Kubernetes examples define for a container, in one form.
type container struct {
	name, image string
	args        []string
	env         []string // names
	readOnly    bool
	writable    []string // folders
	secrets     []string // paths of files
	probes      map[string]string
}

// TestImageFile: the image starts from scratch, does not run as root, and every folder that the
// program writes to according to its variables is a volume.
func TestImageFile(t *testing.T) {
	t.Parallel()
	text := readDoc(t, "Dockerfile")
	_, last, ok := strings.Cut(text, "\nFROM scratch\n")
	if !ok || strings.Contains(last, "\nFROM ") || strings.Contains(last, "\nRUN ") {
		t.Fatalf("the last stage is not made from scratch:\n%s", text)
	}
	if !strings.Contains(text, "CGO_ENABLED=0 go build -trimpath") {
		t.Error("the binary is perhaps not static")
	}
	lines := map[string]string{}
	for line := range strings.Lines(last) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		lines[name] = rest
	}
	if lines["USER"] != "65532:65532" || lines["ENTRYPOINT"] != `["/proviso"]` {
		t.Errorf("user %q, entry %q", lines["USER"], lines["ENTRYPOINT"])
	}
	volumes := strings.NewReplacer(`["`, "", `"]`, "", `", "`, " ").Replace(lines["VOLUME"])
	for variable := range strings.FieldsSeq(lines["ENV"]) {
		_, folder, _ := strings.Cut(variable, "=")
		if !below(folder, strings.Fields(volumes)) {
			t.Errorf("%s is not below a volume: %s", variable, volumes)
		}
	}
	hasFlags(t, "Dockerfile", "serve", "--addr", "0.0.0.0:8080")
}

func below(folder string, of []string) bool {
	return slices.ContainsFunc(of, func(v string) bool { return folder == v || strings.HasPrefix(folder, v+"/") })
}

// builtStatic skips a test if the test binary was not built like the image.
func builtStatic(t *testing.T) (exe string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	cgo := slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "CGO_ENABLED" && s.Value == "1" })
	if runtime.GOOS != "linux" || cgo {
		t.Skip("not built as the image is")
	}
	return exe
}

// TestStatic: the binary as built by make needs nothing from the system.
func TestStatic(t *testing.T) {
	t.Parallel()
	f, err := elf.Open(builtStatic(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary has a part %s", p.Type)
		}
	}
}

// hasFlags requires that a command knows its flags.
func hasFlags(t *testing.T, where string, args ...string) {
	t.Helper()
	root := newRootFor(newApp(stdio{in: strings.NewReader(""), out: io.Discard, err: io.Discard}), nil)
	cmd, rest, err := root.Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil && cmd.Flags().NArg() > 0 {
		t.Errorf("%s: %q has arguments: %q", where, args, cmd.Flags().Args())
	}
	if err != nil || cmd == root {
		t.Errorf("%s: %q: %v", where, args, err)
	}
}

// TestScaleExamples: every flag and variable in the examples exists, every container is as the
// image requires, and probes request paths that exist.
func TestScaleExamples(t *testing.T) {
	t.Parallel()
	variables := map[string]string{ // with the page that documents each
		storeVariable: "docs/worker.md", "PROVISO_JUDGE": "docs/judge.md", "OPENAI_API_KEY": "docs/providers.md", "PGPASSFILE": "docs/scale.md",
	}
	for file, read := range map[string]func(*testing.T, []byte) []container{"compose.yaml": composed, "kubernetes.yaml": orchestrated} {
		list := read(t, []byte(readDoc(t, "examples/scale/"+file)))
		kinds := map[string]int{}
		for _, c := range list {
			where := file + ": " + c.name
			if len(c.args) == 0 {
				t.Fatalf("%s has no command", where)
			}
			kinds[c.args[0]]++
			hasFlags(t, where, c.args...)
			if c.image != "proviso" || !c.readOnly {
				t.Errorf("%s: image %s, read-only %t", where, c.image, c.readOnly)
			}
			for _, folder := range []string{"/data", "/tmp"} {
				if !slices.Contains(c.writable, folder) {
					t.Errorf("%s cannot write to %s", where, folder)
				}
			}
			if !slices.Contains(c.env, storeVariable) {
				t.Errorf("%s has no %s", where, storeVariable)
			}
			for _, name := range c.env {
				page, known := variables[name]
				if !known || !strings.Contains(readDoc(t, page), name) {
					t.Errorf("%s: the variable %s is not documented", where, name)
				}
			}
			for _, arg := range c.args {
				if strings.HasPrefix(arg, "/run/secrets/") && !slices.Contains(c.secrets, path.Base(arg)) {
					t.Errorf("%s has no secret %s", where, arg)
				}
			}
			for probe, of := range c.probes {
				if of != "/healthz" && of != "/readyz" {
					t.Errorf("%s: the %s asks for %s", where, probe, of)
				}
			}
		}
		if kinds["serve"] < 1 || kinds["worker"] < 1 {
			t.Errorf("%s has %v", file, kinds)
		}
	}
}

// composed returns the containers of a compose file that run proviso.
func composed(t *testing.T, data []byte) (list []container) {
	t.Helper()
	var doc struct {
		Services map[string]struct {
			Image       string
			Command     []string
			Environment map[string]string
			Secrets     []string
			Volumes     []string
			Tmpfs       []string
			ReadOnly    bool `yaml:"read_only"`
		}
		Secrets map[string]any
	}
	if err := yaml.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	for name, s := range doc.Services {
		for _, secret := range s.Secrets {
			if doc.Secrets[secret] == nil {
				t.Errorf("%s: there is no secret %s", name, secret)
			}
		}
		if name == "database" {
			continue
		}
		c := container{name: name, image: s.Image, args: s.Command, readOnly: s.ReadOnly, secrets: s.Secrets}
		for variable := range s.Environment {
			c.env = append(c.env, variable)
		}
		for _, v := range append(s.Volumes, s.Tmpfs...) {
			for part := range strings.SplitSeq(v, ":") {
				if strings.HasPrefix(part, "/") {
					c.writable = append(c.writable, part)
				}
			}
		}
		list = append(list, c)
	}
	return list
}

// orchestrated returns the containers of the deployments in a Kubernetes file.
func orchestrated(t *testing.T, data []byte) (list []container) {
	t.Helper()
	type probe struct {
		HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
	}
	kinds := map[string]int{}
	for part := range bytes.SplitSeq(data, []byte("\n---\n")) {
		var doc struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct {
						SecurityContext struct {
							RunAsNonRoot bool `yaml:"runAsNonRoot"`
						} `yaml:"securityContext"`
						Containers []struct {
							Name, Image string
							Args        []string
							Ports       []struct{ Name string }
							Env         []struct{ Name string }
							Readiness   probe `yaml:"readinessProbe"`
							Liveness    probe `yaml:"livenessProbe"`
							Security    struct {
								ReadOnly bool `yaml:"readOnlyRootFilesystem"`
							} `yaml:"securityContext"`
							Mounts []struct {
								Path string `yaml:"mountPath"`
							} `yaml:"volumeMounts"`
						}
					}
				}
			}
		}
		if err := yaml.Unmarshal(part, &doc); err != nil {
			t.Fatal(err)
		}
		kinds[doc.Kind]++
		for _, k := range doc.Spec.Template.Spec.Containers {
			c := container{name: k.Name, image: k.Image, args: k.Args, readOnly: k.Security.ReadOnly && doc.Spec.Template.Spec.SecurityContext.RunAsNonRoot, probes: map[string]string{}}
			for _, e := range k.Env {
				c.env = append(c.env, e.Name)
			}
			for _, m := range k.Mounts {
				c.writable = append(c.writable, m.Path)
			}
			for name, p := range map[string]probe{"readiness probe": k.Readiness, "liveness probe": k.Liveness} {
				if p.HTTPGet.Path == "" {
					continue
				}
				c.probes[name] = p.HTTPGet.Path
				if !slices.ContainsFunc(k.Ports, func(port struct{ Name string }) bool { return port.Name == p.HTTPGet.Port }) {
					t.Errorf("%s: the %s asks at a port %s", k.Name, name, p.HTTPGet.Port)
				}
			}
			list = append(list, c)
		}
	}
	if kinds["Deployment"] != 2 || kinds["Service"] != 1 || kinds["PodDisruptionBudget"] != 2 {
		t.Errorf("the file has %v", kinds)
	}
	return list
}

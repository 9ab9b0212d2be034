package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// defaultAllocs is the maximum number of allocations of a package's initialiser that has no row in
// initBudget.
const defaultAllocs = 200

// initBudget is the maximum for the initialisers of other packages, with the reason. Every command
// pays for it, even `proviso version`. Large work that can wait belongs behind a sync.Once.
var initBudget = map[string]struct {
	allocs int
	reason string
}{
	"cel.dev/cel-go/common/cost":                     {520, "table of the costs of CEL's functions; no switch to defer it"},
	"cel.dev/cel-go/common/types":                    {400, "the type objects of CEL are package variables"},
	"cel.dev/cel-go/common/types/pb":                 {480, "registry of the well-known protobuf types"},
	"encoding/gob":                                   {400, "linked in by go-git, which reads git's configuration with gcfg"},
	"github.com/prometheus/client_golang/prometheus": {300, "its default registry, with the metrics of Go, for proviso serve"},
	"github.com/prometheus/procfs":                   {1000, "patterns for what Linux says of processes, for the metrics of proviso serve"},
	"go.yaml.in/yaml/v3":                             {320, "linked in by cel-go, which reads its environments with it"},
	"go.yaml.in/yaml/v4/internal/libyaml":            {420, "tables and patterns of the scalars"},
	"google.golang.org/protobuf/reflect/protodesc":   {1050, "builds the defaults of protobuf's editions, for cel-go"},
}

// initLine is the line that the runtime prints per package with GODEBUG=inittrace=1.
var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock, (\d+) bytes, (\d+) allocs$`)

// initCost is the cost of one initialiser.
type initCost struct {
	pkg    string
	millis float64
	allocs int
}

// initCosts runs this test binary as `proviso version`, so packages that only tests
// import are included.
func initCosts(t *testing.T) []initCost {
	t.Helper()
	_, trace := runVersion(t, "GODEBUG=inittrace=1")
	var list []initCost
	for _, m := range initLine.FindAllStringSubmatch(trace, -1) {
		millis, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		allocs, err := strconv.Atoi(m[4])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, initCost{m[1], millis, allocs})
	}
	slices.SortFunc(list, func(a, b initCost) int { return b.allocs - a.allocs })
	return list
}

// runVersion runs this test binary as the command, with one more variable set.
func runVersion(tb testing.TB, env string) (stdout, stderr string) {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.Cmd{Path: exe, Args: []string{"proviso", "version"}, Env: append(os.Environ(), env), Stdout: &out, Stderr: &errs}
	if err := cmd.Run(); err != nil {
		tb.Fatalf("%v\n%s", err, errs.String())
	}
	return out.String(), errs.String()
}

// TestStartup compares the allocations of every package before main with its budget.
func TestStartup(t *testing.T) {
	t.Parallel()
	costs := initCosts(t)
	if len(costs) < 20 {
		t.Fatalf("only %d packages were traced", len(costs))
	}
	seen := map[string]bool{}
	var allocs int
	var millis float64
	for _, c := range costs {
		seen[c.pkg] = true
		allocs += c.allocs
		millis += c.millis
		limit := defaultAllocs
		if b, ok := initBudget[c.pkg]; ok {
			limit = b.allocs
		}
		if c.allocs > limit {
			t.Errorf("initialising %s makes %d allocations, more than %d: defer it with sync.OnceValue, or give it a row and a reason", c.pkg, c.allocs, limit)
		}
	}
	for pkg := range initBudget {
		if !seen[pkg] {
			t.Errorf("%s has a budget but is not in the binary", pkg)
		}
	}
	t.Logf("%d packages make %d allocations in %.2f ms before main", len(costs), allocs, millis)
	for _, c := range costs[:10] {
		t.Logf("%6d allocations %6.2f ms  %s", c.allocs, c.millis, c.pkg)
	}
	const most = 8000
	if allocs > most {
		t.Errorf("%d allocations before main, more than %d", allocs, most)
	}
}

// TestNamesOfCommands checks that the table has the names of the commands, and that an argument
// that is not a command leaves all commands available.
func TestNamesOfCommands(t *testing.T) {
	t.Parallel()
	a := newApp(stdio{out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	for i, c := range commands {
		if got := c.make(a); got.Name() != c.name || len(got.Aliases) > 0 {
			t.Errorf("the command %q has the name %q and the aliases %q", c.name, got.Name(), got.Aliases)
		}
		if i > 0 && commands[i-1].name >= c.name {
			t.Errorf("%q is not in order", c.name)
		}
	}
	for arg, want := range map[string]int{"eval": 1, "evil": len(commands), "help": len(commands), "__complete": len(commands)} {
		if got := len(newRootFor(a, []string{arg, "x"}).Commands()); got != want+2 { // completion and help
			t.Errorf("%s: %d commands, want %d", arg, got, want+2)
		}
	}
}

// BenchmarkStartup is the time of `proviso version` from start to end.
func BenchmarkStartup(b *testing.B) {
	for b.Loop() {
		runVersion(b, "GODEBUG=")
	}
}

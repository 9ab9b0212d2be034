package main

import (
	"reflect"
	"testing"

	"github.com/proviso-eval/proviso"
)

// TestGrants adds grants of the command line to those of a suite.
func TestGrants(t *testing.T) {
	t.Parallel()
	f := codeFlags{grants: []string{"network", "packages", "env:B", "read:/data"}}
	if err := f.check(); err != nil || f.sandbox != sandboxAuto {
		t.Fatalf("%v, %q", err, f.sandbox)
	}
	own := proviso.Sandbox{TimeoutMS: 5, Env: []string{"A"}, Read: []string{"x"}}
	want := proviso.Sandbox{TimeoutMS: 5, Network: true, Packages: true, Env: []string{"A", "B"}, Read: []string{"x", absolute("/data")}}
	if got := f.over(own); !reflect.DeepEqual(got, want) { // go-cmp would slow down the start of every process in the scripts
		t.Errorf("got %+v, want %+v", got, want)
	}
	if len(own.Env) != 1 {
		t.Error("the suite's own grants were changed")
	}
	for _, grant := range []string{"", "net", "network:x", "env:", "env:A=B", "env:*", "read:"} {
		f := codeFlags{grants: []string{grant}}
		if err := f.check(); err == nil {
			t.Errorf("--grant %q is accepted", grant)
		}
	}
}

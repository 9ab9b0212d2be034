package conformance

import (
	"context"
	"os"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/sandbox"
)

// TestMain lets the sandbox start this test binary as a worker.
func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// code runs JavaScript in process and other languages in workers.
type code struct {
	js  *script.Engine
	box *sandbox.Sandbox
}

func newCode(t *testing.T, dir string) proviso.Code {
	t.Helper()
	path, _ := os.LookupEnv("PATH")
	c := &code{script.New(script.Options{}), sandbox.New(sandbox.Options{
		Policy: sandbox.Auto, Dir: dir, Env: proviso.EnvMap{"PATH": path}, Warn: func(line string) { t.Log(line) },
	})}
	t.Cleanup(func() {
		if err := c.js.Close(); err != nil {
			t.Error(err)
		}
		if err := c.box.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func (c *code) Compile(ctx context.Context, src proviso.Source) (proviso.Function, error) {
	if src.Language == "javascript" {
		return c.js.Compile(ctx, src)
	}
	return c.box.Compile(ctx, src)
}

// hasPython reports whether Python can be run here.
func hasPython(c proviso.Code) bool {
	fn, err := c.Compile(context.Background(), proviso.Source{Language: "python", Name: "probe", Text: "True", Form: proviso.Expression})
	if err != nil {
		return false
	}
	return fn.Close() == nil
}

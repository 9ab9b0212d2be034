package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

// environment is that of this process.
type environment struct{}

// Lookup returns the value of name and whether it is set.
func (environment) Lookup(name string) (string, bool) { return os.LookupEnv(name) }

// Names is not asked for here.
func (environment) Names() []string { return nil }

// callsEach is how often a function is called for one figure.
const callsEach = 20000

// calls measures one-line assertions of Python in the full sandbox and of
// JavaScript in process: how many are decided in a second, and how long one takes.
func calls() error {
	fmt.Printf("%-34s %10s %9s %9s %9s\n", "code-calls", "calls/s", "p50 µs", "p99 µs", "first ms")
	if _, err := exec.LookPath("python3"); err != nil {
		fmt.Println("python: skipped, there is no python3 here")
	} else {
		box := sandbox.New(sandbox.Options{Policy: sandbox.Require, Env: environment{}, Workers: 2})
		err := eachWay("python", box, "len(output) > 10 and 'item-' in output")
		_ = box.Close()
		if err != nil {
			return err
		}
	}
	engine := script.New(script.Options{})
	defer func() { _ = engine.Close() }()
	return eachWay("javascript", engine, "output.length > 10 && output.includes('item-')")
}

// eachWay measures one caller, and two at once.
func eachWay(language string, code proviso.Code, text string) error {
	start := time.Now()
	src := proviso.Source{Language: language, Text: text, Form: proviso.Expression, Params: []string{"output", "context"}, Purpose: proviso.Deciding}
	fn, err := code.Compile(context.Background(), src)
	if err != nil {
		return fmt.Errorf("%s: %w", language, err)
	}
	defer func() { _ = fn.Close() }()
	if err := callOnce(fn); err != nil {
		return fmt.Errorf("%s: %w", language, err)
	}
	first := time.Since(start)
	for callers := 1; callers <= 2; callers++ {
		times, wall, err := callMany(fn, callers)
		if err != nil {
			return fmt.Errorf("%s: %w", language, err)
		}
		slices.Sort(times)
		at := func(share float64) float64 {
			return float64(times[int(share*float64(len(times)-1))].Nanoseconds()) / 1000
		}
		name := fmt.Sprintf("%s, %d at once", language, callers)
		fmt.Printf("%-34s %10.0f %9.1f %9.1f %9.1f\n", name, float64(len(times))/wall.Seconds(), at(0.5), at(0.99), float64(first.Microseconds())/1000)
	}
	return nil
}

// callMany calls a function from several goroutines and returns what each call
// took, and all of them.
func callMany(fn proviso.Function, callers int) ([]time.Duration, time.Duration, error) {
	lists, errs := make([][]time.Duration, callers), make([]error, callers)
	var all sync.WaitGroup
	start := time.Now()
	for i := range callers {
		all.Go(func() {
			for range callsEach / callers {
				began := time.Now()
				if errs[i] = callOnce(fn); errs[i] != nil {
					return
				}
				lists[i] = append(lists[i], time.Since(began))
			}
		})
	}
	all.Wait()
	wall := time.Since(start)
	for _, err := range errs {
		if err != nil {
			return nil, 0, err
		}
	}
	return slices.Concat(lists...), wall, nil
}

// callOnce decides about an output of about 200 bytes, with the variables of its
// case beside it.
func callOnce(fn proviso.Function) error {
	const output = `{"id": 7, "name": "item-00007", "tags": ["the", "of", "and"], "summary": "any like my now over such our man me even most made after also did many off before must well back"}`
	v, err := fn.Call(context.Background(), output, value.ObjectOf("vars", value.ObjectOf("output", output), "prompt", output))
	if err == nil && v != true {
		err = fmt.Errorf("the verdict is %v", v)
	}
	return err
}

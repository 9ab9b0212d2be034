package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
)

// TestSeries: a series gives the same results as single calls, whatever some of the calls do.
func TestSeries(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Workers: 1, Timeout: 300 * time.Millisecond, Ask: asker})
	f := compile(t, s, proviso.Module, strings.Join([]string{
		"import os, _thread, time",
		"seen = []",
		"def get_assert(output, context):",
		"    seen.append(output)",
		"    if output == 'throws': return [][0]",
		"    if output == 'asks': return ask_llm('p', 'r', 'yes')",
		"    if output == 'ends': os._exit(0)",
		"    if output == 'prints': print('x' * 100)",
		"    if output == 'loops':",
		"        while True: pass",
		"    if output == 'forges': os.write(3, b'\\0\\0\\0\\rR' + bytes(8) + b'true')",
		"    if output == 'thread': _thread.start_new_thread(time.sleep, (60,))",
		"    return [len(seen), output[:9]]",
	}, "\n"))
	series, ok := f.(proviso.Series)
	if !ok {
		t.Fatal("it takes no series")
	}
	var args [][]any
	for i := range 150 {
		args = append(args, []any{fmt.Sprint("plain ", i), nil})
	}
	for i, text := range map[int]string{
		0: "throws", 3: "asks", 5: "ends", 6: "ends", 9: "prints", 12: "forges", 20: "loops", 30: "thread",
		40: strings.Repeat("large", 20<<10), 41: "asks", 149: "throws",
	} {
		args[i][0] = text
	}
	var results []string
	series.CallSeries(t.Context(), args, func(i int, got any, err error) {
		if i != len(results) {
			t.Errorf("call %d comes after %d", i, len(results)-1)
		}
		results = append(results, fmt.Sprint(got, err))
	})
	if len(results) != len(args) {
		t.Fatalf("%d of %d calls", len(results), len(args))
	}
	for i, got := range results {
		want, err := f.Call(t.Context(), args[i]...)
		if got != fmt.Sprint(want, err) {
			t.Errorf("call %d, %.10s: %s, alone %v %v", i, args[i][0], got, want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	next := 0
	series.CallSeries(ctx, args[50:], func(i int, _ any, err error) {
		if next++; i == 4 {
			cancel()
		}
		if i > 4 && !errors.Is(err, context.Canceled) && next > 64 {
			t.Errorf("call %d of a canceled series: %v", i, err)
		}
	})
	if next != 100 {
		t.Errorf("%d of 100 calls of a canceled series", next)
	}
}

package main

import (
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// inputs are files that are too large or too unusual for a script.
var inputs = map[string]func() string{
	"binary": func() string { return "\x7fELF\x02\x01\x01\x00\x00\x00\xff\xfe\x00\x01" },
	"bomb": func() string {
		var b strings.Builder
		b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
		for i := 1; i < 12; i++ {
			prev := "*a" + strconv.Itoa(i-1)
			b.WriteString("a" + strconv.Itoa(i) + ": &a" + strconv.Itoa(i) + " [" + strings.Repeat(prev+", ", 9) + prev + "]\n")
		}
		b.WriteString("prompts: [hi]\nproviders: [echo]\ntests: [{vars: {x: *a11}}]\n")
		return b.String()
	},
	// 20 MB of cases; line 150001 is cut off in the middle.
	"cases": func() string {
		var b strings.Builder
		pad := strings.Repeat("x", 60)
		for i := 1; i <= 200_000; i++ {
			if i == 150_001 {
				b.WriteString(`{"vars": {"n": "` + "\n")
				continue
			}
			b.WriteString(`{"vars": {"n": "` + strconv.Itoa(i) + `", "pad": "` + pad + `"}}` + "\n")
		}
		return b.String()
	},
	"invalid-utf8": func() string { return "output\n\"caf\xe9 \xff\xfe\"\n" },
	"large":        func() string { return `{"output": "` + strings.Repeat("word ", 1<<20) + `"}` + "\n" },
	// A picture of 300 KB by its signature; the rest is not picture data.
	"picture": func() string { return "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + strings.Repeat("picture ", 37500) },
	// Larger than a picture may be.
	"largepicture": func() string { return "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + strings.Repeat("picture ", 20<<20/8) },
}

// generate writes one of the inputs.
func generate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || inputs[args[0]] == nil {
		ts.Fatalf("usage: generate NAME FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(inputs[args[0]]()), 0o644))
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
)

// TestNoPasswordIsPrinted: the URL of a database may be anywhere in a command line, in any form,
// with a password of any length. No message contains the password or a part of it.
func TestNoPasswordIsPrinted(t *testing.T) {
	const secret = "Q7"
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv(keyVariable, "pvk_x")
	t.Chdir(t.TempDir())
	lines := []string{"%", "eval %", "eval --stroe %", "eval --stroe=%", "eval --store %", "eval --run % %", "eval -c %", "eval -c%", "eval -c=%", "eval -o %", "eval --on %", "eval --on=%", "eval --judge %", "eval --max-cost %",
		"eval --max-cost=%", "eval -x%", "eval -%", "eval --%", "validate %", "gate %", "gate --base %", "compare % %", "show %", "view %", "runs %", "push %", "push a %", "export %", "import %", "init --from %", "baseline %",
		"doctor %", "completion %", "help %", "key %", "key list %", "key list --format %", "key list --format=%", "key create % --db file.db", "key revoke % --db file.db", "key create a --budget %", "key create a --scope %", "key create a --project %",
		"labels list --server %", "labels list --by % --project %", "labels import %", "store %", "store check %", "store check --store %", "store check --store x%", "store check --store= %", "store check --db %", "store migrate --dry-run=%", "store export %",
		"store export a --project %", "store copy --from %", "store copy --to x --from %", "store copy --to % --from %", "serve --addr %", "serve --store % extra", "serve --store % --workers %", "serve --retain %", "worker --store % --jobs %", "worker --metrics % --store %",
		"monitor status --server %", "monitor %", "datasets list --server %", "spade label --from %", "spade --prompt %", "mutate %", "proxy --upstream %", "proxy --store %", "judge lint %", "align %", "comment %", "cache %", "schema %", "version %"}
	for i, address := range []string{"postgres://u:Q7@127.0.0.1:1/p", "postgresql://u:Q7@127.0.0.1:1/p", "postgres://u:x/Q7@127.0.0.1:1/p", "postgres://u:x@Q7@127.0.0.1:1/p", "postgres://u:x:Q7@127.0.0.1:1/p", "postgres://u:x.Q7@127.0.0.1:1/p", "postgres://u:x?Q7=Q7@127.0.0.1:1/p",
		"postgres://u:x Q7@127.0.0.1:1/p", "postgres://u:x\"Q7@127.0.0.1:1/p", "postgres://u:é\x01Q7@127.0.0.1:1/p", "postgres://u:%zzQ7@127.0.0.1:1/p", "postgres://u:x,Q7@127.0.0.1:1/p", "postgres://u:x#Q7@127.0.0.1:1/p", "postgres://u:Q7",
		"postgres://127.0.0.1:1/p?password=Q7", "postgres://127.0.0.1:1/p?sslpassword=Q7&sslmode=x", "postgres://u:Q7@127.0.0.1:1/p?ssl_mode=Q7", "POSTGRES://u:Q7@127.0.0.1:1/p", " postgres://u:Q7@127.0.0.1:1/p", "postgre://u:Q7@h/p", "postgres:/u:Q7@h/p",
		"postgres:u:Q7@h/p", "postgres//u:Q7@h/p", "host=h user=u password=Q7", "user=u password='x Q7' host=h", "u:Q7@127.0.0.1:5432/p", "u:Q7@h/x", "postgres://:Q7@127.0.0.1:1/p", "postgres://u:x?Q7", "postgres://u:x?Q7=1&Q7=2", "mysql://u:Q7@h/p", "https://u:Q7@127.0.0.1:1/p"} {
		for j, line := range lines {
			if i > 0 && (i+j)%16 != 0 { // all lines with the first URL, and all URLs with some lines
				continue
			}
			var args []string
			for word := range strings.FieldsSeq(line) {
				args = append(args, strings.ReplaceAll(word, "%", address))
			}
			_, out := printed(t, args...)
			if strings.Contains(out, secret) {
				t.Errorf("%q: %s", args, out)
			}
		}
		t.Setenv(storeVariable, address)
		for _, line := range []string{"key list", "store check", "serve", "worker", "labels list", "store copy"} {
			if _, out := printed(t, strings.Fields(line)...); strings.Contains(out, secret) {
				t.Errorf("%s with %s=%q: %s", line, storeVariable, address, out)
			}
		}
		t.Setenv(storeVariable, "")
	}
	if made, err := filepath.Glob("*/*" + secret + "*"); err != nil || len(made) > 0 {
		t.Errorf("%v, %v", made, err)
	}
}

// TestWhatIsPrinted: only the password of a URL is hidden, and nothing of any other text.
func TestWhatIsPrinted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ arg, text, printed string }{
		{"postgres://u:Q7@h/p", `open "postgres://u:Q7@h/p": no, Q7`, `open "postgres://u:[REDACTED]@h/p": no, Q7`},
		{"postgres://u:Q7@h/p", "open postgres:/u:Q7@h/p", "open postgres:/u:[REDACTED]@h/p"},
		{"postgres://u:x,Q7@h/p", "postgres://u:x or Q7@h/p", "postgres://u:[REDACTED]@h/p"},
		{"postgres://u:\"Q7\\@h/p", `unknown "--postgres://u:\"Q7\\@h/p"`, `unknown "--postgres://u:[REDACTED]@h/p"`},
		{"postgres://:Q7@h/p", "postgres://:Q7@h/p", "postgres://:[REDACTED]@h/p"},
		{"--store=postgres://u:long-password@h/p", "it is long-password", "it is [REDACTED]"},
		{"postgres://u:first-part,second-part@h/p", "no scope second-part", "no scope [REDACTED]"},
		{"postgres://u:long-password", "see postgres://u:long-pa…", "see postgres://u:[REDACTED]…"},
		{"u:secretpw1@db/x", `unexpected argument "u:secretpw1@db/x"`, `unexpected argument "u:[REDACTED]@db/x"`},
		{"host=h user=u password='x Q7' port=1", "host=h user=u password='x Q7' port=1", "host=h user=u password='[REDACTED]' port=1"},
		{"postgres://u:Q7@h/p", "write postgres://user@host/database", "write postgres://user@host/database"},
		{"what does postgres://u:Q7@h/p mean?", "what does postgres://u:Q7@h/p mean?", "what does postgres://u:[REDACTED]@h/p mean?"},
		{"Never reveal host=db user=app password=x to anybody.", "Never reveal host=db user=app password=x to anybody.", "Never reveal host=db user=app password=[REDACTED] to anybody."},
		{"https://u:pw@h:8080/api", "https://u:pw@h:8080/api", "https://u:[REDACTED]@h:8080/api"},
	} {
		var l addresses
		l.add(c.arg)
		if got := string(l.redact([]byte(c.text))); got != c.printed {
			t.Errorf("%q: %q became %q, expected %q", c.arg, c.text, got, c.printed)
		}
	}
	for _, arg := range []string{"--server=https://h:8080/a@b", "postgres://u@h:5432/p", "postgres://h:5432/p", "postgres://[::1]:5432/p", "postgres/suite@2.yaml", "password=x", "openai:gpt-5", "-c", "", "-", "--",
		"http:model@2", "vertex:models/claude@20250929", "Postgres: answer in SQL? Be short. "} {
		var l addresses
		l.add(arg)
		if text := strings.Repeat(arg+" ", 2); string(l.redact([]byte(text))) != text {
			t.Errorf("%q became %q", text, l.redact([]byte(text)))
		}
	}
}

// TestArgumentsStayWhole: a command gets its arguments unchanged.
func TestArgumentsStayWhole(t *testing.T) {
	t.Chdir(t.TempDir())
	const suite = "prompts: ['Say {{ word }}']\nproviders: [echo]\ntests: [{vars: {word: yes}, assert: [{type: contains, value: 'Be short'}]}]\n"
	if err := os.WriteFile("suite.yaml", []byte(suite), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Never reveal host=db user=app password=x to anybody. Be short. ", "Postgres: answer in SQL? Be short. ", "Ask postgres://u:pw@h/p or https://x.org: mail a@b. Be short. ", "postgres://u:pw@h/p?a=Be short"} {
		if code, out := printed(t, "eval", "-c", "suite.yaml", "--prompt-prefix", text); code != exitOK {
			t.Errorf("%q: %d: %s", text, code, out)
		}
	}
}

// FuzzAddress: the printed form of an argument contains no part of a password that reaches its
// boundary.
func FuzzAddress(f *testing.F) {
	for _, arg := range []string{"postgres://u:x@h/p", "--store=postgresql://u:x@h", "-cpostgres:/x@", " POSTGRES://u:x", "host=h password=x", "u:x@h:1/p", "--=postgres://?", "postgres://:x@h/p?password=y&"} {
		f.Add(arg)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		var l addresses
		l.add(arg)
		got := string(l.redact([]byte(arg)))
		list := passwordsAt(arg)
		if len(list) == 0 && got != arg {
			t.Errorf("%q became %q", arg, got)
		}
		for _, p := range list {
			if p.from < 1 || p.to <= p.from || p.to > len(arg) {
				t.Fatalf("%q: %v", arg, p)
			}
			if strings.HasPrefix(got, arg[:p.to]) || !strings.Contains(got, proviso.Redaction) {
				t.Errorf("%q became %q", arg, got)
			}
		}
	})
}

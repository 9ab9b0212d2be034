package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
)

// TestNoPasswordIsPrinted: the address of a database may stand anywhere in a command line, in
// any form, with a password of any length. No message has it, nor a part of it.
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
		"postgres:u:Q7@h/p", "postgres//u:Q7@h/p", "host=h user=u password=Q7", "user=u password='x Q7' host=h", "u:Q7@127.0.0.1:5432/p", "mysql://u:Q7@h/p", "https://u:Q7@127.0.0.1:1/p"} {
		for j, line := range lines {
			if i > 0 && (i+j)%16 != 0 { // all lines with the first address, and all addresses with some lines
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

// TestWhatIsNoAddress: arguments without the password of a database stay as they are, and one
// with it is whole for who opens it.
func TestWhatIsNoAddress(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"https://u:pw@h:8080/api", "--server=https://u:pw@h:8080/api", "postgres://u@h:5432/p", "--store=postgres:///p?host=/run", "postgres/suite@2.yaml", "url=postgres://u:pw@h/p", "password=x", "openai:gpt-5", "-c", "", "-", "--",
		"http:model@2", "a:b@c/d", "what does postgres://u:pw@h/p mean?"} {
		var l addresses
		if got := l.hidden([]string{arg}); got[0] != arg && !strings.HasSuffix(arg, "?host=/run") {
			t.Errorf("%q became %q", arg, got)
		}
	}
	var l addresses
	const a, b = "postgres://u:one@h/p", "postgres://u:two@h/p"
	got := l.hidden([]string{a, b, "--store=" + a})
	if l.whole(got[0]) != a || l.whole(got[1]) != b || got[2] != "--store="+got[0] || l.whole("other") != "other" {
		t.Errorf("%q", got)
	}
}

// FuzzAddress: nothing behind the scheme of a database is seen if it may have a password, and
// nothing is lost.
func FuzzAddress(f *testing.F) {
	for _, arg := range []string{"postgres://u:x@h/p", "--store=postgresql://u:x@h", "-cpostgres:/x@", " POSTGRES://u:x", "host=h password=x", "u:x@h:1/p", "--=postgres://?"} {
		f.Add(arg)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		var l addresses
		got := l.hidden([]string{arg})[0]
		if from, secret := addressIn(arg); from >= 0 && (l.whole(got[from:]) != arg[from:] || !strings.HasSuffix(got, proviso.Redaction) || got[:secret] != arg[:secret]) {
			t.Errorf("%q became %q", arg, got)
		} else if from < 0 && got != arg {
			t.Errorf("%q became %q", arg, got)
		}
	})
}

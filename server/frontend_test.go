package server_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/value"
)

// TestAnswersOfTheFrontEnd compares the members of responses with the types that the pages use.
func TestAnswersOfTheFrontEnd(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../web/src/api.ts")
	if err != nil {
		t.Fatal(err)
	}
	types := regexp.MustCompile(`//.*`).ReplaceAllString(string(source), "")
	f := start(t, server.Options{Open: true})
	base := f.push(compareText("20260105-091500-aaaa", "s", ``, 0)).object(t).Text("id")
	head := f.push(compareText("20260105-091500-bbbb", "s", ``, 20)).object(t).Text("id")
	compared := f.ask("GET", "/v1/compare?base="+base+"&head="+head, "").object(t)
	first := func(o *value.Object, list string) *value.Object {
		return o.At(list).([]any)[0].(*value.Object)
	}
	m := f.ask("GET", "/v1/runs/"+base+"/matrix", "").object(t)
	for name, o := range map[string]*value.Object{
		"Matrix": m, "Column": first(m, "columns"), "Found": f.ask("GET", "/v1/runs/"+base+"/search?q=x", "").object(t),
		"Comparison": compared, "Side": compared.Object("base"), "Change": first(compared, "changes"), "Reason": first(compared.Object("decision"), "reasons"),
		"AssertionEffect extends Effect": first(compared, "assertions"), "Estimate": compared.Object("suite").Object("difference"),
	} {
		_, body, found := strings.Cut(types, "export interface "+name+" {")
		for { // nested braces contain other types
			from, to := strings.IndexByte(body, '{'), strings.IndexByte(body, '}')
			if from < 0 || from > to {
				break
			}
			body = body[:from] + body[to+1:]
		}
		body, _, _ = strings.Cut(body, "}")
		var missing []string
		for _, match := range regexp.MustCompile(`(\w+)(\??):`).FindAllStringSubmatch(body, -1) {
			if !o.Has(match[1]) && match[2] == "" {
				missing = append(missing, match[1])
			}
		}
		if !found || missing != nil {
			t.Errorf("%s has %q, and lacks %q of api.ts", name, o.Keys(), missing)
		}
		for _, key := range o.Keys() {
			effect := strings.HasPrefix(name, "AssertionEffect") && slices.Contains([]string{"base", "head", "difference", "corrected"}, key)
			if !effect && !regexp.MustCompile(`\b`+key+`\??:`).MatchString(body) {
				t.Errorf("api.ts does not know %s of %s", key, name)
			}
		}
	}
}

package htmltext_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/htmltext"
)

const (
	wrapped = "Output must be wrapped in HTML tags"
	unknown = "Output does not contain recognized HTML elements"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<p>Hi</p>": "", "<br>": "", "<P>unclosed": "", "<p>a</p>\n\n<p>b</p>": "", "<svg><g/></svg>": "", "<my-part>x</my-part>": "",
		"<!DOCTYPE html><html><head><title>t</title></head><body>text</body></html>": "",
		"<body>text</body>": "", "<BODY class='x'>text": "", "<title><b></title><body>text": "", "<head></head>": "", "<html></html>": "",
		"text <b>x</b>": wrapped, "<td>1</td>": wrapped, "<p>x</p>.": wrapped, "&amp;": wrapped, "<p>x</p>text<body>": wrapped,
		"<!-- <body> --><p>x</p>text": wrapped, "<table>text<tr><td>1</td></tr></table>": wrapped,
		"&nbsp;": unknown, "</p>": unknown, "<custom>x</custom>": unknown, "<h7>x</h7>": unknown, "<!-- <html> -->": unknown,
		"</head><html>": unknown, "<col>": unknown,
		"": "Output is empty", " \u00a0\n": "Output is empty",
		" <?XML version='1.0'?><p/>":  "Output appears to be XML, not HTML",
		strings.Repeat("é", 10<<20+1): "Output exceeds maximum size limit",
	} {
		if got, err := htmltext.Check(t.Context(), text); got != want || err != nil {
			t.Errorf("%.60q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// TestCheckDeep checks that markup that nests too deeply is undecided.
func TestCheckDeep(t *testing.T) {
	t.Parallel()
	_, err := htmltext.Check(t.Context(), strings.Repeat("<div>", 10000))
	var known *proviso.Error
	if err != nil && (!errors.As(err, &known) || known.Code != proviso.Limit) {
		t.Errorf("got %v, want a limit", err)
	}
}

func TestCheckCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := htmltext.Check(ctx, "<p>x</p>"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestContains(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"<x>y</x>": true, "<x>": false, "</x>": false, "<x y>": false, "<x/>": false, "<x />": true, "<x/> &amp;": true, "<x /": false,
		"<p": true, "<pre": false, "< p>": false, "<H1 ": true, "<hr_>": false, "<\u017fpan>": false,
		"<!doctype\u00a0HTML": true, "<!doctypehtml>": false, "<!-- a-b --> &#x4F;": true, "<!-- a--b --> &#169;": false, "<!--->&amp;": false, "<!---->&amp;": true,
		"&amp; &lt;": false, "&#x;<x>": false, " a=\"b\"": false, "<x> a=\"b'": true, "<x>a='b'": false, "<x> = 'b'": false, "<x> a-b= \n'": false,
		"<tag attr=\"v\">": true, "1 < 2 and 3 > 2": false, "<http://x.y>": false, "<a-b>x</a-b >": true, "<x>y</x z>": false,
		strings.Repeat("<p>", 4<<20): false, // too long
	} {
		if got := htmltext.Contains(text); got != want {
			t.Errorf("%.60q: %v, want %v", text, got, want)
		}
	}
}

// TestHostile checks that time is linear in the text.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"<x ", "<!--", "<!-- -", "&a", "&#", " a=", " a='", "</x ", "<!doctype ", "=", "--", "<x\n", "<"} {
		s := strings.Repeat(unit, 1<<18)
		start := time.Now()
		htmltext.Contains(s)
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%q repeated: %v", unit, d)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, s := range []string{"<p>Hi</p>", "<!DOCTYPE html><body>x", "<template><p></template>", "a='b' &amp; <!-- x -->", "<table>x<tr>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, _ = htmltext.Check(t.Context(), s) // must not panic
		htmltext.Contains(s)
	})
}

func BenchmarkContains(b *testing.B) {
	text := strings.Repeat("A sentence with 1 < 2 and no markup & nothing else. ", 40)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		htmltext.Contains(text)
	}
}

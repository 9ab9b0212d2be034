package xmltext_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/xmltext"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	good := []string{
		"<a/>", "\ufeff<?xml version='1.0'?><a/>", " \n<a/>\n ", "<?xml version=\"1.1\" encoding='utf-8' standalone=\"no\" ?><a>&#1;</a>",
		"<!-- c --><?pi x?><!DOCTYPE a SYSTEM 'it\"s'><a/><!-- c -->", "<!DOCTYPE a PUBLIC \"-//x//EN\" 'a.dtd' ><a>&ext;</a>",
		"<a b = '1'\n c=\"'\"></a >", "<élément 名='&lt;&#x1F600;'/>", "<a>]] ]></a>", "<a><![CDATA[<b>&]]]]></a>",
		"<x:a xmlns:x='u'><x:b x:c='1' c='2'/></x:a>", "<a xml:lang='en'/>", "<a xmlns='u'><b xmlns=''/></a>",
		"<a>\U0010ffff</a>", "<a><!----></a>",
	}
	for _, s := range good {
		if err := xmltext.Check(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	bad := []string{
		"", " ", "x", "<a>", "<a></b>", "</a>", "<a/><b/>", "<a/>x", "x<a/>", "<a", "<", "<>", "< a/>", "<1/>", "<a b/>", "<a b=1/>",
		"<a b='1'c='2'/>", "<a b='1' b='2'/>", "<a b='<'/>", "<a b='1/>", "<a/ >", "<a></ a>", "<a>&nbsp;</a>", "<a>&</a>", "<a>&#0;</a>",
		"<a>&#xD800;</a>", "<a>&#+1;</a>", "<a>&#1;</a>", "<a>]]></a>", "<a><!-- -- --></a>", "<a><!--></a>", "<!--", "<![CDATA[x]]>", "<a><![CDATA[</a>",
		" <?xml version='1.0'?><a/>", "<?xml version='2.0'?><a/>", "<?xml?><a/>", "<?xml encoding='x'?><a/>", "<?xml version='1.0'encoding='x'?><a/>",
		"<?xml version='1.0' standalone='maybe'?><a/>", "<?xml version='1.0' encoding='-'?><a/>", "<a><?xml version='1.0'?></a>", "<a><?XML?></a>",
		"<a><?x:y?></a>", "<a><? x?></a>", "<a><?x", "<!doctype a><a/>", "<!DOCTYPE><a/>", "<!DOCTYPE a b><a/>", "<!DOCTYPE a SYSTEM 'x#'><a/>",
		"<!DOCTYPE a PUBLIC '{' 'x'><a/>", "<!DOCTYPE a [ ]><a/>", "<!DOCTYPE a><!DOCTYPE a><a/>", "<a/><!DOCTYPE a>", "<!DOCTYPE a><a>&x;</a>",
		"<?xml version='1.0' standalone='yes'?><!DOCTYPE a SYSTEM 'x'><a>&x;</a>",
		"<x:a/>", "<a x:b='1'/>", "<a:b:c xmlns:a='u'/>", "<:a/>", "<a xmlns:x=''/>", "<a xmlns:xml='u'/>", "<a xmlns:xmlns='u'/>",
		"<a xmlns:p='http://www.w3.org/2000/xmlns/'/>", "<a xmlns:p='http://www.w3.org/XML/1998/namespace'/>",
		"<x:a xmlns:x='u' xmlns:y='u' x:b='1' y:b='2'/>", "<a>\x01</a>", "<a>\ufffe</a>", "<a>\xed\xa0\x80</a>", "<?xml version='1.1'?><a>\x7f</a>",
	}
	for _, s := range bad {
		err := xmltext.Check(s)
		var at *xmltext.SyntaxError
		if !errors.As(err, &at) || at.Line < 1 || at.Column < 1 {
			t.Errorf("%q: %v, want a mistake with its place", s, err)
		}
	}
}

func TestCheckPlace(t *testing.T) {
	t.Parallel()
	err := xmltext.Check("<a>\n  <é b=1/>\n</a>")
	if err == nil || !strings.HasPrefix(err.Error(), "2:8: ") {
		t.Errorf("got %v, want line 2, column 8", err)
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	const doc = `<?xml version="1.0"?><root id="1"><e/><t>text</t><m k="v">t</m><i><n>1</n></i><i/><x:y/><c><![CDATA[ ]]></c><toString/></root>`
	tree, err := xmltext.Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"root": true, "root.e": true, "root.@_id": true, "root.m.#text": true, "root.t.#text": false, "root.t.x": false,
		"root.i": true, "root.i.0": true, "root.i.0.n": true, "root.i.1": true, "root.i.2": false, "root.i.00": false, "root.i.n": false,
		"root.i.length": false, "root.e.0": false, "root.x:y": true, "root.y": false, "?xml.@_version": true, "root.c": true,
		"root.__toString": true, "root.toString": false, "": false, "e": false, "root.@_id.x": false, "root..e": false, "constructor": false,
	} {
		if got := tree.Has(path); got != want {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "text", "<a><b>", "<a></b></c>", "<a b c=1 'd'='e'/>", "<a/><b/>", "<a><![x]]></a>"} {
		if _, err := xmltext.Parse(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	deep := func(n int) string { return strings.Repeat("<a>", n) + strings.Repeat("</a>", n) }
	if _, err := xmltext.Parse(deep(101)); err != nil {
		t.Errorf("101 open elements: %v", err)
	}
	for _, s := range []string{
		"<a", "<a b='>", "</a", "<!--", "<![CDATA[", "<?pi", "<?it's?>", "<constructor/>", "<__proto__>", "</prototype>", "<#text>",
		"<!DOCTYPE a", "<!DOCTYPE '>", "<!D>", "<!DOCTYPE a><!DOCTYPE a>", deep(102), deep(10000),
	} {
		if _, err := xmltext.Parse(s); err == nil {
			t.Errorf("%.40q is read", s)
		}
	}
}

func TestContains(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, paths string
		ok, some    bool
	}{
		{"Here: <a><b>1</b></a> done", "a.b", true, true},
		{"if a < b and c > d", "", false, false},
		{"<a b='>'/>", "a.@_b", true, true},
		{"<a <b/>", "b", true, true},
		{"<a></a x>", "a", true, true},
		{"<a></ a>", "", false, false},
		{"<p>a<br>b</p>", "", false, false},
		{"<p><br><c/></p>", "c", true, true},
		{"x <a>1</a> y <b>2</b>", "a,b", true, true},
		{"<a/><br><c/>", "a,c", false, true},
		{"<w><a/></w>", "a", false, true},                // inside of a part that was read
		{"<a><b/></a><a/>", "a.b", false, true},          // as a whole, a is a list
		{"<a><b/></a><constructor/>", "a.b", true, true}, // the whole cannot be read
		{"<a/><t><b/></z><a/>", "b", false, true},
		{"<a/><t><b/></z>", "b", true, true},
		{"<!-- <a/> --><![CDATA[<b/>]]><?x <c/> ?><!D '<d/>'>", "", false, false},
		{"<!-- <a/>", "", false, false},
		{strings.Repeat("<a>", 10000) + strings.Repeat("</a>", 10000), "", false, true},
	}
	for _, tt := range tests {
		var paths []string
		if tt.paths != "" {
			paths = strings.Split(tt.paths, ",")
		}
		if ok, some := xmltext.Contains(tt.text, paths); ok != tt.ok || some != tt.some {
			t.Errorf("%.60q with %q: %v %v, want %v %v", tt.text, tt.paths, ok, some, tt.ok, tt.some)
		}
	}
}

// TestHostile checks that time is linear: otherwise each text would take minutes.
func TestHostile(t *testing.T) {
	t.Parallel()
	const n = 1 << 17
	for _, unit := range []string{
		"<a ", "<a '", "<a \"'\" '", "<a x\"'", "<a '<b \"", "<a>", "</a>", "<a/>", "<!--", "<![", "<?", "<!", "&", "&a", "<a b='", "]]", "<a a", "<a></b>", "' \"", "<a><constructor/>",
		"<a b='1'>", "<a xmlns:b='c'>",
	} {
		for _, s := range []string{strings.Repeat(unit, n), "<a>" + strings.Repeat(unit, n), "<a " + strings.Repeat(unit, n) + ">"} {
			start := time.Now()
			_ = xmltext.Check(s)
			xmltext.Contains(s, []string{"a.b"})
			if d := time.Since(start); d > 10*time.Second {
				t.Errorf("%q repeated: %v", unit, d)
			}
		}
	}
	var b strings.Builder
	b.WriteString("<a")
	for i := range n {
		b.WriteString(" xmlns:n" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + "='u'")
	}
	start := time.Now()
	_ = xmltext.Check(b.String() + "/>")
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("many namespaces: %v", d)
	}
}

func FuzzXML(f *testing.F) {
	for _, s := range []string{
		"<?xml version='1.0'?><!DOCTYPE a SYSTEM 'x'><a b='&lt;'><![CDATA[x]]><!-- c --><?p?></a>", "x <a>1</a> <b/>", "<a '<b/>'>", "<x:a xmlns:x='u'/>",
	} {
		f.Add(s, "a.b")
	}
	f.Fuzz(func(t *testing.T, s, path string) {
		strict := xmltext.Check(s)
		tree, err := xmltext.Parse(s)
		if err == nil {
			tree.Has(path)
		}
		ok, some := xmltext.Contains(s, nil)
		if ok && !some {
			t.Errorf("%q: contains XML but no element", s)
		}
		// A document contains itself, unless only the prolog prevents that.
		if strict == nil && err == nil && !some {
			t.Errorf("%q: a document without an element", s)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	doc := "<root>" + strings.Repeat("<item id='1'><name>Ann</name><note>a &amp; b</note></item>", 50) + "</root>"
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if err := xmltext.Check(doc); err != nil {
			b.Fatal(err)
		}
	}
}

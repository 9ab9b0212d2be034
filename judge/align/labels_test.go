package align_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/align"
)

func TestReadLabels(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"case,assertion,human,judge\nc 1,tone,pass,fail\nc2,tone,bad,ERROR\n",
		"\ufeffCase; Assertion ;HUMAN;judge;my notes\r\nc 1;tone;Y;0;x\r\n\r\nc2;tone;FALSE;error;\r\n",
		"human\tassertion\tcase\tjudge\n1\ttone\tc 1\tno\nn\ttone\tc2\terror\n",
		`{"case":"c 1","assertion":"tone","human":true,"judge":0}` + "\n\n" + `{"human":"Bad","judge":"Error","case":"c2","assertion":"tone","other":[1]}`,
	} {
		l, err := align.ReadLabels("l", strings.NewReader(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got := ""
		for _, r := range l.Rows {
			got += fmt.Sprintf("%s/%s/%v/%v/%v ", r.Case, r.Assertion, r.Human, r.Judge, r.Labelled && r.Judged)
		}
		if got != "c 1/tone/pass/fail/true c2/tone/fail/error/true " {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestReadLabelsMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", "l: the file is empty; it needs the columns case, assertion and human"},
		{" \n", "l: the file is empty; it needs the columns case, assertion and human"},
		{"case,assertion,human\n", "l: the file holds no labels"},
		{"case,assertion,human\na,b,\nc,d,\n", "l:2:5: no row has a verdict of a person: the column human is empty in all 2"},
		{"case,humn,judge\n", `l:1:6: unknown column "humn" (did you mean "human"?)`},
		{"case,human,case\n", `l:1:12: a second column "case"`},
		{"case,verdict\n", "l:1:1: no column \"assertion\"; the first line names the columns: case, assertion, human and, if wanted, judge\n" +
			"l:1:1: no column \"human\"; the first line names the columns: case, assertion, human and, if wanted, judge"},
		{"case,assertion,human,judge\nä,tone,pas,ok\n,x,pass,\na,,fail,\nb,c,fail,fail,7\n",
			"l:2:8: human: expected pass or fail, got \"pas\" (did you mean \"pass\"?)\n" +
				"l:2:12: judge: expected pass, fail or error, got \"ok\"\n" +
				"l:3:1: the case is empty\nl:4:3: the assertion is empty\n" +
				"l:5:15: the row has 5 fields, the header 4; put fields with the delimiter in quotes"},
		{"case,assertion,human\na,\"b\nc\",x\nd,\"e\",pass\nd,e,fail\n",
			"l:3:4: human: expected pass or fail, got \"x\"\nl:5:1: a second label for case \"d\" and assertion \"e\"; the first is on line 4"},
		{"case,assertion,human\na,b\"c,pass\n", `l:2:4: bare " in non-quoted-field`},
		{"case,assertion,human,row\na,b,pass,first\n", `l:2:10: expected the index of a row of the run, got "first"`},
		{"case,assertion,human,sample\na,b,pass,s-00\n", `l:2:10: this is not the sample of case "a" as --template wrote it; copy lines as a whole, or empty the column in all of them`},
		{"[{}]", "l:1:1: a JSON list; write one object on each line (JSON Lines), or CSV"},
		{"{\"case\":1,\"assertion\":\"t\"}\n{\"case\":\"a\",\"assertion\":[],\"human\":1}\n7\n{\"a\":}\n{\"case\":\"x\",\"asertion\":\"t\",\"human\":\"no\"}",
			"l:1:1: no \"human\" in this label\nl:2:25: assertion: expected a text\n" +
				"l:3:1: expected an object with case, assertion and human\nl:4:6: unexpected '}' in JSON\n" +
				`l:5:13: unknown column "asertion" (did you mean "assertion"?)`},
		{"case,assertion,human\na,b,\xff\n", "l:2:5: the file is not UTF-8: byte 0xff"},
	} {
		_, err := align.ReadLabels("l", strings.NewReader(c.text))
		if fmt.Sprint(err) != c.want {
			t.Errorf("%q\n got %v\nwant %s", c.text, err, c.want)
		}
	}
	many := "case,assertion,human\n" + strings.Repeat("a,b,x\n", 1000)
	_, err := align.ReadLabels("l", strings.NewReader(many))
	if list, ok := err.(proviso.Mistakes); !ok || len(list) != 101 || list[100].More < 900 {
		t.Errorf("1000 mistakes gave %T of %d", err, len(list))
	}
}

func FuzzReadLabels(f *testing.F) {
	f.Add("case,assertion,human,judge\nc1,tone,pass,fail\n")
	f.Add(`{"case":"c","assertion":"a","human":"y","sample":"s-0"}`)
	f.Add("case;assertion;human\n\"a\"\"b\n\";x;no\r\n'=1;x;1")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := align.ReadLabels("l", strings.NewReader(text))
		if err != nil {
			for _, m := range err.(proviso.Mistakes) {
				if m.Place.Line < 0 || m.Place.Line > 1+strings.Count(text, "\n") || m.Message == "" {
					t.Errorf("mistake %+v", m)
				}
			}
			return
		}
		if a, err := align.Compare(l, nil); err == nil {
			if _, err := a.JSON(); err != nil {
				t.Error(err)
			}
		}
	})
}

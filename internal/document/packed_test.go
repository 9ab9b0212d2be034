package document_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/document"
)

// TestPacked: a compressed file has one mistake, which says what to do, and not one for
// each of its lines.
func TestPacked(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		"\x1f\x8b\x08\x00\n\xff\n\xfe\n": "gunzip", "\x28\xb5\x2f\xfd\n\xff\n": "unzstd", "PK\x03\x04\n\xff\n": "spreadsheets",
	} {
		var got []error
		for _, err := range document.Lines(strings.NewReader(head)) {
			got = append(got, err)
		}
		for _, err := range document.ReadCSV(strings.NewReader(head), document.CSVOptions{}) {
			got = append(got, err)
		}
		_, err := document.Parse("a.yaml", []byte(head))
		got = append(got, err)
		if len(got) != 3 || !strings.Contains(errors.Join(got...).Error(), want) {
			t.Errorf("%q gives %v", head, got)
		}
		for _, err := range got {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q gives %v, want %s", head, err, want)
			}
		}
	}
	for _, ok := range []string{"P,K\n1,2\n", "{}\n"} {
		for _, err := range document.Lines(bytes.NewReader([]byte(ok))) {
			if err != nil && strings.Contains(err.Error(), "unpack") {
				t.Error(err)
			}
		}
	}
}

func TestOtherDelimiter(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{"a;b": ";", "a\tb": "\t", "a|b": "|", "a b": "", "": ""} {
		if got := document.OtherDelimiter([]string{header}); got != want {
			t.Errorf("%q gives %q, want %q", header, got, want)
		}
	}
	if got := document.OtherDelimiter([]string{"a;b", "c"}); got != "" {
		t.Errorf("two columns give %q", got)
	}
}

package lint_test

import (
	"os"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/judge/lint"
)

// TestLintLabels measures precision and recall of the lint on criteria that were labelled
// before the lint ran: with the rule that a criterion breaks, or - for a good one. The
// rules were written against the first file. The second file was labelled afterwards, and
// no rule was changed for it.
func TestLintLabels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file              string
		precision, recall float64 // minimum values
	}{{"testdata/labels.tsv", 0.97, 0.95}, {"testdata/held-out.tsv", 0.95, 0.85}} {
		data, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		right, extra, missed := 0, 0, 0
		for line := range strings.Lines(string(data)) {
			want, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
			if !ok {
				t.Fatalf("no label: %q", line)
			}
			rules, _ := lintsOf(text)
			hit := false
			for rule := range strings.FieldsSeq(rules) {
				if rule == want {
					hit = true
					continue
				}
				extra++
				t.Logf("wrong: %s [%s], want %s", text, rule, want)
			}
			switch {
			case hit:
				right++
			case want != "-":
				missed++
				t.Logf("missed: %s [%s]", text, want)
			}
		}
		precision, recall := float64(right)/float64(right+extra), float64(right)/float64(right+missed)
		t.Logf("%s: precision %.2f (%d of %d), recall %.2f (%d of %d)", c.file, precision, right, right+extra, recall, right, right+missed)
		if precision < c.precision || recall < c.recall {
			t.Errorf("%s: precision %.2f, recall %.2f", c.file, precision, recall)
		}
	}
}

func TestLintReads(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"The output names the price.":                      true,
		"Names every ingredient with its weight in grams.": true,
		"Cites sources": true,
		"Das Ergebnis nennt die Rechnungsnummer und das Datum.":   true,
		"La réponse nomme le prix et la date de livraison.":       true,
		"La respuesta dice que la tienda abre a las nueve.":       true,
		"Câu trả lời nêu giá của hộp lớn.":                        false,
		"Ответ называет цену большой коробки.":                    false,
		"回答说出了大盒子的价格。":                                            false,
		"Odpověď uvádí správnou cenu velké krabice.":              false,
		"The output contains the word \"Спасибо\" once, no more.": true,
	} {
		if got := lint.Reads(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

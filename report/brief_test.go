package report

import (
	"strings"
	"testing"
)

func TestBrief(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("QUJD", 1024) // 3 KiB
	for text, want := range map[string]string{
		"":                              "",
		"no data":                       "no data",
		"data:image/png;base64,QUJD":    "data:image/png;base64,QUJD",
		"data:image/png;base64," + long: "data:image/png;base64,… (3 KiB)",
		`{"url":"data:a/b;base64,` + long + `"} and data:c/d;base64,` + long + "== end": `{"url":"data:a/b;base64,… (3 KiB)"} and data:c/d;base64,… (3 KiB) end`,
		"data:image/png;base64," + strings.Repeat(long, 700):                            "data:image/png;base64,… (2.1 MiB)",
		"data:image/png;base64," + long[:80]:                                            "data:image/png;base64,… (60 bytes)",
		";base64,":                                                                      ";base64,",
	} {
		if got := brief(text); got != want {
			t.Errorf("%.60q: %.90q, want %q", text, got, want)
		}
	}
}

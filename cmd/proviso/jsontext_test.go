package main

import (
	"encoding/json"
	"testing"
)

func TestEscaped(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain {} \u00e9 \U0001f950", "a\u009b31m\u202e\u2066\x7f", "\u202e"} {
		line, err := json.Marshal([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		got := escaped(line)
		var back []string
		if err := json.Unmarshal(got, &back); err != nil || back[0] != text {
			t.Errorf("%q became %s: %q, %v", text, got, back, err)
		}
		for _, r := range string(got) {
			if r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x2066 {
				t.Errorf("%q has %U", got, r)
			}
		}
	}
}

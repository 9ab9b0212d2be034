package stance_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/stance"
)

// TestOn checks the stance of a sentence on the thing between asterisks.
func TestOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"Mention *prices*.", "demanded"},
		{"Never mention *prices*.", "forbidden"},
		{"Answer politely, and do not give *legal* advice.", "forbidden"},
		{"Do not greet, but mention *prices*.", "demanded"},
		{"Never forget to mention *prices*.", "unread"},
		{"You need not mention *prices*.", "unread"},
		{"You may mention *prices*.", "unread"},
		{"Mention nothing but *prices*.", "unread"},
		{"Refuse to give *medical* advice.", "unread, forbidden"},
		{"Users do not mention *prices*.", "unread"},
		{"Answer without *apologies*.", "forbidden"},
	} {
		before, rest, _ := strings.Cut(c.text, "*")
		thing, after, _ := strings.Cut(rest, "*")
		st := stance.On(before+thing+after, len(before), len(before)+len(thing))
		got := "demanded"
		switch {
		case st.Unread != "" && st.Not:
			got = "unread, forbidden"
		case st.Unread != "":
			got = "unread"
		case st.Not:
			got = "forbidden"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s (%+v)", c.text, got, c.want, st)
		}
	}
}

func FuzzOn(f *testing.F) {
	f.Add("Do not use lists, and never omit prices.", 8, 12)
	f.Fuzz(func(t *testing.T, text string, start, end int) {
		if start < 0 || end < start || end > len(text) {
			return
		}
		st := stance.On(text, start, end)
		if !strings.HasPrefix(text[:start], strings.TrimSuffix(text[:start], st.Before)) || st.Not && st.Allows {
			t.Errorf("%+v", st)
		}
	})
}

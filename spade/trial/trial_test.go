package trial_test

import (
	"testing"

	"github.com/proviso-eval/proviso/spade/trial"
)

func FuzzReadTrials(f *testing.F) {
	f.Add("t.csv", "id,output,label,x\n1,a,good,2\n")
	f.Add("t.jsonl", "{\"id\":1,\"output\":{\"a\":1},\"vars\":{}}\n{\"label\":null,\"response\":\"\"}")
	f.Fuzz(func(t *testing.T, file, text string) {
		trials, mistakes := trial.Read(file, []byte(text))
		if (mistakes.Err() == nil) != (len(trials) > 0) {
			t.Errorf("%d trials, %v", len(trials), mistakes)
		}
		for _, x := range trials {
			if x.Vars == nil || x.ID == "" {
				t.Errorf("%+v", x)
			}
		}
	})
}

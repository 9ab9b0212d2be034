package doctor

import (
	_ "embed"
	"encoding/csv"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
)

// retirements are the models that their vendors have announced to retire, with the date
// and the page that says so. A model is retired at its vendor; platforms that resell it
// have dates of their own.
//
//go:embed retirements.csv
var retirements string

// Retirement is a model in use that its vendor has retired or will retire.
type Retirement struct {
	Provider string `json:"provider"`
	Use      string `json:"use"` // "judge" or "suite"
	Date     string `json:"date"`
	Retired  bool   `json:"retired"` // the date has passed or is today
	Source   string `json:"source"`
}

// RetirementsOf finds the models with a retirement date among the judge and the providers
// of a suite, which may be nil. now decides which of them are retired already.
func RetirementsOf(judge Judge, s *proviso.Suite, now time.Time) []Retirement {
	list := []Retirement{}
	add := func(id, use string) {
		if r, ok := retirementOf(id, now); ok && !slices.ContainsFunc(list, func(o Retirement) bool { return o.Provider == id && o.Use == use }) {
			r.Use = use
			list = append(list, r)
		}
	}
	for id := range strings.SplitSeq(judge.Provider, ", ") {
		add(id, "judge")
	}
	if s == nil {
		return list
	}
	for _, p := range s.Providers {
		if p.Config.At("apiHost") == nil && p.Config.At("apiBaseUrl") == nil { // otherwise another server answers
			add(p.ID, "suite")
		}
	}
	return list
}

// retirementOf looks up the model of a provider id, such as openai:chat:gpt-5.
func retirementOf(id string, now time.Time) (Retirement, bool) {
	rows, err := csv.NewReader(strings.NewReader(retirements)).ReadAll()
	if err != nil {
		return Retirement{}, false // a test checks the table
	}
	parts := strings.Split(id, ":")
	for _, row := range rows[1:] {
		if strings.HasPrefix(id, row[0]) && slices.Contains(strings.Fields(row[1]), parts[len(parts)-1]) {
			return Retirement{Provider: id, Date: row[2], Retired: now.UTC().Format(time.DateOnly) >= row[2], Source: row[3]}, true
		}
	}
	return Retirement{}, false
}

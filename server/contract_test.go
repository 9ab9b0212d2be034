package server_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
)

// TestTypesOfTheApp: the types that the app reads have the members of the OpenAPI
// document, and need no others.
func TestTypesOfTheApp(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../web/src/api.ts")
	if err != nil {
		t.Fatal(err)
	}
	f := start(t, server.Options{Open: true})
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any `json:"properties"`
				Required   []string       `json:"required"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal([]byte(f.ask("GET", "/openapi.json", "").body), &doc); err != nil {
		t.Fatal(err)
	}
	for app, ours := range map[string]string{
		"AssertionHistory": "AssertionHistory", "Judge": "JudgeUse", "Alignment": "Alignment", "Prompt": "PromptHistory", "Estimate": "EstimateJSON",
		"Settings": "Settings", "Session": "Session", "Run": "Run", "Progress": "Progress", "Revision": "Revision", "Evaluation": "Evaluation",
		"NewLabel": "NewLabel", "Label": "Label", "LabelList": "LabelList", "Place": "Place", "NewLabelQueue": "NewLabelQueue", "LabelQueue": "LabelQueue", "LabelAgreement": "LabelAgreement",
		"SpadeRequest": "SpadeRequest", "SpadeExample": "SpadeExample", "SpadeAnswer": "SpadeAnswer", "SpadeChange": "SpadeChange", "SpadeDelta": "SpadeDelta", "SpadeSentence": "SpadeSentence",
		"SpadeCandidate": "SpadeCandidate", "SpadeUnchecked": "SpadeUnchecked", "SpadeOutput": "SpadeOutput", "SpadeSelection": "SpadeSelection",
		"LeaseRequest": "LeaseRequest", "Lease": "Lease", "LabelItem": "LabelItem",
		"PanelToken": "PanelToken", "Answered": "Answered", "AskableProvider": "AskableProvider", "LintedAssertion": "LintedAssertion",
		"RunDataset": "RunDataset", "DatasetVersion": "DatasetVersion", "StoredDataset": "StoredDataset", "ChangedDataset": "ChangedDataset", "DatasetDiff": "DatasetDiff", "ChangedCase": "ChangedCase",
		"NewTrial": "NewTrial", "TrialChange": "TrialChange", "Trial": "Trial", "TrialHalf": "TrialHalf", "TrialSide": "TrialSide", "TrialDifference": "TrialDifference",
		"TrialResult": "TrialResult", "Flip": "Flip", "Judged": "Judged", "LeftOut": "LeftOut", "TrialBase": "TrialBase",
		"WatchView": "WatchView", "WatchQueue": "WatchQueue", "WatchSpend": "WatchSpend", "WatchSeries": "WatchSeries", "SeriesLine": "SeriesLine", "SeriesBucket": "SeriesBucket", "RateInterval": "RateInterval", "WatchDifferences": "WatchDifferences", "TrafficDifference": "TrafficDifference", "TrafficFigures": "TrafficFigures", "AssertionDifference": "AssertionDifference", "ValueRate": "ValueRate", "MixDifference": "MixDifference", "WatchThumbs": "WatchThumbs", "AssertionThumbs": "AssertionThumbs",
		"ThumbCounts": "ThumbCounts", "ThumbShares": "ThumbShares", "ThumbFigure": "ThumbFigure", "NoticeView": "NoticeView", "Adoption": "Adoption", "Measure": "Measure", "AgentAdoption": "AgentAdoption", "PromptAdoption": "PromptAdoption", "PullRequest": "PullRequest", "TrafficEvent": "TrafficEvent", "EventUsage": "EventUsage", "EventVerdict": "EventVerdict", "EventFeedback": "EventFeedback", "Conversation": "Conversation", "Agent": "Agent", "AgentPrompt": "AgentPrompt",
	} {
		members := membersOf(string(source), app)
		schema, ok := doc.Components.Schemas[ours]
		if len(members) == 0 || !ok {
			t.Errorf("%s has %d members, %s is in the document: %t", app, len(members), ours, ok)
		}
		if have := slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(have, slices.Sorted(maps.Keys(members))) {
			t.Errorf("%s has %v, and %s of the server %v", app, slices.Sorted(maps.Keys(members)), ours, have)
		}
		for name, optional := range members {
			if !optional && !slices.Contains(schema.Required, name) {
				t.Errorf("%s.%s is not always there", app, name)
			}
		}
	}
}

// membersOf returns the members of a TypeScript interface, including inherited ones, and
// whether each is optional.
func membersOf(source, name string) map[string]bool {
	members := map[string]bool{}
	head := regexp.MustCompile("export interface " + name + ` (?:extends (\w+) )?\{`).FindStringSubmatchIndex(source)
	if head == nil {
		return members
	}
	if head[2] >= 0 {
		members = membersOf(source, source[head[2]:head[3]])
	}
	rest := source[head[1]:]
	rest = regexp.MustCompile(`//[^\n]*`).ReplaceAllString(rest, "")
	var own strings.Builder // without nested members
	for depth, i := 1, 0; i < len(rest) && depth > 0; i++ {
		switch c := rest[i]; {
		case c == '{' || c == '<':
			depth++
		case c == '}' || c == '>':
			depth--
		case depth == 1:
			own.WriteByte(c)
		}
	}
	for _, m := range regexp.MustCompile(`(?:^|[;\n])\s*(\w+)(\??):`).FindAllStringSubmatch(own.String(), -1) {
		members[m[1]] = m[2] == "?"
	}
	return members
}

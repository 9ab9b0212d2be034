package report

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// codeQuality is an issue of a GitLab code quality report. In a merge request, GitLab shows
// the issues that the target branch does not have.
type codeQuality struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

// unknownPlace is the path of an issue whose place is unknown: GitLab drops issues without
// a path.
const unknownPlace = "proviso.yaml"

// renderCodeQuality writes an issue for each row that failed or was not decided, worst
// first. The fingerprint depends on the column, the case and the assertion, but not on the
// line or the output, so the same failure is the same issue in both branches.
func renderCodeQuality(ctx context.Context, w *bufio.Writer, in *Input) error {
	marks, err := survey(ctx, in.Rows)
	if err != nil {
		return err
	}
	list := []codeQuality{}
	seen := map[string]bool{}
	for _, m := range in.Summary.distinct(worst(marks, len(marks))) {
		row, err := viewAt(in.Rows, m.mark)
		if err != nil {
			return err
		}
		issue := issueOf(in.Meta, row, m.mark)
		if !seen[issue.Fingerprint] { // repeats of a case share an issue
			seen[issue.Fingerprint] = true
			list = append(list, issue)
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(list)
}

func issueOf(meta *Meta, row view, m mark) codeQuality {
	assertion := culprit(row)
	issue := codeQuality{Severity: [...]string{"major", "minor"}[urgency(m)], CheckName: "error"}
	issue.Location.Path = unknownPlace
	if meta.Place != nil {
		file, line := meta.Place(integer(row.Object, "testIdx"), assertion)
		issue.Location.Path, issue.Location.Lines.Begin = cmp.Or(clean(file), unknownPlace), line
	}
	issue.Location.Lines.Begin = max(issue.Location.Lines.Begin, 1)
	issue.Description = row.name()
	if d := row.description(); d != "" {
		issue.Description += " (" + cut(d, 100) + ")"
	}
	if reasons := row.reasons(); len(reasons) > 0 {
		issue.CheckName = cut(cmp.Or(reasons[0].name, issue.CheckName), 100)
		issue.Description += ": " + cut(reasons[0].String(), 400)
	}
	hash := sha256.New()
	for _, part := range [][]byte{[]byte(meta.columnName(integer(row.Object, "promptIdx"))), []byte(row.Object.Text("caseId")), assertion} {
		sum := sha256.Sum256(part)
		hash.Write(sum[:])
	}
	issue.Fingerprint = hex.EncodeToString(hash.Sum(nil))
	return issue
}

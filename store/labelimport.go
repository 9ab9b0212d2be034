package store

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/label"
)

// LabelImport is the result of importing labels.
type LabelImport struct {
	Added   int `json:"added"`
	Known   int `json:"known" doc:"The project has them already"`
	Older   int `json:"older" doc:"The person said something else later; they are left out"`
	Stale   int `json:"stale" doc:"The run has another output there; they are left out"`
	Removed int `json:"removed" doc:"Labels that the file removes"`
}

// ImportLabels stores labels that were made elsewhere, with their ids, people and times. If the
// project has the labelled row, missing fields are filled in from it; labels of runs that the
// project does not have are stored as they are. Labels stored before an error stay; importing
// again changes nothing.
func ImportLabels(ctx context.Context, kept ProjectStore, lines []label.Line, createdBy string) (n LabelImport, err error) {
	for i := range lines {
		if lines[i].Removed {
			err = kept.DeleteLabel(ctx, lines[i].Label.ID, "")
			switch {
			case err == nil:
				n.Removed++
			case proviso.CodeOf(err) == proviso.NotFound:
				n.Known++
			default:
				return n, err
			}
			continue
		}
		if err := n.add(ctx, kept, lines[i].Label, createdBy); err != nil {
			return n, err
		}
	}
	return n, nil
}

// add stores one label.
func (n *LabelImport) add(ctx context.Context, kept ProjectStore, l label.Label, createdBy string) error {
	if _, err := kept.Label(ctx, l.ID); err == nil {
		n.Known++
		return nil
	} else if proviso.CodeOf(err) != proviso.NotFound {
		return err
	}
	f := LabelFilter{Run: l.Run, Evaluation: l.Evaluation, Event: l.Event, Assertion: &l.Assertion, By: l.By}
	if l.Run != "" {
		f.Index = &l.Index
	}
	now, err := kept.ListLabels(ctx, f, Page{Limit: 1})
	if err != nil {
		return err
	}
	if len(now.Items) > 0 {
		switch said := &now.Items[0]; {
		case said.Created.After(l.Created):
			n.Older++
			return nil
		case said.Verdict == l.Verdict && said.Note == l.Note:
			n.Known++
			return nil
		}
	}
	if fresh, err := complete(ctx, kept, &l); err != nil || !fresh {
		if err == nil {
			n.Stale++
		}
		return err
	}
	_, err = kept.AddLabel(ctx, NewLabel{Label: l, CreatedBy: createdBy})
	if err == nil {
		n.Added++
	}
	return err
}

// complete fills in missing fields of a label from its row. It returns false if the row has
// another output.
func complete(ctx context.Context, kept ProjectStore, l *label.Label) (fresh bool, err error) {
	if l.Run == "" || l.Judged != "" {
		return true, nil
	}
	r, err := kept.Result(ctx, l.Run, l.Index)
	if proviso.CodeOf(err) == proviso.NotFound {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	row, err := record.Decode(l.Index, r.JSON)
	if err != nil {
		return false, err
	}
	labelled := l.OutputID
	if labelled != "" && labelled != record.OutputID(row.Output()) {
		return false, nil
	}
	return true, l.OfRow(row)
}

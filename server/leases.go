package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
)

// LeaseRequest asks for an item of a queue.
type LeaseRequest struct {
	Seconds int           `json:"seconds,omitempty" doc:"How long the item is the client's alone, up to 86400; 300 if it is missing"`
	Lease   string        `json:"lease,omitempty" doc:"A lease to renew; another item if it is missing"`
	Resume  bool          `json:"resume,omitempty" doc:"Give the item that the client has leased already, if there is one, as after a reload of a page"`
	Skip    []SkippedItem `json:"skip,omitempty" doc:"Up to 1000 items that the client puts off: another one is given"`
}

// SkippedItem names an item of a queue.
type SkippedItem struct {
	Index     int    `json:"index,omitempty" doc:"Of the row, or else event"`
	Event     string `json:"event,omitempty" doc:"The id of an event of traffic"`
	Assertion string `json:"assertion" doc:"Empty for the whole output"`
}

// Lease is an item to label.
type Lease struct {
	Item      LabelItem      `json:"item"`
	Why       string         `json:"why" doc:"Why it comes now"`
	Stratum   string         `json:"stratum" enum:"random,informative"`
	Lease     string         `json:"lease" doc:"Its id, to be sent with the label"`
	Expires   time.Time      `json:"expires" doc:"When others may get the item"`
	Left      int            `json:"left" doc:"Items that the client may still label, with this one"`
	Mine      int            `json:"mine" doc:"Items of the queue that the client labelled"`
	Done      int            `json:"done" doc:"Items that enough people labelled"`
	Blind     bool           `json:"blind"`
	Agreement LabelAgreement `json:"agreement" doc:"Of the labels of the run so far"`
}

// LabelItem is an output and the question that a person answers about it.
type LabelItem struct {
	Run         string                  `json:"run" doc:"Empty if it is an event"`
	Index       int                     `json:"index" doc:"Of the row"`
	Event       string                  `json:"event,omitempty" doc:"The id of an event of traffic"`
	Assertion   string                  `json:"assertion" doc:"Empty for the whole output"`
	Case        string                  `json:"case" doc:"Its id"`
	Title       string                  `json:"title" doc:"Description of the case"`
	Instruction string                  `json:"instruction" doc:"What the output should do, as the judge was told"`
	Criteria    []string                `json:"criteria"`
	Question    string                  `json:"question" doc:"All that is to be decided, as one text: instruction and criteria, or the value of a check"`
	Input       string                  `json:"input" doc:"The variables of the case, one on each line, or the prompt if there are none"`
	Prompt      string                  `json:"prompt" doc:"That was sent"`
	Vars        [][2]string             `json:"vars" doc:"Names and values"`
	Output      string                  `json:"output"`
	Cut         []string                `json:"cut,omitempty" doc:"Texts that were shortened, such as output"`
	Judge       *report.DetailAssertion `json:"judge,omitempty" doc:"What the judge said; missing if the queue is blind"`
}

func (s *Server) leaseLabel(c *call) error {
	in := LeaseRequest{Seconds: 300}
	if len(c.body) > 0 {
		if err := c.read(&in); err != nil {
			return err
		}
	}
	if in.Seconds < 1 || in.Seconds > int(store.MaxLease/time.Second) {
		return pointed("/seconds", proviso.Invalid, "seconds has to be a number from 1 to 86400")
	}
	if len(in.Skip) > store.MaxSkip {
		return pointed("/skip", proviso.Limit, fmt.Sprintf("%d items to skip, more than %d", len(in.Skip), store.MaxSkip))
	}
	skip := make([]store.Skipped, 0, len(in.Skip))
	for _, x := range in.Skip {
		skip = append(skip, store.Skipped(x))
	}
	ctx, name := c.r.Context(), c.r.PathValue("queue")
	q, err := c.kept.LabelQueue(ctx, name)
	if err != nil {
		return err
	}
	by, _ := c.person()
	l, err := c.kept.LeaseLabel(ctx, store.LeaseRequest{Queue: name, By: by, For: time.Duration(in.Seconds) * time.Second, Lease: in.Lease, Resume: in.Resume, Skip: skip})
	if err != nil {
		return err
	}
	if l == nil {
		return c.sendResponse(store.Response{Status: http.StatusNoContent})
	}
	out := Lease{Why: l.Item.Why, Stratum: l.Item.Stratum, Lease: l.ID, Expires: l.Expires.UTC(), Left: l.Left, Mine: l.Mine, Done: q.Done, Blind: q.Blind}
	item, err := itemOf(ctx, c.kept, &q, l)
	if err == nil {
		var a *LabelAgreement
		if a, err = agreement(ctx, c.kept, labelsOf(&q)); err == nil {
			out.Item, out.Agreement = *item, *a
			return c.json(http.StatusOK, out)
		}
	}
	if failed := c.kept.ReturnLabel(context.WithoutCancel(ctx), name, l.ID, by); failed != nil {
		s.o.Log.Warn("give back an item", "request_id", c.id, "error", failed)
	}
	return err
}

// itemOf reads the output and the question of an item.
func itemOf(ctx context.Context, kept store.ProjectStore, q *store.LabelQueue, l *store.Lease) (*LabelItem, error) {
	if l.Item.Event != "" {
		return itemOfEvent(ctx, kept, q, l)
	}
	result, err := kept.Result(ctx, q.Run, l.Item.Index)
	if err != nil {
		return nil, err
	}
	row, err := record.Decode(l.Item.Index, result.JSON)
	if err != nil {
		return nil, err
	}
	d, err := report.NewDetail(metaOfCells(), result.JSON, detailBytes)
	if err != nil {
		return nil, err
	}
	out := &LabelItem{Run: q.Run, Index: l.Item.Index, Assertion: l.Item.Assertion, Case: d.Case, Title: d.Title, Input: row.Input(), Prompt: d.Prompt, Vars: d.Vars,
		Cut: d.Cut, Criteria: []string{}}
	if d.Output != nil {
		out.Output = *d.Output
	}
	for _, v := range row.Verdicts() {
		if rowscan.NameOf(v.Assertion) != l.Item.Assertion {
			continue
		}
		out.Question, out.Instruction = v.Question(), v.Judged().Instruction
		for _, criterion := range v.Criteria() {
			out.Criteria = append(out.Criteria, criterion.Text)
		}
		if len(out.Criteria) == 0 {
			for _, criterion := range v.Judged().Criteria {
				out.Criteria = append(out.Criteria, criterion.Text)
			}
		}
		out.Criteria = withoutEmpty(out.Criteria)
		break
	}
	if q.Blind {
		return out, nil
	}
	for i := range d.Assertions {
		if d.Assertions[i].Name == l.Item.Assertion {
			out.Judge = &d.Assertions[i]
			break
		}
	}
	return out, nil
}

func (s *Server) returnLabel(c *call) error {
	by, _ := c.person()
	return c.done(c.kept.ReturnLabel(c.r.Context(), c.r.PathValue("queue"), c.r.PathValue("lease"), by))
}

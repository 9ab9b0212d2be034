package server

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// NewLabel is a person's verdict on an output or on one assertion.
type NewLabel struct {
	Evaluation string  `json:"evaluation,omitempty" doc:"The id of the evaluation that the label is about; or else run and index"`
	Run        string  `json:"run,omitempty" doc:"The id of the run"`
	Index      *int    `json:"index,omitempty" doc:"Of the row of the run, from 0"`
	Event      string  `json:"event,omitempty" doc:"The id of an event of traffic"`
	Stratum    string  `json:"stratum,omitempty" enum:"random,informative" doc:"How an event was chosen. Those that were drawn at random among the evaluated ones correct the rates of watches"`
	Assertion  string  `json:"assertion" doc:"The name of the assertion; empty for the whole output"`
	Label      string  `json:"label" enum:"pass,fail,unsure"`
	Note       string  `json:"note,omitempty" doc:"Why, up to 4000 characters"`
	Evidence   []Place `json:"evidence,omitempty" doc:"Parts of the output that the label rests on, up to 100"`
	Queue      string  `json:"queue,omitempty" doc:"The queue that gave the item"`
	Lease      string  `json:"lease,omitempty" doc:"The lease of the item, which ends. A lease that has ended is not a mistake"`
	By         string  `json:"by,omitempty" doc:"Whose label it is, if it is not the client's; needs the scope admin"`
}

// Place is a part of an output.
type Place struct {
	Start int `json:"start" doc:"UTF-16 offset, from 0, as in JavaScript"`
	End   int `json:"end" doc:"UTF-16 offset behind the last unit"`
}

// Label is a human label.
type Label struct {
	ID         string    `json:"id"`
	By         string    `json:"by" doc:"The id of the API key, or the name of the person"`
	Name       string    `json:"name,omitempty" doc:"The name of the API key"`
	Created    time.Time `json:"created"`
	Evaluation string    `json:"evaluation,omitempty"`
	Event      string    `json:"event,omitempty"`
	Run        string    `json:"run,omitempty"`
	Index      *int      `json:"index,omitempty" doc:"Of the row of the run"`
	Assertion  string    `json:"assertion" doc:"Empty for the whole output"`
	Label      string    `json:"label" enum:"pass,fail,unsure"`
	Note       string    `json:"note,omitempty"`
	Evidence   []Place   `json:"evidence,omitempty"`
	Case       string    `json:"case,omitempty" doc:"The id of the case"`
	OutputID   string    `json:"output_id,omitempty" doc:"Hash of the output, as proviso align has it"`
	Judge      string    `json:"judge,omitempty" doc:"The judge that had decided the assertion; only with the scope read"`
	Judged     string    `json:"judged,omitempty" enum:"pass,fail,error,skip" doc:"What it, or a check, had decided; only with the scope read"`
	Queue      string    `json:"queue,omitempty"`
	Stratum    string    `json:"stratum,omitempty" enum:"random,informative" doc:"How the queue chose the item"`
	Replaced   bool      `json:"replaced,omitempty" doc:"A later label of the same person on the same thing replaces this one"`
}

// LabelList is a page of labels.
type LabelList List[Label]

// labelFilters are the parameters that select labels.
var labelFilters = []param{
	{Name: "run", Kind: "string", Doc: "Only on rows of this run"}, {Name: "index", Kind: "integer", Doc: "Only on this row of the run"},
	{Name: "evaluation", Kind: "string", Doc: "Only on this evaluation"}, {Name: "event", Kind: "string", Doc: "Only on this event of traffic"}, {Name: "assertion", Kind: "string", Doc: "Only on this assertion; empty for whole outputs"},
	{Name: "by", Kind: "string", Doc: "Only of this person; me is the client"}, {Name: "queue", Kind: "string", Doc: "Only on items of this queue"}, since,
	{Name: "history", Kind: "string", Enum: []string{"yes"}, Doc: "yes shows replaced labels, too"},
}

func labelRoutes() []*route {
	return slices.Concat(labelFileRoutes(), []*route{
		{Method: http.MethodPost, Path: "/v1/labels", ID: "add-label", Scope: store.Labelling, Panel: store.Labelling, Status: http.StatusCreated, Handle: reads((*Server).postLabel),
			Summary: "Label an output, or the verdict on an assertion", Request: typeOf[NewLabel](), Response: typeOf[Label](),
			Detail: "It replaces the earlier label of the same person on the same thing, which is kept. Labels of others are not changed."},
		{Method: http.MethodGet, Path: "/v1/labels", ID: "list-labels", Scope: store.Read, Also: []store.Scope{store.Labelling}, Status: http.StatusOK, Handle: (*Server).listLabels,
			Summary: "List labels, newest first", Response: typeOf[LabelList](), Detail: "Without the scope read, only the client's own.",
			Params: slices.Concat(labelFilters, paging)},
		{Method: http.MethodDelete, Path: "/v1/labels/{label}", ID: "delete-label", Scope: store.Labelling, Panel: store.Labelling, Status: http.StatusNoContent, Handle: (*Server).deleteLabel,
			Summary: "Remove a label", Params: []param{in("label", "Its id")},
			Detail: "The label that it replaced counts again. Only admin removes labels of others."},
	})
}

// person returns the person whom the client labels for: that of its token, or its key.
func (c *call) person() (by, name string) {
	if c.as != "" {
		return c.as, c.as
	}
	return c.key.ID, c.key.Name
}

// labelOf converts a label to what the client may see.
func (c *call) labelOf(l *store.Label) Label {
	out := Label{ID: l.ID, By: l.By, Name: l.Name, Created: l.Created.UTC(), Evaluation: l.Evaluation, Event: l.Event, Run: l.Run, Assertion: l.Assertion,
		Label: string(l.Verdict), Note: l.Note, Case: l.Case, OutputID: l.OutputID, Queue: l.Queue, Stratum: l.Stratum, Replaced: !l.InForce}
	if l.Run != "" {
		out.Index = &l.Index
	}
	for _, s := range l.Evidence {
		out.Evidence = append(out.Evidence, Place(s))
	}
	if seesAll(c.key) {
		out.Judge, out.Judged = l.Judge, l.Judged
	}
	return out
}

func (s *Server) postLabel(c *call, in *NewLabel) error {
	if c.token != nil && in.Evaluation != c.token.Evaluation {
		return problem(codeForbidden, "the token is for labels of its evaluation")
	}
	n, err := s.readLabel(c, in)
	if err != nil {
		return err
	}
	n.ID, n.Created = store.NewID(store.LabelID, time.Now()), time.Now().UTC().Truncate(time.Microsecond)
	data, err := encode(c.labelOf(&store.Label{Label: n.Label, InForce: true}))
	if err != nil {
		return err
	}
	answer := store.Response{Status: http.StatusCreated, MediaType: mediaJSON, Location: "/v1/labels?" + url.Values{"by": {n.By}}.Encode(), Body: data}
	n.Reply = c.reply(s, answer)
	if _, err := c.kept.AddLabel(c.r.Context(), *n); err != nil {
		return err
	}
	c.claim = nil // the reply is stored
	return c.sendResponse(answer)
}

func (s *Server) listLabels(c *call) error {
	f, err := c.labelFilter()
	if err != nil {
		return err
	}
	return sendList(c, c.kept.ListLabels, f, c.labelOf)
}

// labelFilter reads the filter of a request for labels. Without the scope read, a client gets
// only its own labels.
func (c *call) labelFilter() (store.LabelFilter, error) {
	q := &c.q
	f := store.LabelFilter{Run: q.Get("run"), Evaluation: q.Get("evaluation"), Event: q.Get("event"), By: q.Get("by"), Queue: q.Get("queue"),
		Since: q.time("since"), History: choice(q, "history", "yes") != ""}
	if q.Has("index") {
		index, err := indexOf(q.Get("index"), proviso.Invalid)
		q.wrong(err)
		f.Index = &index
	}
	if q.Has("assertion") {
		name := q.Get("assertion")
		f.Assertion = &name
	}
	if by, _ := c.person(); f.By == "me" || !seesAll(c.key) {
		if f.By != "" && f.By != "me" && f.By != by {
			return f, problem(codeForbidden, "labels of others need a key with the scope read")
		}
		f.By = by
	}
	return f, q.err
}

func (s *Server) deleteLabel(c *call) error {
	by, _ := c.person()
	if c.key.Can(store.Admin) && c.as == "" {
		by = ""
	}
	if c.token != nil {
		l, err := c.kept.Label(c.r.Context(), c.r.PathValue("label"))
		if err != nil {
			return err
		}
		if l.Evaluation != c.token.Evaluation {
			return problem(codeForbidden, "the token is for labels of its evaluation")
		}
	}
	return c.done(c.kept.DeleteLabel(c.r.Context(), c.r.PathValue("label"), by))
}

// placesOf converts places for the store.
func placesOf(list []Place) []label.Span {
	var out []label.Span
	for _, p := range list {
		out = append(out, label.Span(p))
	}
	return out
}

func labelFileRoutes() []*route {
	return []*route{
		{Method: http.MethodGet, Path: "/v1/labels/file", ID: "export-labels", Scope: store.Read, Also: []store.Scope{store.Labelling}, Status: http.StatusOK, MediaType: mediaRun, Stream: true,
			Handle: (*Server).exportLabels, Summary: "The labels as a file that align and spade read", Params: labelFilters,
			Detail: "JSON Lines, the oldest first. Without the scope read, only the client's own labels, and not what the judge said."},
		{Method: http.MethodPost, Path: "/v1/labels/file", ID: "import-labels", Scope: store.Admin, Status: http.StatusOK, Asks: true, Handle: (*Server).importLabels,
			Summary: "Keep labels that were made elsewhere", Reads: []string{mediaRun}, Response: typeOf[store.LabelImport](),
			Detail: "The body is a file of labels as the route above has it. Each label keeps its id, person and time. Sending it again changes nothing."},
	}
}

// exportLabels sends labels, one per line, oldest first.
func (s *Server) exportLabels(c *call) error {
	f, err := c.labelFilter()
	if err != nil {
		return err
	}
	if err := s.transfer(c); err != nil { // the store returns the oldest last, so all are in memory
		return err
	}
	defer func() { <-s.pushes }()
	var list []*store.Label
	for l, err := range all(c.r.Context(), c.kept.ListLabels, f) {
		if err != nil {
			return err
		}
		list = append(list, l)
	}
	c.w.Header().Set("Content-Type", mediaRun)
	c.w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(c.w)
	var line []byte
	for _, stored := range slices.Backward(list) {
		l := &stored.Label
		if !seesAll(c.key) {
			l.Judge, l.Judged = "", ""
		}
		line = label.AppendLine(line[:0], l)
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer supports this
		if _, err := c.w.Write(line); err != nil {
			return nil // the client has disconnected
		}
	}
	return nil
}

func (s *Server) importLabels(c *call) error {
	if err := sentAs(mediaRun, c.r.Header); err != nil {
		return err
	}
	var lines []label.Line
	if err := c.compute(func() error {
		list, mistakes, err := label.ReadLines("body", bytes.NewReader(c.body))
		if err == nil && len(mistakes) > 0 {
			err = suiteProblem(mistakes, 0)
		}
		lines = list
		return err
	}); err != nil {
		return err
	}
	return c.send(store.ImportLabels(c.r.Context(), c.kept, lines, c.key.ID))
}

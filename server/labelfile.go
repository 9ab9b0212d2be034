package server

import (
	"bytes"
	"net/http"
	"slices"
	"time"

	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

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

// exportLabels sends labels as lines, the oldest first.
func (s *Server) exportLabels(c *call) error {
	f, err := c.labelFilter()
	if err != nil {
		return err
	}
	if err := s.transfer(c); err != nil { // the oldest come last from the store, so all are in memory
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
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer can
		if _, err := c.w.Write(line); err != nil {
			return nil // the client has disconnected
		}
	}
	return nil
}

// importLabels stores the labels of a file.
func (s *Server) importLabels(c *call) error {
	if err := sentAs(mediaRun, c.r.Header); err != nil {
		return err
	}
	var lines []label.Line
	if err := c.compute(func() error {
		list, mistakes, err := label.ReadLines("body", bytes.NewReader(c.body))
		if err == nil && len(mistakes) > 0 {
			err = invalid(placed(mistakes))
		}
		lines = list
		return err
	}); err != nil {
		return err
	}
	return c.send(store.ImportLabels(c.r.Context(), c.kept, lines, c.key.ID))
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// exportedText is a content as it is, or in base 64 if it is no text.
type exportedText struct {
	Text   string `json:"content,omitempty"`
	Base64 []byte `json:"content_base64,omitempty"`
}

func exportedOf(content []byte) exportedText {
	if utf8.Valid(content) {
		return exportedText{Text: string(content)}
	}
	return exportedText{Base64: content}
}

func (x *exporting) documents(w *lines) error {
	return eachPage(x.ctx, pagesBy(x.in.ListDocuments, store.DocumentFilter{}), func(name *store.Document) error {
		return eachPage(x.ctx, pagesBy(x.in.ListDocuments, store.DocumentFilter{Kind: name.Kind, Name: name.Name}), func(v *store.Document) error {
			d, err := x.in.Document(x.ctx, v.Kind, v.Name, v.Hash)
			if err != nil {
				return err
			}
			return w.add(struct {
				Kind       store.Kind `json:"kind"`
				Name       string     `json:"name"`
				Number     int        `json:"number"`
				Hash       string     `json:"hash"`
				Current    bool       `json:"current"`
				PromptHash string     `json:"prompt_hash,omitempty"`
				MediaType  string     `json:"media_type"`
				CreatedBy  string     `json:"created_by,omitempty"`
				Created    time.Time  `json:"created"`
				exportedText
			}{d.Kind, d.Name, d.Number, d.Hash, d.Current, d.PromptHash, d.MediaType, d.CreatedBy, d.Created, exportedOf(d.Content)})
		})
	})
}

func (x *exporting) runs(w *lines) error {
	return eachPage(x.ctx, pagesBy(x.in.ListRuns, store.RunFilter{}), func(r *store.Run) error {
		file := ""
		if r.Status.Ended() {
			file = path.Join("runs", fileName(r.ID)+".jsonl")
			if err := x.file(file, func(to io.Writer) error { return server.WriteRunFile(x.ctx, to, x.in, *r, versionName()) }); err != nil {
				return err
			}
		}
		return w.add(struct {
			ID        string     `json:"id"`
			Suite     string     `json:"suite"`
			Version   string     `json:"version,omitempty"`
			Status    string     `json:"status"`
			Error     string     `json:"error,omitempty"`
			Rows      int        `json:"rows"`
			CreatedBy string     `json:"created_by,omitempty"`
			Created   time.Time  `json:"created"`
			Started   *time.Time `json:"started"`
			Ended     *time.Time `json:"ended"`
			File      string     `json:"file,omitempty"`
		}{r.ID, r.Suite, r.Version, string(r.Status), r.Error, r.Rows, r.CreatedBy, r.Created, timeOrNil(r.Started), timeOrNil(r.Ended), file})
	})
}

// fileName is an id of a client as the name of a file: other bytes than letters, digits, _
// and - are written as % and their hexadecimal digits.
func fileName(id string) string {
	var b strings.Builder
	for i := range len(id) {
		if c := id[i]; c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

func (x *exporting) evaluations(w *lines) error {
	return eachPage(x.ctx, pagesBy(x.in.ListEvaluations, store.EvaluationFilter{}), func(listed *store.Evaluation) error {
		e, err := x.in.Evaluation(x.ctx, listed.ID)
		if err != nil {
			return err
		}
		return w.add(struct {
			ID        string          `json:"id"`
			Agent     string          `json:"agent,omitempty"`
			Set       string          `json:"assertion_set,omitempty"`
			Judge     string          `json:"judge,omitempty"`
			Status    string          `json:"status"`
			Score     *float64        `json:"score"`
			Passed    int             `json:"passed"`
			Failed    int             `json:"failed"`
			Errors    int             `json:"errors"`
			Skipped   int             `json:"skipped"`
			Cost      float64         `json:"cost"`
			CreatedBy string          `json:"created_by,omitempty"`
			Created   time.Time       `json:"created"`
			Request   json.RawMessage `json:"request,omitempty"`
			Response  json.RawMessage `json:"response,omitempty"`
		}{e.ID, e.Agent, e.Set, e.Judge, e.Status.String(), e.Score, e.Passed, e.Failed, e.Errors, e.Skipped, e.Cost, e.CreatedBy, e.Created, jsonOrText(e.Request), jsonOrText(e.Response)})
	})
}

// jsonOrText is stored JSON as it is, and anything else as a text.
func jsonOrText(data []byte) json.RawMessage {
	if len(data) == 0 || json.Valid(data) {
		return data
	}
	text, _ := json.Marshal(string(data)) // strings cannot fail
	return text
}

func (x *exporting) watches(w *lines) error {
	return eachPage(x.ctx, x.in.ListWatches, func(name *store.Watch) error {
		versions := func(ctx context.Context, p store.Page) (store.List[store.Watch], error) {
			return x.in.WatchVersions(ctx, name.Name, p)
		}
		return eachPage(x.ctx, versions, func(v *store.Watch) error {
			return w.add(struct {
				Name      string          `json:"name"`
				Number    int             `json:"number"`
				Hash      string          `json:"hash"`
				CreatedBy string          `json:"created_by,omitempty"`
				Created   time.Time       `json:"created"`
				Updated   time.Time       `json:"updated"`
				Content   json.RawMessage `json:"content"`
			}{v.Name, v.Number, v.Hash, v.CreatedBy, v.Created, v.Updated, jsonOrText(v.Content)})
		})
	})
}

func (x *exporting) alarms(w *lines) error {
	return eachPage(x.ctx, pagesBy(x.in.ListAlarms, store.AlarmFilter{}), func(m *store.Alarm) error {
		return w.add(struct {
			ID      string          `json:"id"`
			Watch   string          `json:"watch"`
			State   string          `json:"state"`
			Opened  time.Time       `json:"opened"`
			Closed  *time.Time      `json:"closed"`
			AckedBy string          `json:"acked_by,omitempty"`
			Alarm   json.RawMessage `json:"alarm"`
		}{m.ID, m.Watch, string(m.State), m.Opened, timeOrNil(m.Closed), m.AckedBy, jsonOrText(m.Body)})
	})
}

func (x *exporting) events(w *lines) error {
	return eachPage(x.ctx, pagesBy(x.in.ListEvents, store.EventFilter{Contents: true}), func(e *store.Event) error {
		o := e.Object()
		if !e.Kept {
			o.Delete("output") // it is not known
		}
		return w.raw(append(value.AppendJSON(nil, o), '\n'))
	})
}

func (x *exporting) feedback(w *lines) error {
	return eachPage(x.ctx, pagesBy(x.in.ListFeedback, store.FeedbackFilter{}), func(f *store.Feedback) error {
		return w.add(struct {
			Event   string    `json:"event,omitempty"`
			TraceID string    `json:"trace_id,omitempty"`
			User    string    `json:"user,omitempty"`
			Value   int       `json:"value"`
			Comment string    `json:"comment,omitempty"`
			Time    time.Time `json:"time"`
		}{f.Event, f.TraceID, f.User, f.Value, f.Comment, f.Time})
	})
}

func (x *exporting) verdicts(w *lines) error {
	return eachPage(x.ctx, x.in.ListWatches, func(watch *store.Watch) error {
		return eachPage(x.ctx, pagesBy(x.in.ListVerdicts, store.VerdictFilter{Watch: watch.Name}), func(v *store.WatchVerdict) error {
			return w.add(struct {
				Watch       string    `json:"watch"`
				Event       string    `json:"event"`
				Assertion   string    `json:"assertion"`
				Set         string    `json:"assertion_set"`
				Version     string    `json:"version,omitempty"`
				Judge       string    `json:"judge,omitempty"`
				Segment     string    `json:"segment,omitempty"`
				Time        time.Time `json:"time"`
				Probability float64   `json:"probability"`
				Status      string    `json:"status"`
				Score       *float64  `json:"score"`
				Reason      string    `json:"reason,omitempty"`
				Cost        float64   `json:"cost"`
			}{watch.Name, v.Event, v.Assertion, v.Set, v.Version, v.Judge, v.Segment, v.Time, v.Probability, v.Status.String(), v.Score, v.Reason, v.Cost})
		})
	})
}

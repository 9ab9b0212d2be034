package export

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

func (x *exporting) documents(w *lines) error {
	return store.Each(x.ctx, store.By(x.in.ListDocuments, store.DocumentFilter{}), func(name *store.Document) error {
		return store.Each(x.ctx, store.By(x.in.ListDocuments, store.DocumentFilter{Kind: name.Kind, Name: name.Name}), func(v *store.Document) error {
			d, err := x.in.Document(x.ctx, v.Kind, v.Name, v.Hash)
			if err != nil {
				return err
			}
			text, binary := string(d.Content), []byte(nil)
			if !utf8.Valid(d.Content) { // it is written in base64
				text, binary = "", d.Content
			}
			return w.add(Object{
				"kind", d.Kind, "name", d.Name, "number", d.Number, "hash", d.Hash, "current", d.Current,
				"prompt_hash,omitempty", d.PromptHash, "media_type", d.MediaType, "created_by,omitempty", d.CreatedBy,
				"created", d.Created, "content,omitempty", text, "content_base64,omitempty", binary,
			})
		})
	})
}

func (x *exporting) runs(w *lines) error {
	return store.Each(x.ctx, store.By(x.in.ListRuns, store.RunFilter{}), func(r *store.Run) error {
		file := ""
		if r.Status.Ended() {
			file = path.Join("runs", fileName(r.ID)+".jsonl")
			if err := x.file(file, func(to io.Writer) error { return x.o.WriteRun(x.ctx, to, x.in, *r) }); err != nil {
				return err
			}
		}
		return w.add(Object{
			"id", r.ID, "suite", r.Suite, "version,omitempty", r.Version, "status", string(r.Status), "error,omitempty", r.Error,
			"rows", r.Rows, "created_by,omitempty", r.CreatedBy, "created", r.Created, "started", timeOrNil(r.Started),
			"ended", timeOrNil(r.Ended), "file,omitempty", file,
		})
	})
}

// fileName encodes a client's id as a file name: bytes other than letters, digits, _ and -
// become % and their hexadecimal digits.
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
	return store.Each(x.ctx, store.By(x.in.ListEvaluations, store.EvaluationFilter{}), func(listed *store.Evaluation) error {
		e, err := x.in.Evaluation(x.ctx, listed.ID)
		if err != nil {
			return err
		}
		return w.add(Object{
			"id", e.ID, "agent,omitempty", e.Agent, "assertion_set,omitempty", e.Set, "judge,omitempty", e.Judge,
			"status", e.Status.String(), "score", e.Score, "passed", e.Passed, "failed", e.Failed, "errors", e.Errors,
			"skipped", e.Skipped, "cost", e.Cost, "created_by,omitempty", e.CreatedBy, "created", e.Created,
			"request,omitempty", jsonOrText(e.Request), "response,omitempty", jsonOrText(e.Response),
		})
	})
}

// jsonOrText returns stored JSON unchanged, and anything else as a JSON string.
func jsonOrText(data []byte) json.RawMessage {
	if len(data) == 0 || json.Valid(data) {
		return data
	}
	text, _ := json.Marshal(string(data)) // strings cannot fail
	return text
}

func (x *exporting) watches(w *lines) error {
	return store.Each(x.ctx, x.in.ListWatches, func(name *store.Watch) error {
		versions := func(ctx context.Context, p store.Page) (store.List[store.Watch], error) {
			return x.in.WatchVersions(ctx, name.Name, p)
		}
		return store.Each(x.ctx, versions, func(v *store.Watch) error {
			return w.add(Object{
				"name", v.Name, "number", v.Number, "hash", v.Hash, "created_by,omitempty", v.CreatedBy, "created", v.Created,
				"updated", v.Updated, "content", jsonOrText(v.Content),
			})
		})
	})
}

func (x *exporting) alarms(w *lines) error {
	return store.Each(x.ctx, store.By(x.in.ListAlarms, store.AlarmFilter{}), func(m *store.Alarm) error {
		return w.add(Object{
			"id", m.ID, "watch", m.Watch, "state", string(m.State), "opened", m.Opened, "closed", timeOrNil(m.Closed),
			"acked_by,omitempty", m.Ack.By, "ack_note,omitempty", m.Ack.Note, "alarm", jsonOrText(m.Body),
		})
	})
}

func (x *exporting) events(w *lines) error {
	return store.Each(x.ctx, store.By(x.in.ListEvents, store.EventFilter{Contents: true}), func(e *store.Event) error {
		o := e.Object()
		if !e.Kept {
			o.Delete("output") // it is unknown
		}
		return w.raw(append(value.AppendJSON(nil, o), '\n'))
	})
}

func (x *exporting) feedback(w *lines) error {
	return store.Each(x.ctx, store.By(x.in.ListFeedback, store.FeedbackFilter{}), func(f *store.Feedback) error {
		return w.add(Object{
			"event,omitempty", f.Event, "trace_id,omitempty", f.TraceID, "user,omitempty", f.User, "value", f.Value,
			"comment,omitempty", f.Comment, "time", f.Time,
		})
	})
}

func (x *exporting) verdicts(w *lines) error {
	return store.Each(x.ctx, x.in.ListWatches, func(watch *store.Watch) error {
		return store.Each(x.ctx, store.By(x.in.ListVerdicts, store.VerdictFilter{Watch: watch.Name}), func(v *store.WatchVerdict) error {
			return w.add(Object{
				"watch", watch.Name, "event", v.Event, "assertion", v.Assertion, "assertion_set", v.Set,
				"version,omitempty", v.Version, "judge,omitempty", v.Judge, "segment,omitempty", v.Segment, "time", v.Time,
				"probability", v.Probability, "status", v.Status.String(), "score", v.Score, "reason,omitempty", v.Reason,
				"cost", v.Cost,
			})
		})
	})
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

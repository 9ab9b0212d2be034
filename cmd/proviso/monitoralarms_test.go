package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestMonitorAlarms: a list shows open alarms with their reasons, a single alarm shows all details,
// and nothing that a server sends controls the terminal.
func TestMonitorAlarms(t *testing.T) {
	t.Parallel()
	alarm := func(id, state string) string {
		return fmt.Sprintf(`{"id": %q, "watch": "tone", "kind": "agent", "assertion": "ticket", "state": %q, "opened": "2026-03-10T14:53:07Z", "closed": null,
			"reason": "ticket fails in 20.7 %%\u001b[2J", "since": {"low": "2026-03-10T12:51:40Z", "high": "2026-03-10T14:37:02Z"},
			"changed": [{"what": "model", "from": "a", "to": "b", "at": "2026-03-10T14:00:04Z"}], "examples": ["e2", "e1"], "acked_by": "anna\n\tforged", "acked_at": "2026-03-10T15:00:00Z"}`, id, state)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "GET /v1/alarms":
			if r.URL.Query().Get("watch") == "none" {
				fmt.Fprint(w, `{"items": []}`)
				return
			}
			if r.URL.Query().Get("after") == "" {
				fmt.Fprintf(w, `{"items": [%s, %s], "next": "x"}`, alarm("alarm_1", "open"), alarm("alarm_2", "closed"))
				return
			}
			fmt.Fprintf(w, `{"items": [%s]}`, alarm("alarm_3", "acked"))
		case "GET /v1/alarms/alarm_1":
			fmt.Fprint(w, alarm("alarm_1", "acked"))
		case "POST /v1/alarms/alarm_1/ack":
			var sent struct{ Note string }
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil && err != io.EOF {
				w.WriteHeader(http.StatusBadRequest)
			}
			fmt.Fprint(w, strings.Replace(alarm("alarm_1", "acked"), "{", fmt.Sprintf(`{"ack_note": %q, `, sent.Note), 1))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer s.Close()
	for _, c := range []struct {
		args string
		code int
		want []string
		not  string
	}{
		{"alarms", exitFailed, []string{"alarm_1  tone   agent  open ", "alarm_3  tone   agent  acked by anna forged", "2026-03-10 14:53  ticket fails in 20.7 %"}, "alarm_2"},
		{"alarms --state closed", exitOK, []string{"alarm_2"}, "alarm_1"},
		{"alarms --state all --limit 2", exitFailed, []string{"alarm_1", "alarm_2"}, "alarm_3"},
		{"alarms --watch none", exitOK, []string{"there are no such alarms"}, "alarm_"},
		{"alarms --format json", exitFailed, []string{`"id":"alarm_3"`}, "alarm_2"},
		{"alarms alarm_1", exitFailed, []string{"alarm_1 of tone\n", "still open", "began between 2026-03-10 12:51 and 2026-03-10 14:37", "changed at 2026-03-10 14:00: model from a to b", "examples: e2, e1", "acknowledged by anna forged at 2026-03-10 15:00"}, "\x1b"},
		{"alarms alarm_1 --state all", exitUsage, nil, "alarm_1"},
		{"alarms --state loud", exitUsage, nil, "alarm_1"},
		{"ack alarm_1", exitOK, []string{"acknowledged by anna forged"}, "\x1b"},
		{"ack alarm_1 --note rolled-back", exitOK, []string{"acknowledged by anna forged at 2026-03-10 15:00: rolled-back\n"}, "\x1b"},
		{"ack", exitUsage, nil, "alarm_1"},
	} {
		var out, errs bytes.Buffer
		code := execute(append([]string{"monitor"}, append(strings.Fields(c.args), "--server", s.URL)...), stdio{in: strings.NewReader(""), out: &out, err: &errs})
		if code != c.code || strings.Contains(out.String(), c.not) {
			t.Errorf("%s: exit code %d\n%s%s", c.args, code, out.String(), errs.String())
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is missing in\n%s%s", c.args, want, out.String(), errs.String())
			}
		}
	}
}

package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
	"github.com/proviso-eval/proviso/store/storetest"
)

// eventNamed returns an event whose texts are kept.
func eventNamed(id, output string) store.NewEvent {
	return store.NewEvent{KeepContent: true, Event: ingest.Event{ID: id, Agent: "support", Time: time.Now(), Input: "question", Output: output, Prompt: "prompt " + output, User: "eve"}}
}

// openWith opens a database with a content key.
func openWith(t *testing.T, path, key string) (*sqlite.DB, error) {
	t.Helper()
	d, err := sqlite.Open(t.Context(), path, sqlite.Options{ContentKey: []byte(key)})
	if err == nil {
		t.Cleanup(func() { d.Close() })
	}
	return d, err
}

// hasCode reports whether an error has a code and a text.
func hasCode(err error, code, text string) bool {
	var e *proviso.Error
	return errors.As(err, &e) && e.Code == code && strings.Contains(err.Error(), text)
}

const secretText = "the card number is 4929"

// TestSealedContents: texts are not in the file, and only the right key reads them.
func TestSealedContents(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "proviso.db")
	key := strings.Repeat("k", 32)
	if _, err := openWith(t, path, "short"); !hasCode(err, proviso.Invalid, "fewer than 32") {
		t.Errorf("a short key: %v", err)
	}
	plain, err := openWith(t, path, "")
	if err != nil {
		t.Fatal(err)
	}
	in := plain.In(store.DefaultProject)
	if _, err := in.AddEvents(t.Context(), []store.NewEvent{eventNamed("before", "in the clear")}); err != nil {
		t.Fatal(err)
	}
	plain.Close()

	d, err := openWith(t, path, key)
	if err != nil {
		t.Fatal(err)
	}
	in = d.In(store.DefaultProject)
	if _, err := in.AddEvents(t.Context(), []store.NewEvent{eventNamed("a", secretText), eventNamed("b", "other")}); err != nil {
		t.Fatal(err)
	}
	if _, err := in.AddFeedback(t.Context(), ingest.Feedback{Event: "a", Value: 1, Time: time.Now(), Comment: secretText}); err != nil {
		t.Fatal(err)
	}
	if _, err := in.AddSpans(t.Context(), "k", []store.SpanPart{{Trace: "t", Spans: 1, Content: []byte(secretText)}}, store.TraceLimits{Life: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := in.PutWatch(t.Context(), store.NewWatch{Name: "w", Content: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if _, err := in.EnqueueEvents(t.Context(), "w", []store.Backfill{{Event: "a", Probability: 1}}); err != nil {
		t.Fatal(err)
	}
	leases, err := in.LeaseEvents(t.Context(), store.LeaseEvents{Watch: "w", Limit: 1, Lease: time.Minute})
	if err != nil || len(leases) != 1 {
		t.Fatal(leases, err)
	}
	if _, err := in.SettleEvents(t.Context(), "w", []store.EventResult{{EventLease: leases[0], Error: "the judge said: " + secretText}}); err != nil {
		t.Fatal(err)
	}
	check := func(in store.ProjectStore) {
		t.Helper()
		if h, err := in.WatchHealth(t.Context(), "w", time.Now()); err != nil || h.Error != "the judge said: "+secretText {
			t.Errorf("%+v, %v", h, err)
		}
		for id, want := range map[string]string{"before": "in the clear", "a": secretText} {
			if e, err := in.Event(t.Context(), id); err != nil || e.Output != want {
				t.Errorf("%s: %q, %v", id, e.Output, err)
			}
		}
		if l, err := in.ListFeedback(t.Context(), store.FeedbackFilter{}, store.Page{}); err != nil || l.Items[0].Comment != secretText {
			t.Errorf("%+v, %v", l, err)
		}
		if l, err := in.ListPrompts(t.Context(), "support", store.Page{}); err != nil || l.Items[1].Text != "prompt "+secretText {
			t.Errorf("%+v, %v", l, err)
		}
	}
	check(in)
	d.Close()
	for _, name := range []string{path, path + "-wal"} {
		if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte("4929")) {
			t.Errorf("%s has the text", name)
		}
	}
	if _, err := openWith(t, path, strings.Repeat("x", 32)); !hasCode(err, proviso.Refused, "this is not the content key with which the texts of the database are encrypted") {
		t.Errorf("a wrong key: %v", err)
	}
	if d, err = openWith(t, path, key); err != nil {
		t.Fatal(err)
	}
	check(d.In(store.DefaultProject))
	d.Close()

	if d, err = openWith(t, path, ""); err != nil { // such as `proviso key`
		t.Fatal(err)
	}
	in = d.In(store.DefaultProject)
	if _, err := in.Event(t.Context(), "a"); !hasCode(err, proviso.Unavailable, "start it with --content-key-env") {
		t.Errorf("without the key: %v", err)
	}
	if _, err := in.AddEvents(t.Context(), []store.NewEvent{eventNamed("c", "x")}); !hasCode(err, proviso.Unavailable, "this process has no key for them") {
		t.Errorf("without the key: %v", err)
	}
	if _, err := in.AddSpans(t.Context(), "k", []store.SpanPart{{Trace: "u", Spans: 1}}, store.TraceLimits{Life: time.Hour}); !hasCode(err, proviso.Unavailable, "this process has no key for them") {
		t.Errorf("spans without the key: %v", err)
	}
	if l, err := in.ListEvents(t.Context(), store.EventFilter{}, store.Page{}); err != nil || len(l.Items) != 3 {
		t.Errorf("without texts: %v, %v", l, err)
	}
}

// TestMovedContents: a sealed text belongs to its event.
func TestMovedContents(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "proviso.db")
	d, err := openWith(t, path, strings.Repeat("k", 32))
	if err != nil {
		t.Fatal(err)
	}
	in := d.In(store.DefaultProject)
	if _, err := in.AddEvents(t.Context(), []store.NewEvent{eventNamed("a", "one"), eventNamed("b", "two")}); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "UPDATE event_content SET body = (SELECT body FROM event_content WHERE event = 1) WHERE event = 2")
	if _, err := in.Event(t.Context(), "b"); err == nil || !strings.Contains(err.Error(), "an encrypted text was changed") {
		t.Errorf("%v", err)
	}
}

// TestForgottenIsOverwritten: data removed for a user is nowhere in the file afterwards, not
// even in the unused parts of pages that were split or merged while the tables grew.
func TestForgottenIsOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "proviso.db")
	d := open(t, path, storetest.Options{})
	in := d.In(store.DefaultProject)
	if _, _, err := in.PutWatch(t.Context(), store.NewWatch{Name: "w", Content: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	const all = 2000
	forgotten := 0
	for i := 0; i < all; {
		var events []store.NewEvent
		for ; len(events) < 50; i++ {
			// Ids are in random order: their index splits everywhere.
			e := eventNamed(fmt.Sprintf("%016x-EVID", uint64(i+1)*0x9e3779b97f4a7c15), fmt.Sprint("SECRETTEXT", i))
			e.User, e.Conversation, e.TraceID = "ben@example.com", fmt.Sprint("conv-of-ben-", i), fmt.Sprint("trace-of-ben-", i)
			e.Jobs = []store.EventJob{{Watch: "w", Probability: 0.5}}
			if i%4 != 0 {
				e.ID, e.User, e.Conversation, e.TraceID = e.ID+"-EVE", "eve@example.com", fmt.Sprint("conv-of-eve-", i), fmt.Sprint("trace-of-eve-", i)
				forgotten++
			}
			events = append(events, e)
		}
		if _, err := in.AddEvents(t.Context(), events); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := in.ForgetUser(t.Context(), "eve@example.com"); err != nil || n.Events != forgotten {
		t.Fatal(n, err)
	}
	wantsNone := func(when string) {
		t.Helper()
		for _, name := range []string{path, path + "-wal"} {
			data, err := os.ReadFile(name)
			if err != nil {
				continue
			}
			for _, secret := range []string{"eve@example", "conv-of-eve", "EVID-EVE", "trace-of-eve"} {
				if n := bytes.Count(data, []byte(secret)); n > 0 {
					t.Errorf("%s %s has %d times %s, first in page %d", when, filepath.Ext(name), n, secret, 1+bytes.Index(data, []byte(secret))/4096)
				}
			}
		}
	}
	wantsNone("open:")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	wantsNone("closed:")
	if data, err := os.ReadFile(path); err != nil || !bytes.Contains(data, []byte("ben@example")) {
		t.Error("the file does not hold what stays", err)
	}
}

// senderOf names the database to which this process sends events until it is killed.
const senderOf = "PROVISO_TEST_SENDER"

// sender adds batches of events, several at a time, and prints the number of each that was
// accepted.
func sender(path string) error {
	d, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		return err
	}
	in := d.In(store.DefaultProject)
	failed := make(chan error)
	for g := range 4 {
		go func() {
			for i := 0; ; i++ {
				var events []store.NewEvent
				for k := range 20 {
					e := eventNamed(fmt.Sprintf("%d-%d-%d", g, i, k), strings.Repeat("x", 500))
					e.Jobs = []store.EventJob{{Watch: "w", Probability: 0.5}}
					events = append(events, e)
				}
				added, err := in.AddEvents(context.Background(), events)
				if err != nil || added.Accepted != len(events) {
					failed <- fmt.Errorf("%+v, %w", added, err)
					return
				}
				fmt.Printf("%d-%d\n", g, i)
			}
		}()
	}
	return <-failed
}

// TestKillSender kills a process while it stores events: every accepted event is there with its
// texts and job, and the counts match the events.
func TestKillSender(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "proviso.db")
	d := open(t, path, storetest.Options{})
	if _, _, err := d.In(store.DefaultProject).PutWatch(t.Context(), store.NewWatch{Name: "w", Content: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), senderOf+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var accepted []string
	var once sync.Once
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if accepted = append(accepted, lines.Text()); len(accepted) >= 100 {
			once.Do(func() { cmd.Process.Kill() })
		}
	}
	cmd.Wait()
	d = open(t, path, storetest.Options{})
	defer d.Close()
	in := d.In(store.DefaultProject)
	for _, batch := range accepted {
		for k := range 20 {
			e, err := in.Event(t.Context(), fmt.Sprintf("%s-%d", batch, k))
			if err != nil || len(e.Output) != 500 {
				t.Fatalf("the batch %s was accepted, and event %d is %q: %v", batch, k, e.Output, err)
			}
		}
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var events, texts, jobs, ofAgent, ofHour int
	if err := db.QueryRow(`SELECT (SELECT count(*) FROM event), (SELECT count(*) FROM event_content), (SELECT count(*) FROM watch_job),
		(SELECT events FROM traffic_agent), (SELECT sum(events) FROM traffic_hour WHERE dimension = '')`).Scan(&events, &texts, &jobs, &ofAgent, &ofHour); err != nil {
		t.Fatal(err)
	}
	if events < 20*len(accepted) || events%20 != 0 || texts != events || jobs != events || ofAgent != events || ofHour != events {
		t.Errorf("%d events of at least %d, %d texts, %d jobs, counted %d and %d", events, 20*len(accepted), texts, jobs, ofAgent, ofHour)
	}
}

// TestSealedReasons: the reason of a verdict, which may quote an output, is sealed like the
// output.
func TestSealedReasons(t *testing.T) {
	t.Parallel()
	path, key := filepath.Join(t.TempDir(), "proviso.db"), strings.Repeat("k", 32)
	d, err := openWith(t, path, key)
	if err != nil {
		t.Fatal(err)
	}
	in := d.In(store.DefaultProject)
	_, _, err = in.PutWatch(t.Context(), store.NewWatch{Name: "w", Content: []byte("{}")})
	_, failed := in.EnqueueEvents(t.Context(), "w", []store.Backfill{{Event: "a", Probability: 1}})
	leases, missing := in.LeaseEvents(t.Context(), store.LeaseEvents{Watch: "w", Limit: 1, Lease: time.Minute})
	if err = errors.Join(err, failed, missing); err != nil || len(leases) != 1 {
		t.Fatal(leases, err)
	}
	v := store.WatchVerdict{Event: "a", Assertion: "tone", Time: time.Now(), Probability: 1, Status: proviso.Fail, Reason: "it says 4929 1234"}
	if _, err := in.SettleEvents(t.Context(), "w", []store.EventResult{{EventLease: leases[0], Verdicts: []store.WatchVerdict{v}}}); err != nil {
		t.Fatal(err)
	}
	d.Close()
	for _, name := range []string{path, path + "-wal"} {
		if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte("4929")) {
			t.Errorf("%s has the reason", name)
		}
	}
	for key, want := range map[string]string{key: v.Reason, "": ""} {
		if d, err = openWith(t, path, key); err != nil {
			t.Fatal(err)
		}
		list, err := d.In(store.DefaultProject).Observations(t.Context(), "w", 0, 10)
		if err != nil || len(list) != 1 || list[0].Reason != want {
			t.Errorf("%+v, %v", list, err)
		}
		d.Close()
	}
}

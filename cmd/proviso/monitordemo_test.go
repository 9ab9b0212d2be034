package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/value"
)

// demoChange is when the vendor of the model in examples/monitor replaces it.
var demoChange = time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC)

// demoEvents generates the day of examples/monitor: an agent gets a harmless release in the
// morning, and its model is replaced at demoChange. After that, the agent forgets the ticket number
// four times as often.
func demoEvents() []byte {
	r := rand.New(rand.NewPCG(2026, 310))
	questions := []string{"Where is my order?", "The handlebar is loose.", "Can I change the address?", "The wrong tyre came.", "How do I return a helmet?", "Wo ist meine Bestellung?"}
	answers := []string{
		"It left our shop yesterday and arrives within two days.", "Please bring it in, we tighten it while you wait.", "We have changed it for you.",
		"We are sorry. The right one is on its way.", "Send it back within 30 days with the label in the parcel.", "Sie ist seit gestern unterwegs.",
	}
	var b bytes.Buffer
	ticket := 1000
	for at := demoChange.Truncate(24 * time.Hour); at.Before(demoChange.Truncate(24 * time.Hour).Add(24 * time.Hour)); ticket++ {
		hour := float64(at.Hour()) + float64(at.Minute())/60
		perHour := 60 * (1 - .6*math.Cos(2*math.Pi*(hour-2)/24))
		i := r.IntN(len(questions))
		e := ingest.Event{ID: fmt.Sprintf("e%d", ticket), Agent: "support", Time: at, Input: questions[i], Output: answers[i], Version: "v12", Model: "small-2026-01", Segment: map[string]string{"lang": "en"}}
		if i == len(questions)-1 {
			e.Segment["lang"] = "de"
		}
		if r.IntN(4) == 0 {
			e.Conversation = fmt.Sprintf("c%d", ticket-r.IntN(3))
		}
		if at.Hour() >= 6 {
			e.Version = "v13"
		}
		forgets := .05
		if !at.Before(demoChange) {
			e.Model, forgets = "small-2026-03", .2
		}
		if r.Float64() >= forgets {
			e.Output += fmt.Sprintf(" #%d", ticket)
		}
		if r.Float64() < .01 {
			e.Output = "Of course we refund you. " + e.Output
		}
		b.Write(value.AppendJSON(nil, e.Object()))
		b.WriteByte('\n')
		at = at.Add(time.Duration(r.ExpFloat64() / perHour * float64(time.Hour))).Truncate(time.Second)
	}
	return b.Bytes()
}

// TestMonitorDemo compares the events of examples/monitor with generated ones (-update-demo writes
// them), and its alarm with the true change.
func TestMonitorDemo(t *testing.T) {
	dir := filepath.Join(repository, "examples", "monitor")
	want := demoEvents()
	if *updateDemo {
		if err := os.WriteFile(filepath.Join(dir, "events.jsonl"), want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "events.jsonl")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("examples/monitor/events.jsonl is not what the test makes: run go test ./cmd/proviso -run TestMonitorDemo -update-demo (%v)", err)
	}
	var out, errs bytes.Buffer
	code := execute([]string{"monitor", "replay", filepath.Join(dir, "events.jsonl"), "--watch", filepath.Join(dir, "watch.yaml"), "--format", "json"}, stdio{in: strings.NewReader(""), out: &out, err: &errs})
	var got struct {
		Alarms []monitor.Alarm
		Charts []monitor.ChartView
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || code != exitOK || len(got.Alarms) != 1 {
		t.Fatalf("exit %d, %v, %d alarms\n%s%s", code, err, len(got.Alarms), out.String(), errs.String())
	}
	a := got.Alarms[0]
	if a.Assertion != "ticket" || a.Since.Low.After(demoChange) || a.Since.High.Before(demoChange) || len(a.Changed) != 1 || a.Changed[0].To != "small-2026-03" {
		t.Errorf("%+v", a)
	}
	for _, c := range got.Charts {
		if c.N == 0 || (c.SmallestChange == nil) != (c.State == "learning") {
			t.Errorf("%+v", c)
		}
	}
}

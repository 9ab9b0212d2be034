package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// tracedAgent is the program tracedagent of scripts: an agent that looks up an order, mails the
// customer, and reports spans about that. Words in the prompt change it: silent sends no spans,
// open ends no root, refund makes a refund.
func tracedAgent() {
	prompt := os.Args[1]
	if err := sendSpans(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("TRACEPARENT"), prompt); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("order A1 has shipped")
}

// sendSpans sends the spans of an answer to prompt.
func sendSpans(endpoint, traceparent, prompt string) error {
	parts := strings.Split(traceparent, "-")
	if strings.Contains(prompt, "silent") {
		return nil
	}
	if len(parts) != 4 {
		return fmt.Errorf("the traceparent is %q", traceparent)
	}
	type attribute map[string]any
	span := func(id, parent, name string, from, to int, code int, attributes map[string]string) map[string]any {
		at := func(ms int) string {
			return strconv.FormatInt(time.Date(2026, 1, 2, 3, 4, 5, ms*1e6, time.UTC).UnixNano(), 10)
		}
		s := map[string]any{
			"traceId": parts[1], "spanId": id, "parentSpanId": parent, "name": name, "startTimeUnixNano": at(from),
			"status": map[string]any{"code": code, "message": map[int]string{2: "mailbox full"}[code]},
		}
		if to > 0 {
			s["endTimeUnixNano"] = at(to)
		}
		list := []attribute{}
		for key, v := range attributes {
			list = append(list, attribute{"key": key, "value": map[string]string{"stringValue": v}})
		}
		s["attributes"] = list
		return s
	}
	tool := func(id, name, args string, from, to, code int) map[string]any {
		return span(id, "00000000000000aa", "execute_tool "+name, from, to, code, map[string]string{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.arguments": args, "secret.token": "hunter2",
		})
	}
	end := 900
	if strings.Contains(prompt, "open") {
		end = 0
	}
	second := "mail"
	if strings.Contains(prompt, "refund") {
		second = "refund"
	}
	spans := []any{
		span("00000000000000aa", parts[2], "invoke_agent", 0, end, 0, map[string]string{"gen_ai.operation.name": "invoke_agent"}),
		tool("00000000000000bb", "search_orders", `{"id":"A1","limit":10}`, 10, 200, 0),
		tool("00000000000000cc", second, `{}`, 200, 800, 2),
	}
	body, err := json.Marshal(map[string]any{"resourceSpans": []any{map[string]any{"scopeSpans": []any{map[string]any{"spans": spans}}}}})
	if err != nil {
		return err
	}
	resp, err := http.Post(endpoint, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		return fmt.Errorf("the receiver answers %s", resp.Status)
	}
	return nil
}

// traceServer is an agent behind HTTP, and a collector for exported spans and verdicts.
type traceServer struct {
	endpoint string // of the receiver

	mu  sync.Mutex
	got map[string]string // bodies by path
	key string            // key that the collector received
}

func (s *traceServer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	if req.URL.Path == "/ask" {
		if err := sendSpans(s.endpoint, req.Header.Get("Traceparent"), string(body)); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, `{"output":"order A1 has shipped"}`)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got[req.URL.Path] += string(body)
	s.key = req.Header.Get("Api-Key")
}

// traceServerCommand is `traceserver FILE`: it starts an agent with a collector, and
// replaces AGENT and COLLECTOR in FILE with their addresses, and PORT with a free port.
func traceServerCommand(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	ts.Check(l.Close())
	s := &traceServer{endpoint: "http://127.0.0.1:" + port + "/v1/traces", got: map[string]string{}}
	server := httptest.NewServer(s)
	ts.Defer(server.Close)
	text := strings.NewReplacer("AGENT", server.URL+"/ask", "COLLECTOR", server.URL, "PORT", port).Replace(ts.ReadFile(args[0]))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
	traceServers.Store(ts, s)
	ts.Defer(func() { traceServers.Delete(ts) })
}

// traceServers are the servers of running scripts.
var traceServers sync.Map

// collected is `[!] collected PATH TEXT`: the body that the collector received at PATH
// contains TEXT.
func collected(ts *testscript.TestScript, neg bool, args []string) {
	v, _ := traceServers.Load(ts)
	s := v.(*traceServer)
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(s.got[args[0]], args[1]) == neg || s.key != "k-123" {
		ts.Fatalf("at %s the collector got %q with the key %q", args[0], s.got[args[0]], s.key)
	}
}

// takenPort is `takenport FILE`: it listens on a port and replaces PORT in FILE with the port
// number.
func takenPort(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	text := strings.ReplaceAll(ts.ReadFile(args[0]), "PORT", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

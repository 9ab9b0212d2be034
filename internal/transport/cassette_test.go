package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
)

// shelf keeps files in memory.
type shelf struct {
	mu    sync.Mutex
	files map[string][]byte
	full  bool
}

func newShelf() *shelf { return &shelf{files: map[string][]byte{}} }

func (*shelf) Key(parts ...string) string { return fmt.Sprintf("%q", parts) }
func (*shelf) Path(key string) string     { return "cassette/" + fmt.Sprint(len(key)) + ".json" }
func (s *shelf) Write(k string, d []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return errors.New("no space left on device")
	}
	s.files[k] = bytes.Clone(d)
	return nil
}

func (s *shelf) Keys() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, k := range slices.Sorted(maps.Keys(s.files)) {
			if !yield(k, nil) {
				return
			}
		}
	}
}

func (s *shelf) Read(k string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := s.files[k]; ok {
		return d, nil
	}
	return nil, fs.ErrNotExist
}

// all is everything that is stored, and the parts of the keys.
func (s *shelf) all() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(s.files)) {
		b.WriteString(k + "\n" + string(s.files[k]))
	}
	return b.String()
}

func through(c *transport.Cassette) *transport.Transport {
	return transport.New(transport.Options{Wrap: c.Wrap})
}

func recordOn(s *shelf, o transport.CassetteOptions) *transport.Transport {
	return through(transport.Record(s, o))
}

func replayFrom(s *shelf, o transport.CassetteOptions) *transport.Transport {
	return through(transport.Replay(s, o))
}

// answer is the result of a request.
type answer struct {
	status  int
	body    string
	header  http.Header
	latency time.Duration
}

func post(ctx context.Context, tr http.RoundTripper, address, body string, header ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	latency, _ := transport.RecordedLatency(resp)
	return answer{resp.StatusCode, string(data), resp.Header, latency}, err
}

func TestRecordAndReplay(t *testing.T) {
	t.Parallel()
	big := `{"n":12345678901234567890,"b":null,"a":"<x> \ud800"}`
	bodies := map[string]string{
		"/json": big, "/null": "null", "/text": "plain\nwords", "/empty": "", "/bytes": "\xff\xfe\x00", "/string": `"quoted"`,
	}
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Other", "1")
		w.Header().Set("Content-Type", "application/json")
		time.Sleep(2 * time.Millisecond)
		io.WriteString(w, bodies[r.URL.Path])
	})
	s := newShelf()
	live, replay := recordOn(s, transport.CassetteOptions{}), replayFrom(s, transport.CassetteOptions{})
	for path, want := range bodies {
		for _, ask := range []string{`{"q": 1}`, "text", "\xff", ""} {
			first, err := post(t.Context(), live, srv.URL+path, ask)
			if err != nil || first.body != want || first.latency < 2*time.Millisecond {
				t.Errorf("%s recording: %+v, %v", path, first, err)
			}
			again, err := post(t.Context(), replay, srv.URL+path, ask)
			if err != nil || again.body != want || again.latency != first.latency || again.status != 200 {
				t.Errorf("%s replaying: %+v, %v; recorded %+v", path, again, err, first)
			}
			if again.header.Get("Content-Type") != "application/json" || again.header.Get("X-Other") != "" {
				t.Errorf("%s has the headers %v", path, again.header)
			}
		}
	}
	got, err := post(t.Context(), replay, srv.URL+"/json", ` {"q":1 } `)
	if err != nil || got.body != big {
		t.Errorf("white space tells requests apart: %v", err)
	}
}

func TestLiveHasNoRecordedLatency(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header()[" recorded latency"] = []string{"5"} })
	if got, err := post(t.Context(), transport.New(transport.Options{}), srv.URL, ""); got.latency != 0 {
		t.Errorf("a server sets the recorded latency: %+v, %v", got, err)
	}
}

func TestSamples(t *testing.T) {
	t.Parallel()
	n := 0
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { n++; fmt.Fprint(w, n) })
	s := newShelf()
	live, replay := recordOn(s, transport.CassetteOptions{}), replayFrom(s, transport.CassetteOptions{})
	samples := []proviso.Sample{{}, {Repeat: 1}, {Vote: 1}, {Repair: 1}}
	for _, sample := range samples {
		if _, err := post(transport.WithSample(t.Context(), sample), live, srv.URL, "q"); err != nil {
			t.Fatal(err)
		}
	}
	for i, sample := range samples {
		got, err := post(transport.WithSample(t.Context(), sample), replay, srv.URL, "q")
		if err != nil || got.body != fmt.Sprint(i+1) {
			t.Errorf("%+v: %q, %v", sample, got.body, err)
		}
	}
	inner := transport.WithSample(transport.WithSample(t.Context(), proviso.Sample{Vote: 1}), proviso.Sample{})
	if got, err := post(inner, replay, srv.URL, "q"); got.body != "1" {
		t.Errorf("the inner sample is not what counts: %q, %v", got.body, err)
	}
	_, err := post(transport.WithSample(t.Context(), proviso.Sample{Repeat: 7}), replay, srv.URL, "q")
	wantCode(t, err, proviso.NotFound)
}

// TestNoSecrets looks for every secret of a request in all stored data.
func TestNoSecrets(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, `{"echo":%q,"auth":%q,"url":%q,"mail":"a@example.com","n":5551234}`, body, r.Header.Get("Authorization"), r.URL)
	})
	o := transport.CassetteOptions{Redact: []*regexp.Regexp{regexp.MustCompile(`[a-z]+@example\.com`), regexp.MustCompile(`555\d+`), regexp.MustCompile(`pat[0-9]+`)}}
	s := newShelf()
	address := strings.Replace(srv.URL, "http://", "http://user:hunter2hunter2@", 1) + "/pat42/chat?key=sk-query&b=2&X-Amz-Signature=sigsigsig&a=1#frag"
	ask := `{"apiKey":"sk-body-secret","max_tokens":5,"prompt":"write to b@example.com or 5550000","password": {"type":"string"},"n":5559999}`
	headers := []string{"Authorization", "Bearer sk-header-secret", "X-Api-Key", "sk-custom-key", "Content-Type", "application/json", "X-Tenant", "tenant-7"}
	first, err := post(t.Context(), recordOn(s, o), address, ask, headers...)
	if err != nil || !strings.Contains(first.body, "sk-header-secret") {
		t.Fatalf("the answer of the server is changed for who recorded it: %+v, %v", first, err)
	}
	stored := s.all()
	for _, secret := range []string{"hunter2", "sk-query", "sigsigsig", "sk-header", "sk-custom", "sk-body-secret", "frag", "example.com", "555", "tenant-7", "pat42"} {
		if strings.Contains(stored, secret) {
			t.Errorf("%s is stored:\n%s", secret, stored)
		}
	}
	for _, kept := range []string{"/[REDACTED]/chat?a=1&b=2", `"max_tokens": 5`, `"type": "string"`, `"apiKey": "[REDACTED]"`} {
		if !strings.Contains(stored, kept) {
			t.Errorf("%s is not stored:\n%s", kept, stored)
		}
	}
	other := strings.NewReplacer("hunter2hunter2", "p", "sk-query", "k", "sigsigsig", "s").Replace(address)
	otherAsk := strings.NewReplacer("sk-body-secret", "other", "b@", "c@", "5550000", "5551111", "5559999", "5558").Replace(ask)
	got, err := post(t.Context(), replayFrom(s, o), other, otherAsk, "Content-Type", "application/json")
	if err != nil || strings.Contains(got.body, "example.com") {
		t.Errorf("without the keys: %+v, %v", got, err)
	}
}

// TestKeyIsNoPartOfTheKey replays with a placeholder in place of the API key, which also occurs in
// the prompt.
func TestKeyIsNoPartOfTheKey(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	s, ask := newShelf(), `{"prompt":"this was replayed, and sk-real-key is quoted"}`
	if _, err := post(t.Context(), recordOn(s, transport.CassetteOptions{}), srv.URL, ask, "Authorization", "Bearer sk-real-key"); err != nil {
		t.Fatal(err)
	}
	for _, data := range s.files {
		if strings.Contains(string(data), "sk-real-key") {
			t.Errorf("the key is stored: %s", data)
		}
	}
	got, err := post(t.Context(), replayFrom(s, transport.CassetteOptions{}), srv.URL, ask, "Authorization", "Bearer replayed")
	if err != nil || got.body != "ok" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReplayRefusesTheNetwork(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the network was asked") })
	long := strings.Repeat("é", 100)
	_, err := post(t.Context(), replayFrom(newShelf(), transport.CassetteOptions{}), srv.URL+"/v1?key=sk-secret",
		`{"model":"m","messages":[{"role":"system","content":"first"},{"role":"user","content":"`+long+`"}],"user":"x"}`)
	wantCode(t, err, proviso.NotFound)
	for _, part := range []string{"POST " + srv.URL + "/v1", strings.Repeat("é", 80) + "…", "--record"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in the error: %v", part, err)
		}
	}
	if text := transport.Redact(err).Error(); strings.Contains(text, "secret") || strings.Contains(text, "first") {
		t.Errorf("the error says too much: %v", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := post(ctx, replayFrom(newShelf(), transport.CassetteOptions{}), srv.URL, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled request: %v", err)
	}
}

func TestFailuresAreNotKept(t *testing.T) {
	t.Parallel()
	for status, kept := range map[int]bool{200: true, 400: true, 404: true, 422: true, 401: false, 403: false, 429: false, 500: false, 503: false} {
		srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		s := newShelf()
		if got, err := post(t.Context(), recordOn(s, transport.CassetteOptions{}), srv.URL, "q"); err != nil || got.status != status {
			t.Errorf("status %d: %+v, %v", status, got, err)
		}
		if (len(s.files) == 1) != kept {
			t.Errorf("status %d: %d files", status, len(s.files))
		}
		if kept {
			if got, err := post(t.Context(), replayFrom(s, transport.CassetteOptions{}), srv.URL, "q"); err != nil || got.status != status {
				t.Errorf("status %d replayed: %+v, %v", status, got, err)
			}
		}
	}
	cut := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "half")
	})
	s := newShelf()
	if got, err := post(t.Context(), recordOn(s, transport.CassetteOptions{}), cut.URL, "q"); err == nil || got.body != "half" || len(s.files) != 0 {
		t.Errorf("a cut body: %+v, %v, %d files", got, err, len(s.files))
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		io.WriteString(w, "ok")
	})
	cassette := transport.Record(&shelf{full: true}, transport.CassetteOptions{})
	if cassette.Err() != nil {
		t.Errorf("before anything went wrong: %v", cassette.Err())
	}
	for range 3 {
		_, err := post(t.Context(), through(cassette), srv.URL, "q")
		if err == nil || !strings.Contains(err.Error(), "no space left") || cassette.Err() == nil {
			t.Errorf("a recording that is lost gives %v", err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("%d questions were asked whose answers cannot be kept, want 1", n)
	}
}

func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"a":[1]}`) })
	s := newShelf()
	if _, err := post(t.Context(), recordOn(s, transport.CassetteOptions{}), srv.URL, "q"); err != nil {
		t.Fatal(err)
	}
	key := slices.Collect(maps.Keys(s.files))[0]
	whole := s.files[key]
	for n := range len(bytes.TrimSpace(whole)) {
		s.files[key] = whole[:n]
		_, err := post(t.Context(), replayFrom(s, transport.CassetteOptions{}), srv.URL, "q")
		wantCode(t, err, proviso.Invalid)
		if err == nil || !strings.Contains(err.Error(), s.Path(key)) || !strings.Contains(err.Error(), "cut off") {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
	}
	for _, text := range []string{`{}`, `[]`, `{"version":2}`, `{"version":1}`, strings.Replace(string(whole), `"status": 200`, `"status": 99`, 1),
		strings.Replace(string(whole), `"latencyMs": `, `"latencyMs": -`, 1), strings.Replace(string(whole), `"status": 200,`, ``, 1)} {
		s.files[key] = []byte(text)
		_, err := post(t.Context(), replayFrom(s, transport.CassetteOptions{}), srv.URL, "q")
		wantCode(t, err, proviso.Invalid)
	}
}

func TestRedirectOnCassette(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			io.WriteString(w, "end")
			return
		}
		http.Redirect(w, r, "/end?token=sk-secret&x=1", http.StatusTemporaryRedirect)
	})
	s := newShelf()
	if got, err := post(t.Context(), recordOn(s, transport.CassetteOptions{}), srv.URL, "q"); err != nil || got.body != "end" {
		t.Fatalf("recording: %+v, %v", got, err)
	}
	if strings.Contains(s.all(), "sk-secret") {
		t.Errorf("the key of a redirect is stored:\n%s", s.all())
	}
	if got, err := post(t.Context(), replayFrom(s, transport.CassetteOptions{}), srv.URL, "q"); err != nil || got.body != "end" {
		t.Errorf("replaying: %+v, %v", got, err)
	}
}

func TestKeptHeaders(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Content-Filtered", "true") })
	s, o := newShelf(), transport.CassetteOptions{Headers: []string{"x-content-filtered"}}
	if _, err := post(t.Context(), recordOn(s, o), srv.URL, "q"); err != nil {
		t.Fatal(err)
	}
	if got, err := post(t.Context(), replayFrom(s, o), srv.URL, "q"); err != nil || got.header.Get("X-Content-Filtered") != "true" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestConcurrentRecording is for the race detector.
func TestConcurrentRecording(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	s := newShelf()
	live, replay := recordOn(s, transport.CassetteOptions{}), replayFrom(s, transport.CassetteOptions{})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			body := fmt.Sprintf(`{"i":%d}`, i%5)
			for _, tr := range []http.RoundTripper{live, replay} {
				if got, err := post(t.Context(), tr, srv.URL, body); err != nil || got.body != body {
					t.Errorf("%+v, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzParseExchange(f *testing.F) {
	f.Add([]byte(`{"version":1,"request":{"method":"POST","url":"http://x","json":{"a":1}},"response":{"status":200,"latencyMs":1.5,"json":null}}`))
	f.Add([]byte(`{"version":1,"sample":{"vote":1},"request":{"method":"EXEC","url":"exec:x","text":"p"},"response":{"latencyMs":0,"base64":"/w=="}}`))
	f.Add([]byte(`{"version":1`))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := transport.ParseExchange(data)
		if err != nil {
			return
		}
		s := newShelf()
		c := transport.Record(s, transport.CassetteOptions{Redact: []*regexp.Regexp{regexp.MustCompile(`[ab"\\]+`)}})
		if err := c.Save(x.Request, proviso.Sample{Vote: 1}, x.Response, "secret-text"); err != nil {
			t.Fatalf("what was read cannot be kept: %v", err)
		}
		got, err := transport.Replay(s, transport.CassetteOptions{Redact: []*regexp.Regexp{regexp.MustCompile(`[ab"\\]+`)}}).
			Load(x.Request, proviso.Sample{Vote: 1})
		if err != nil || got.Status != x.Response.Status || got.Latency() != x.Response.Latency() {
			t.Fatalf("kept %+v, got %+v, %v", x.Response, got, err)
		}
	})
}

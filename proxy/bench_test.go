//go:build unix

package proxy_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/proxy"
)

// deltas is a stream of n deltas, as OpenAI sends it.
func deltas(n int, seed string) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("data: {\"id\":\"chatcmpl-%s\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"gpt-4.1\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word%d\"},\"logprobs\":null,\"finish_reason\":null}],\"obfuscation\":\"abcdefgh\"}\n\n", seed, i))
	}
	return append(out, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", "data: [DONE]\n\n")
}

// streamer answers with the number of deltas that the header X-Deltas requests, at a fixed pace.
func streamer(t testing.TB, pace time.Duration) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		n, _ := strconv.Atoi(r.Header.Get("X-Deltas"))
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		for _, d := range deltas(n, r.Header.Get("X-Seed")) {
			if _, err := io.WriteString(w, d); err != nil {
				return
			}
			_ = flush.Flush()
			if pace > 0 {
				time.Sleep(pace)
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// longChat is a request of 12 KB, as an agent sends it after some turns.
var longChat = `{"model":"gpt-4.1","stream":true,"messages":[{"role":"system","content":"` + strings.Repeat("Be kind and brief. ", 100) + `"}` +
	strings.Repeat(`,{"role":"user","content":"`+strings.Repeat("What is it? ", 40)+`"},{"role":"assistant","content":"`+strings.Repeat("It is so. ", 40)+`"}`, 10) + `,{"role":"user","content":"Hi"}]}`

func client(t testing.TB) *http.Client {
	n := &http.Transport{MaxIdleConnsPerHost: 2000, DisableCompression: true}
	t.Cleanup(n.CloseIdleConnections)
	return &http.Client{Transport: n}
}

func open(c *http.Client, url string, n int, seed string) (*http.Response, error) {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(longChat))
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Deltas", strconv.Itoa(n))
	req.Header.Set("X-Seed", seed)
	req.Header.Set("X-Proviso-Agent", "support")
	req.Header.Set("Authorization", "Bearer sk-0123456789")
	return c.Do(req)
}

// quantile returns a quantile of durations, in milliseconds.
func quantile(list []time.Duration, q float64) float64 {
	slices.Sort(list)
	return float64(list[min(len(list)-1, int(q*float64(len(list))))].Microseconds()) / 1000
}

// discarding is a server that accepts events without reading them. In production it runs on other
// processors.
func discarding(t testing.TB) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"accepted":0,"duplicate":0,"rejected":[]}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// relay copies bytes between its clients and a server.
func relay(t testing.TB, url string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				from.Close()
				continue
			}
			go func() { _, _ = io.Copy(to, from); to.Close() }()
			go func() { _, _ = io.Copy(from, to); from.Close() }()
		}
	}()
	return "http://" + l.Addr().String()
}

// BenchmarkFirstToken measures the time to the first token, alternately direct and through the
// proxy, beside 0, 8 and 64 other streams through the proxy with 50 tokens per second each. The
// difference of the quantiles is what the proxy adds, with and without recording. A relay that only
// copies bytes shows what any second hop adds on this machine under this load.
func BenchmarkFirstToken(b *testing.B) {
	for _, beside := range []int{0, 8, 64} {
		b.Run(fmt.Sprintf("beside=%d", beside), func(b *testing.B) {
			upstream := streamer(b, 20*time.Millisecond)
			fast := streamer(b, 0)
			c := discarding(b)
			p := start(b, configFor(fast.URL, c.URL)+"redact: [{pattern: '\\d{16}'}]\n", func(o *proxy.Options, _ *proxy.Serving) { o.Every = time.Second })
			plain := start(b, "upstreams: {openai: "+fast.URL+"}")
			others := start(b, configFor(upstream.URL, c.URL))
			var quit atomic.Bool
			var all sync.WaitGroup
			for i := range beside {
				all.Go(func() {
					for !quit.Load() {
						resp, err := open(client(b), others.url+"/openai/v1/chat/completions", 25, strconv.Itoa(i))
						if err != nil {
							b.Error(err)
							return
						}
						_, _ = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
				})
			}
			conn := client(b)
			first := func(url string) time.Duration {
				begin := time.Now()
				resp, err := open(conn, url+"/v1/chat/completions", 3, "x")
				if err != nil {
					b.Fatal(err)
				}
				defer resp.Body.Close()
				buf := make([]byte, 6)
				if _, err := io.ReadFull(resp.Body, buf); err != nil {
					b.Fatal(err)
				}
				took := time.Since(begin)
				_, _ = io.Copy(io.Discard, resp.Body)
				return took
			}
			for range 20 {
				first(fast.URL)
				first(p.url + "/openai")
				first(plain.url + "/openai")
			}
			hop := relay(b, fast.URL)
			first(hop)
			var direct, relayed, through, passed []time.Duration
			for b.Loop() {
				direct = append(direct, first(fast.URL))
				relayed = append(relayed, first(hop))
				passed = append(passed, first(plain.url+"/openai"))
				through = append(through, first(p.url+"/openai"))
			}
			quit.Store(true)
			all.Wait()
			for name, q := range map[string]float64{"p50": .5, "p99": .99} {
				d, t := quantile(direct, q), quantile(through, q)
				b.ReportMetric(d, "direct-"+name+"-ms")
				b.ReportMetric(quantile(relayed, q)-d, "relay-added-"+name+"-ms")
				b.ReportMetric(quantile(passed, q)-d, "passed-added-"+name+"-ms")
				b.ReportMetric(t-d, "recorded-added-"+name+"-ms")
			}
		})
	}
}

// processorTime is the processor time that this process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkThroughput passes streams of 1,000 tokens as fast as they come, 16 at a time, direct and
// through the proxy. Client, upstream and collector share the processors.
func BenchmarkThroughput(b *testing.B) {
	upstream := streamer(b, 0)
	c := newCollector(b)
	recording := start(b, configFor(upstream.URL, c.URL))
	plain := start(b, "upstreams: {openai: "+upstream.URL+"}")
	run := func(url string, conn *http.Client) (time.Duration, time.Duration) {
		begin, cpu := time.Now(), processorTime()
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				resp, err := open(conn, url+"/v1/chat/completions", 1000, "x")
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			})
		}
		all.Wait()
		return time.Since(begin), processorTime() - cpu
	}
	var wall, cpu [3]time.Duration
	conn := client(b)
	for b.Loop() {
		for i, url := range []string{upstream.URL, plain.url + "/openai", recording.url + "/openai"} {
			w, p := run(url, conn)
			wall[i] += w
			cpu[i] += p
		}
	}
	tokens := float64(b.N) * 16 * 1000
	for i, name := range []string{"direct", "passed", "recorded"} {
		b.ReportMetric(tokens/wall[i].Seconds(), name+"-tokens/s")
		b.ReportMetric(float64(cpu[i].Nanoseconds())/tokens/1000, name+"-us/token")
	}
	b.ReportMetric(wall[2].Seconds()/wall[0].Seconds(), "recorded/direct")
}

// TestThousandStreams: hundreds of concurrent streams (1,000 with PROVISO_TEST_SLOW), each with its
// own content. All bytes are equal, all streams are recorded, and no goroutine and no byte of the
// buffer remains.
func TestThousandStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	const tokens = 50
	streams := 300
	if raced {
		streams = 200
	} else if os.Getenv("PROVISO_TEST_SLOW") != "" {
		streams = 1000
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err == nil && limit.Cur < uint64(6*streams) {
		t.Skipf("only %d files may be open", limit.Cur)
	}
	before := runtime.NumGoroutine()
	upstream := streamer(t, 40*time.Millisecond)
	c := newCollector(t)
	p := start(t, configFor(upstream.URL, c.URL))
	conn := client(t)
	var all sync.WaitGroup
	var bad atomic.Int64
	var base, peak runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&base)
	began, cpu := time.Now(), processorTime()
	quit := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-quit:
				return
			case <-time.After(200 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				if m.HeapInuse+m.StackInuse > peak.HeapInuse+peak.StackInuse {
					peak = m
				}
			}
		}
	})
	for i := range streams {
		all.Go(func() {
			seed := strconv.Itoa(i)
			resp, err := open(conn, p.url+"/openai/v1/chat/completions", tokens, seed)
			if err != nil {
				t.Error(err)
				return
			}
			h := sha256.New()
			_, err = io.Copy(h, resp.Body)
			resp.Body.Close()
			if want := sha256.Sum256([]byte(strings.Join(deltas(tokens, seed), ""))); err != nil || !bytes.Equal(h.Sum(nil), want[:]) {
				bad.Add(1)
			}
		})
	}
	all.Wait()
	took, used := time.Since(began), processorTime()-cpu
	close(quit)
	watching.Wait()
	if bad.Load() > 0 {
		t.Errorf("%d of %d streams are not what the upstream sent", bad.Load(), streams)
	}
	for _, e := range c.wait(t, streams) {
		if e.Error != "" || !strings.HasSuffix(e.Output, " word49") || e.Input != "Hi" {
			t.Fatal(shown(e))
		}
	}
	held := ""
	for range 500 { // the server has the last batch a moment before the proxy learns it
		if held = metric(t, p, "proviso_proxy_buffer_used_bytes"); held == "0" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if held != "0" {
		t.Errorf("the buffer still holds %s bytes", held)
	}
	t.Logf("%d streams of %d tokens in %v: %v of processor time, %.1f KiB of heap and stacks for each, upstream and client included",
		streams, tokens, took.Round(time.Millisecond), used.Round(time.Millisecond), float64(peak.HeapInuse+peak.StackInuse-base.HeapInuse-base.StackInuse)/1024/float64(streams))
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	conn.CloseIdleConnections()
	upstream.Close()
	c.Close()
	http.DefaultClient.CloseIdleConnections()
	for range 500 {
		if runtime.NumGoroutine() <= before+2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}

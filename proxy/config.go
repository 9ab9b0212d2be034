package proxy

import (
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/proviso-eval/proviso/ingest"
)

// Config defines where requests go and what is recorded about them. [ReadConfig] makes it.
type Config struct {
	Upstreams map[string]*url.URL // by the first part of the path
	Record    *Record             // nil records nothing
	Identify  Identify
	Versions  string // SystemPrompt, or NoVersions
	Redact    []ingest.Rule
}

// Record defines where events are sent.
type Record struct {
	To     *url.URL // address of the server, without /v1/events
	Key    string   // API key for the server; "" if it needs none
	Sample float64  // share of the conversations that are recorded
	Buffer int64    // bytes of recorded data that is not sent yet
}

// Values of [Config.Versions].
const (
	SystemPrompt = "system-prompt" // the version of an event is the hash of its system prompt
	NoVersions   = "none"
)

// defaultBuffer is the usual size of the buffer.
const defaultBuffer = 64 << 20

// Limits of the buffer.
const (
	minBuffer = 1 << 20
	maxBuffer = 16 << 30
)

// Source is the source of a name: a header of the request, or a fixed text.
type Source struct {
	Header string // in canonical form; "" means Text
	Text   string
}

// Identify defines the sources of an event's names. Its headers are not sent to upstreams.
type Identify struct {
	Agent, Conversation, User, Event, Version Source
	Segment                                   map[string]Source
}

// headers returns the headers that identify requests, sorted.
func (i *Identify) headers() []string {
	set := map[string]bool{}
	for _, s := range append(slices.Collect(maps.Values(i.Segment)), i.Agent, i.Conversation, i.User, i.Event, i.Version) {
		set[s.Header] = true
	}
	delete(set, "")
	return slices.Sorted(maps.Keys(set))
}

// Limits of the record of one exchange, in bytes.
const (
	maxRequest  = 2 << 20   // of the JSON of a request
	maxReply    = 2 << 20   // of the JSON of a reply, or of the texts of a stream
	maxString   = 256 << 10 // of one string of a request or a reply
	maxFrame    = 1 << 20   // of one event of a stream
	maxEncoded  = 2 << 20   // of a compressed body
	maxTextOut  = 1 << 20   // of the input, output or prompt of an event
	maxContext  = 512 << 10 // of the context of an event
	maxMessages = 256 << 10 // of the conversation in the metadata of an event
	maxEvent    = 6 << 20   // of an event as JSON; the server takes requests of 8 MiB
	maxName     = ingest.MaxName
)

// Times and sizes of the recorder.
const (
	batchEvery   = time.Second // between batches that are not full
	batchBytes   = 1 << 20
	batchEvents  = 200
	sendTimeout  = 30 * time.Second
	restTimeout  = time.Second // for the rest of a request that no upstream reads
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 30 * time.Second
	maxRetry     = time.Minute // longest Retry-After of the server that is respected
)

package otlp

import (
	"context"
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Load adds the traces of a file with recorded requests in the JSON form of OTLP: a single request,
// a list, or one request after the other, as the file exporter of the OpenTelemetry Collector
// writes them. Recorded traces are never waited for and never dropped. The name is for messages.
func (s *Store) Load(name, data string) error {
	b, err := DecodeRecorded(data)
	if err != nil {
		return proviso.Errorf(proviso.Invalid, "%s: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(b.Records) > MaxSpans {
		return proviso.Errorf(proviso.Limit, "%s: it holds %d spans, more than %d", name, len(b.Records), MaxSpans)
	}
	if b.Rejected > 0 {
		return proviso.Errorf(proviso.Invalid, "%s: %s (%d in all)", name, b.Reason, b.Rejected)
	}
	s.names = append(s.names, name)
	for _, r := range b.Records {
		s.recorded[r.TraceID] = append(s.recorded[r.TraceID], r.Span)
	}
	return nil
}

// DecodeRecorded reads one or more requests in the JSON form of OTLP.
func DecodeRecorded(text string) (*Batch, error) {
	d := jsonDecoder{batch: &Batch{}, steps: steps{ctx: context.Background()}}
	for offset := 0; ; {
		for offset < len(text) && value.IsSpace(rune(text[offset])) {
			offset++
		}
		if offset == len(text) {
			return d.batch, nil
		}
		v, n, err := value.ParseJSONPrefix(text[offset:])
		if err != nil {
			return nil, proviso.Errorf(proviso.Invalid, "malformed JSON after byte %d: %w", offset, err)
		}
		offset += n
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, request := range list {
			if err := d.request(request); err != nil {
				return nil, err
			}
		}
	}
}

// Package ingest reads what production sends: events, which are single answers of
// agents, and the thumbs of their users. It checks and redacts them, and neither stores
// nor sends anything. Start at [ReadEvent], [Lines] and [Redactor].
package ingest

// Package ingest reads events, which are single answers of agents in production, and the feedback
// of their users. It checks and redacts them, and neither stores nor sends anything. Start at
// [ReadEvent], [Lines] and [Redactor].
package ingest

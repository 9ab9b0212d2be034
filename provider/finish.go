package provider

import "strings"

// Finish reasons as assertions see them, whatever the vendor calls them.
const (
	finishStop     = "stop"
	finishLength   = "length"
	finishTools    = "tool_calls"
	finishFiltered = "content_filter"
)

// finish gives a vendor's reason its common name. One that has none stays.
func finish(reason string) string {
	switch r := strings.ToLower(strings.TrimSpace(reason)); r {
	case "function_call", "tool_use":
		return finishTools
	case "end_turn", "stop_sequence":
		return finishStop
	case "max_tokens", "model_context_window_exceeded":
		return finishLength
	case "refusal":
		return finishFiltered
	default:
		return r
	}
}

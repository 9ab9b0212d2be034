package provider

import "strings"

// Finish reasons, common to all vendors.
const (
	finishStop     = "stop"
	finishLength   = "length"
	finishTools    = "tool_calls"
	finishFiltered = "content_filter"
)

// finish returns the common name of a vendor's finish reason. An unknown reason
// is returned unchanged.
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

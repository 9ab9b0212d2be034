// Package htmltext decides whether a text is HTML or contains some. [Check] parses a
// document as browsers do and decides whether its author meant HTML; [Contains] adds up
// hints without parsing.
package htmltext

import "github.com/proviso-eval/proviso/value"

// maxText is the maximum length of a text, in UTF-16 code units; a longer text is
// not HTML.
const maxText = 10 << 20

func tooLong(s string) bool { return len(s) > maxText && value.UTF16Len(s) > maxText }

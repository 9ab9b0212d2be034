// Package htmltext decides whether a text is HTML or contains some. [Check] parses a
// document as browsers do and decides whether its author meant HTML; [Contains] adds up
// hints without parsing.
package htmltext

import "github.com/proviso-eval/proviso/value"

// maxText is how many UTF-16 code units a text may have; a longer one is not HTML.
const maxText = 10 << 20

func tooLong(s string) bool { return len(s) > maxText && value.UTF16Len(s) > maxText }

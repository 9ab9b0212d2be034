// Package xmltext decides whether a text is or contains XML. [Check] is strict: it
// requires a well-formed document with namespaces. [Parse] reads leniently into a
// [Tree], in which paths such as "root.item.0.name" are looked up. [Contains] finds
// elements in other text.
//
// Everything takes time linear in the text. Strings may hold lone surrogates in
// their three-byte form, which XML does not allow.
package xmltext

import "fmt"

// maxOpen is the maximum number of open elements. It is the limit of the parser
// whose verdicts this package reproduces.
const maxOpen = 101

// SyntaxError says where and why a text is not XML.
type SyntaxError struct {
	Line, Column int // from 1; 0 if unknown
	Message      string
}

// Error returns the place and the message.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
}

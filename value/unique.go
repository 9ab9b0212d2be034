package value

import (
	"context"
	"fmt"
)

// DuplicateKeyError is returned for an object with a duplicate key, which two readers may
// resolve differently.
type DuplicateKeyError struct {
	Key string // the first repeated key
}

// Error names the key.
func (e *DuplicateKeyError) Error() string {
	key := e.Key
	if len(key) > 80 {
		key = key[:80]
	}
	return fmt.Sprintf("an object has the key %q more than once", key)
}

// ParseUniqueJSON is [ParseJSONPrefix] for texts in which no object may have a duplicate
// key, such as the replies of judge models. The error for a duplicate is a
// *[DuplicateKeyError]; the value and the number of bytes are then still those of
// ParseJSONPrefix.
func ParseUniqueJSON(text string) (any, int, error) {
	p := parser{s: text, unique: true}
	p.space()
	v, err := p.value(0, nil)
	if err == nil && p.twice != nil {
		err = p.twice
	}
	return v, p.i, err
}

// ParseUniqueReply is [ParseReply] for texts in which no object may have a duplicate key.
// The error for a duplicate is a *[DuplicateKeyError]; the value is then still that of
// ParseReply.
func ParseUniqueReply(ctx context.Context, text string) (any, error) {
	return parseJSON(parser{s: text, ctx: ctx, most: MaxReplyValues, unique: true})
}

// add adds a member to the current object. If keys must be unique, the parser records the
// first duplicate.
func (p *parser) add(b *objectBuilder, key string, v any) {
	if again := b.add(key, v); again && p.unique && p.twice == nil {
		p.twice = &DuplicateKeyError{Key: key}
	}
}

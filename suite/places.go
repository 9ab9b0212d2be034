package suite

import (
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// places resolves the pointers of a suite. A pointer is
//
//	<document>#<RFC 6901 pointer>
//
// The documents are numbered in the order they were read. A pointer without a number
// points into the first, and an empty one has no place. A value that is used
// elsewhere than where it is written, such as the target of a $ref, is reached
// through a link. It is safe for concurrent use.
type places struct {
	mu      sync.RWMutex
	docs    []*document.Document
	numbers map[*document.Document]int
	links   map[string]string // pointer where a value is used → pointer where it is written
}

var _ proviso.Places = (*places)(nil)

func newPlaces() *places {
	return &places{numbers: map[*document.Document]int{}, links: map[string]string{}}
}

// add numbers a document and returns its number.
func (p *places) add(d *document.Document) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, ok := p.numbers[d]
	if !ok {
		n = len(p.docs)
		p.docs = append(p.docs, d)
		p.numbers[d] = n
	}
	return n
}

// pointer returns the pointer of a value of d for the whole suite.
func (p *places) pointer(d *document.Document, pointer string) string {
	return strconv.Itoa(p.add(d)) + "#" + pointer
}

// link records that the value used at one pointer is written at another.
func (p *places) link(used, written string) {
	if used == written {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.links[used] = written
}

// Place returns where the value of a pointer is written, or its nearest parent.
func (p *places) Place(pointer string) proviso.Place {
	if at, ok := strings.CutSuffix(pointer, document.KeyMark); ok && strings.Contains(at, "/") {
		return p.place(at, true)
	}
	return p.place(pointer, false)
}

func (p *places) place(pointer string, key bool) proviso.Place {
	if pointer == "" {
		return proviso.Place{}
	}
	d, rest := p.find(p.written(pointer))
	switch {
	case d == nil:
		return proviso.Place{}
	case key:
		return d.KeyPlace(rest)
	}
	return d.Place(rest)
}

// find splits a pointer into its document and the pointer inside it.
func (p *places) find(pointer string) (*document.Document, string) {
	number, rest := "0", pointer
	if before, after, ok := strings.Cut(pointer, "#"); ok && !strings.Contains(before, "/") {
		number, rest = before, after
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= len(p.docs) {
		return nil, ""
	}
	return p.docs[n], rest
}

// maxLinks limits how many links one pointer follows.
const maxLinks = 100

// written follows the links of a pointer, the longest linked prefix first.
func (p *places) written(pointer string) string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if len(p.links) == 0 {
		return pointer
	}
	for range maxLinks {
		next, ok := p.follow(pointer)
		if !ok {
			break
		}
		pointer = next
	}
	return pointer
}

func (p *places) follow(pointer string) (string, bool) {
	for end := len(pointer); end >= 0; end = strings.LastIndexByte(pointer[:end], '/') {
		if target, ok := p.links[pointer[:end]]; ok {
			return target + pointer[end:], true
		}
	}
	return "", false
}

package suite

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
	"math"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso"
)

// idBytes is how much of a content hash an id shows.
const idBytes = 6

// identities gives cases their ids and remembers, in eight bytes each, which
// were given.
type identities struct {
	seed  maphash.Seed
	given map[uint64]struct{} // hashes of the ids that the suite gives
	seen  map[uint64]uint32   // content hash → how many cases had it
	buf   []byte
	keys  []string
	last  []encoded // of the assertions of the case before
}

// encoded is the encoding of an assertion that several cases share.
type encoded struct {
	object *proviso.Object
	bytes  []byte // nil until the object is met again
}

func newIdentities() identities {
	return identities{seed: maphash.MakeSeed(), seen: map[uint64]uint32{}}
}

// claim reports whether an id that the suite gives is given for the first time.
func (n *identities) claim(id string) bool {
	if n.given == nil {
		n.given = map[uint64]struct{}{}
	}
	h := maphash.String(n.seed, id)
	_, taken := n.given[h]
	n.given[h] = struct{}{}
	return !taken
}

// content returns the hash of a case as written, and of what was chosen among
// the values of its lists. Neither its id nor how often it runs is part of it,
// and the order of keys makes no difference.
func (n *identities) content(parts ...any) [sha256.Size]byte {
	n.buf = n.buf[:0]
	for i, part := range parts {
		if o, ok := part.(*proviso.Object); ok && i == 0 {
			n.object(o, true)
			continue
		}
		n.value(part)
	}
	return sha256.Sum256(n.buf)
}

// name turns a content hash into an id; equal contents get ordinals.
func (n *identities) name(sum [sha256.Size]byte) string {
	key := uint64(0)
	for _, b := range sum[:idBytes] {
		key = key<<8 | uint64(b)
	}
	count := n.seen[key] + 1
	n.seen[key] = count
	var buf [2*idBytes + 12]byte
	id := hex.AppendEncode(buf[:0], sum[:idBytes])
	if count > 1 {
		id = append(id, '-')
		id = strconv.AppendUint(id, uint64(count), 10)
	}
	return string(id)
}

// value appends an unambiguous encoding of v: a letter for its kind, then its
// length or bits, then its bytes.
func (n *identities) value(v any) {
	switch v := v.(type) {
	case string:
		n.text('s', v)
	case float64:
		n.buf = append(n.buf, 'n')
		n.buf = binary.BigEndian.AppendUint64(n.buf, math.Float64bits(v))
	case bool:
		n.buf = append(strconv.AppendBool(n.buf, v), '.')
	case []any:
		n.size('l', len(v))
		for _, e := range v {
			n.value(e)
		}
	case *proviso.Object:
		n.object(v, false)
	default:
		n.buf = append(n.buf, '0')
	}
}

func (n *identities) text(kind byte, s string) {
	n.size(kind, len(s))
	n.buf = append(n.buf, s...)
}

func (n *identities) size(kind byte, length int) {
	n.buf = append(n.buf, kind)
	n.buf = binary.AppendUvarint(n.buf, uint64(length))
}

// object appends an object with its keys sorted. Of the case itself the keys
// that do not belong to its content are left out.
func (n *identities) object(o *proviso.Object, isCase bool) {
	start := len(n.keys)
	for _, key := range o.Keys() {
		if !isCase || (key != "id" && key != "repeat") {
			n.keys = append(n.keys, key)
		}
	}
	end := len(n.keys)
	slices.Sort(n.keys[start:end])
	n.size('o', end-start)
	for i := start; i < end; i++ {
		key := n.keys[i]
		n.text('k', key)
		if list, ok := o.At(key).([]any); ok && isCase && key == "assert" {
			n.assertions(list)
			continue
		}
		n.value(o.At(key))
	}
	n.keys = n.keys[:start]
}

// maxEncoded bounds how many encodings are kept.
const maxEncoded = 64

// assertions appends what value would. Lines of a file share equal assertions,
// whose encoding is kept.
func (n *identities) assertions(list []any) {
	n.size('l', len(list))
	for i, e := range list {
		o, ok := e.(*proviso.Object)
		if !ok || i >= maxEncoded {
			n.value(e)
			continue
		}
		for i >= len(n.last) { // those that are no objects keep none
			n.last = append(n.last, encoded{})
		}
		known := &n.last[i]
		switch {
		case known.object != o:
			known.object, known.bytes = o, nil
			n.value(o)
		case known.bytes == nil:
			start := len(n.buf)
			n.value(o)
			known.bytes = append(known.bytes, n.buf[start:]...)
		default:
			n.buf = append(n.buf, known.bytes...)
		}
	}
}

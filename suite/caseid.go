package suite

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
	"math"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso/value"
)

// idBytes is the number of content-hash bytes in an id.
const idBytes = 6

// contentKey is the part of a content hash that is in an id.
type contentKey [idBytes]byte

// identities assigns ids to cases. It is the only state that a suite keeps per
// case, so it stores the used ids in few bytes.
type identities struct {
	seed  maphash.Seed
	given map[uint64]struct{} // hashes of the ids that the suite gives
	seen  map[contentKey]struct{}
	equal map[contentKey]uint32 // number of cases with the content, if more than one
	buf   []byte
	keys  []string
	last  []encoded // encodings of the previous case's assertions

	before []knownID // ids from an earlier pass; nil if there are none or a line has changed
	at     int       // number of ids in before that were used
	made   []knownID // ids from this pass
	mixed  bool      // some ids are not those of lines
}

// encoded is the encoding of an assertion that several cases share.
type encoded struct {
	object *value.Object
	bytes  []byte // nil until the object occurs a second time
}

func newIdentities() identities {
	return identities{seed: maphash.MakeSeed(), seen: map[contentKey]struct{}{}, equal: map[contentKey]uint32{}}
}

// claim records an id that the suite gives and reports whether it is new.
func (n *identities) claim(id string) bool {
	if n.given == nil {
		n.given = map[uint64]struct{}{}
	}
	h := maphash.String(n.seed, id)
	_, taken := n.given[h]
	n.given[h] = struct{}{}
	return !taken
}

// id returns the id of the i-th combination of a case.
func (p *pass) id(w written, l *layer, vars *value.Object, axes []axis, i int) string {
	if l.proto.ID != "" {
		return withOrdinal(l.proto.ID, i+1)
	}
	line := p.lineOf(w, axes)
	if id, ok := p.ids.again(line); ok {
		return id
	}
	parts := make([]any, 0, 8)
	parts = append(parts, w.object)
	if w.data != nil {
		parts = append(parts, w.data)
	}
	for _, a := range axes {
		parts = append(parts, a.key, vars.At(a.key))
	}
	return p.ids.name(line, p.ids.content(parts...))
}

func withOrdinal(id string, n int) string {
	if n == 1 {
		return id
	}
	return id + "-" + strconv.Itoa(n)
}

// content returns the hash of a case as written and of the values chosen from its
// lists. The case's id, its repeats and the order of keys do not change the hash.
func (n *identities) content(parts ...any) [sha256.Size]byte {
	n.buf = n.buf[:0]
	for i, part := range parts {
		if o, ok := part.(*value.Object); ok && i == 0 {
			n.object(o, true)
			continue
		}
		n.value(part)
	}
	return sha256.Sum256(n.buf)
}

// name turns the content hash of a case into an id. Equal contents get a number.
// line is the hash from [pass.lineOf].
func (n *identities) name(line uint64, sum [sha256.Size]byte) string {
	key := contentKey(sum[:idBytes])
	number := n.count(key)
	n.remember(line, key, number)
	return key.id(number)
}

// count returns how many cases have had this content so far, including this one.
func (n *identities) count(key contentKey) uint32 {
	count := uint32(1)
	if _, known := n.seen[key]; known {
		count = max(1, n.equal[key]) + 1
		n.equal[key] = count
	} else {
		n.seen[key] = struct{}{}
	}
	return count
}

// id returns the id of the number-th case with this content.
func (key contentKey) id(number uint32) string {
	var buf [2*idBytes + 12]byte
	id := hex.AppendEncode(buf[:0], key[:])
	if number > 1 {
		id = append(id, '-')
		id = strconv.AppendUint(id, uint64(number), 10)
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
	case *value.Object:
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

// object appends an object with its keys sorted. For the case itself, keys that are
// not part of its content are left out.
func (n *identities) object(o *value.Object, isCase bool) {
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

// maxEncoded limits how many encodings are kept.
const maxEncoded = 64

// assertions appends the same bytes as value. Lines of a file share equal assertions,
// so their encoding is kept.
func (n *identities) assertions(list []any) {
	n.size('l', len(list))
	for i, e := range list {
		o, ok := e.(*value.Object)
		if !ok || i >= maxEncoded {
			n.value(e)
			continue
		}
		for i >= len(n.last) { // members that are not objects have no encoding
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

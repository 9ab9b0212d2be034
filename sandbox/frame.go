package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/marked"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/value"
)

// The protocol between the parent and a worker, for all languages. A frame is
//
//	length   4 bytes, big-endian, of what follows
//	kind     1 byte, one of the constants below
//	id       8 bytes, which a reply repeats
//	payload  JSON text in UTF-8, unless said otherwise
//
// over a stream: descriptor 3 of a forked worker, standard input and output of one
// that was started directly. The parent sends one request at a time (load, check,
// probe or call) and waits for its reply. During a call the worker may send
// questions, and the parent answers them in any order, by their number. Ids of
// calls cannot be guessed, so that code left over from an earlier call cannot
// reply to a later one. Whatever else arrives is a violation, after which the
// worker is killed.
//
// Values are JSON text. In the marked kinds, a string that begins with U+0001
// stands for something else, by its next character: s is the string that follows,
// n NaN, + and - the infinities, 0 negative zero, u undefined.
const (
	// From the parent to a worker.
	kindLoad   = 'S' // the source and its limits: see [sourceFrame]
	kindCheck  = 'K' // like kindLoad, but only checks the syntax. Not for a row that loads
	kindProbe  = 'P' // operations to be blocked: see selftest.go. The reply lists those that were not
	kindCall   = 'C' // the list of arguments
	kindMarked = 'D' // the same, marked
	kindAnswer = 'A' // {"n": number of the question, "value": bool} or {"n": …, "error": text}

	// From a worker to the parent.
	kindHello    = 'H'       // the version of the protocol, once, from a host or a direct worker
	kindResult   = 'R'       // the result
	kindSpecial  = 'V'       // the result, marked
	kindOpaque   = 'O'       // the type of a result that is not data
	kindError    = 'E'       // see [errorFrame]
	wornBit      = 'r' - 'R' // in the kind of a reply: the worker asks to be replaced
	kindQuestion = 'Q'       // {"n": number from 1, "args": [prompt, response, question]}

	// Between the parent and a host, which forks workers. The id is the worker's.
	kindFork = 'F' // with two descriptors: the worker's channel, and its standard error. The payload names modules to import first, separated by spaces
	kindExit = 'X' // from the parent: kill the worker; from the host: its wait status, -1 if it could not be forked
)

const (
	protocol    = "1"
	frameHeader = 9                      // kind and id
	maxFrame    = script.MaxActingResult // limit of a request, and of a reply of code with side effects
	maxReply    = script.MaxResult       // limit of a reply of other code
)

// frame is one message. Its payload is valid until the next one is read.
type frame struct {
	kind    byte
	id      uint64
	payload []byte
}

// worn reports whether the worker that replied asks to be replaced, because the code left
// threads behind or uses much memory.
func (f frame) worn() bool { return f.kind&wornBit != 0 }

// appendFrame appends a frame in its wire form.
func appendFrame(dst []byte, f frame) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(frameHeader+len(f.payload)))
	dst = append(dst, f.kind)
	dst = binary.BigEndian.AppendUint64(dst, f.id)
	return append(dst, f.payload...)
}

// errViolation is the error of a worker that breaks the protocol.
var errViolation = &proviso.Error{Code: proviso.Undecided, Message: "the worker broke the protocol"}

// frameReader reads frames from a stream.
type frameReader struct {
	src        io.Reader
	buf        []byte
	start, end int // range of unread bytes in buf
}

// bufferKept is the size of the buffer that a reader keeps between frames.
const bufferKept = 64 << 10

// next returns the next frame. A frame of more than max bytes is a violation. The buffer grows
// only as bytes arrive, whatever size is announced.
func (r *frameReader) next(max int) (frame, error) {
	if err := r.fill(4); err != nil {
		return frame{}, err
	}
	size := int(binary.BigEndian.Uint32(r.buf[r.start:]))
	if size < frameHeader || size > max+frameHeader {
		return frame{}, errViolation
	}
	if err := r.fill(4 + size); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return frame{}, err
	}
	data := r.buf[r.start+4 : r.start+4+size]
	r.start += 4 + size
	return frame{kind: data[0], id: binary.BigEndian.Uint64(data[1:]), payload: data[frameHeader:]}, nil
}

// fill reads until n bytes are in the buffer.
func (r *frameReader) fill(n int) error {
	if r.start == r.end {
		r.start, r.end = 0, 0
		if len(r.buf) > bufferKept {
			r.buf = nil
		}
	}
	for r.end-r.start < n {
		if r.start > 0 && r.start+n > len(r.buf) {
			r.end = copy(r.buf, r.buf[r.start:r.end])
			r.start = 0
		}
		if r.end == len(r.buf) {
			r.buf = append(r.buf, make([]byte, min(max(len(r.buf), 4<<10), max(n-len(r.buf), 4<<10)))...)
		}
		got, err := r.src.Read(r.buf[r.end:])
		r.end += got
		if got == 0 && err != nil {
			return err
		}
	}
	return nil
}

// idle reports whether everything that was received has been read.
func (r *frameReader) idle() bool { return r.start == r.end }

// encodeArgs returns the kind and the payload of a call. It uses marks only if the arguments
// need them; the list is at the top of this file.
func encodeArgs(args []any, undefined bool) (byte, []byte, error) {
	kind := byte(kindCall)
	e := marked.Encoder{Plain: true, NoUndefined: !undefined, Opaque: true}
	err := encode(&e, args)
	if err == nil && e.Special {
		kind, e = kindMarked, marked.Encoder{NoUndefined: !undefined, Opaque: true}
		err = encode(&e, args)
	}
	switch {
	case err != nil:
		return 0, nil, err
	case len(e.Buf) > maxFrame-frameHeader:
		return 0, nil, proviso.Errorf(proviso.Limit, "the arguments of a call are larger than %d MB", maxFrame>>20)
	}
	return kind, e.Buf, nil
}

// encode writes v with e.
func encode(e *marked.Encoder, v any) error {
	err := e.Value(v)
	switch {
	case errors.Is(err, marked.ErrDepth):
		return proviso.Errorf(proviso.Limit, "%w", err)
	case err != nil:
		return proviso.Errorf(proviso.Internal, "%w", err)
	}
	return nil
}

// decodeResult returns the value of a result frame.
func decodeResult(kind byte, payload []byte) (any, error) {
	switch {
	case kind != kindResult:
	case string(payload) == "true":
		return true, nil
	case string(payload) == "false":
		return false, nil
	}
	v, err := value.ParseReply(context.Background(), string(payload))
	if errors.Is(err, value.ErrTooMany) {
		return nil, proviso.Errorf(proviso.Limit, "%w", err)
	}
	if !utf8.Valid(payload) {
		return nil, errViolation
	}
	if err != nil {
		if strings.Contains(err.Error(), "deep") {
			return nil, proviso.Errorf(proviso.Limit, "the result nests deeper than %d", value.MaxDepth)
		}
		return nil, errViolation
	}
	switch kind {
	case kindOpaque:
		name, _ := v.(string)
		return &value.Opaque{Kind: name}, nil
	case kindSpecial:
		return marked.Revive(v), nil
	}
	return v, nil
}

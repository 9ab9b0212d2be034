package report

import (
	"bufio"
	"bytes"
	"context"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/value"
)

// renderYAML writes the document of [renderJSON] as YAML 1.2: the envelope as blocks, and
// each row as one line of JSON, which is valid flow-style YAML.
func renderYAML(ctx context.Context, w *bufio.Writer, in *Input) error {
	y := yamlWriter{w: w}
	y.member("evalId: ", in.Meta.RunID)
	y.w.WriteString("results:\n")
	y.member("  version: ", 3.0)
	y.member("  timestamp: ", in.Meta.timestamp())
	y.member("  prompts: ", promptsOf(in))
	y.w.WriteString("  results:")
	n := 0
	for _, row := range in.Rows.Rows() {
		if n == 0 {
			y.w.WriteByte('\n')
		}
		if n++; n&0xff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		y.encoded("    - ", row)
	}
	if err := in.Rows.Err(); err != nil {
		return err
	}
	if n == 0 {
		y.w.WriteString(" []\n")
	}
	y.member("  stats: ", statsOf(in))
	y.member("config: ", in.Meta.config())
	y.w.WriteString("shareableUrl: null\n")
	y.member("metadata: ", in.Meta.made())
	var b bytes.Buffer
	writeAdditions(&b, in)
	y.encoded("proviso: ", b.Bytes())
	return nil
}

// yamlWriter writes values of one line each. Its bufio.Writer keeps the first error until
// Flush.
type yamlWriter struct {
	w         *bufio.Writer
	json, buf []byte
}

func (y *yamlWriter) member(key string, v any) {
	y.json = value.AppendJSON(y.json[:0], v)
	y.encoded(key, y.json)
}

func (y *yamlWriter) encoded(key string, json []byte) {
	y.w.WriteString(key)
	y.buf = appendYAML(y.buf[:0], json)
	y.w.Write(append(y.buf, '\n'))
}

// maxImplicitKey is the maximum length of a key without a leading question mark (YAML
// 1.2.2, section 7.4.3: 1024 characters).
const maxImplicitKey = 1000

// appendYAML appends JSON as flow-style YAML. The two differ in the blank that parsers
// require after a colon, in long keys, and in characters that YAML does not permit
// unescaped (section 5.1): lone surrogates become the replacement character, the others
// become escapes.
func appendYAML(dst, json []byte) []byte {
	for i := 0; i < len(json); {
		next := bytes.IndexByte(json[i:], '"')
		if next < 0 {
			return append(dst, json[i:]...)
		}
		dst = append(dst, json[i:i+next]...)
		i += next
		s := rowscan.New(json[i:])
		quoted := s.Skip()
		if len(quoted) == 0 {
			return dst // not JSON; a run file never contains this
		}
		i += len(quoted)
		isKey := i < len(json) && json[i] == ':'
		if isKey && len(quoted) > maxImplicitKey {
			dst = append(dst, "? "...)
		}
		if dst = appendYAMLString(dst, quoted); isKey {
			dst = append(dst, ": "...)
			i++
		}
	}
	return dst
}

func appendYAMLString(dst, quoted []byte) []byte {
	for i := 0; i < len(quoted); {
		c := quoted[i]
		if c == '\\' && i+1 < len(quoted) {
			if isSurrogate(quoted[i:]) {
				dst = append(dst, `\ufffd`...)
				i += len(`\ufffd`)
				continue
			}
			dst = append(dst, c, quoted[i+1])
			i += 2
			continue
		}
		if c < 0x7f {
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(quoted[i:])
		i += size
		if r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			dst = append(dst, hexEscape(`\u`, r, 4)...)
		} else {
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// isSurrogate reports whether text begins with a surrogate escape. In this module's JSON,
// such a surrogate is always a lone one.
func isSurrogate(text []byte) bool {
	return len(text) >= 6 && text[1] == 'u' && text[2]|0x20 == 'd' && text[3] >= '8'
}

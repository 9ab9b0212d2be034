package proxy

import "bytes"

// frames reads server-sent events in pieces as they pass. Comments and event names are ignored,
// because the data contains the type.
type frames struct {
	allow *allowance
	event func(data []byte) // receives the data of an event; it must not keep it

	line  []byte // the part of the line that has arrived
	data  []byte // of the current event
	some  bool   // the current event has data
	cr    bool   // the last byte was a carriage return
	began bool   // the place of a byte order mark has passed
	skip  bool   // the current line or event is too long
	cut   bool   // an event was left out
	done  bool   // there was no room, so nothing more is read
}

// write reads the next piece.
func (f *frames) write(p []byte) {
	for len(p) > 0 && !f.done {
		if f.cr && p[0] == '\n' {
			p = p[1:]
		}
		f.cr = false
		n := bytes.IndexAny(p, "\r\n")
		if n < 0 {
			f.keep(p)
			return
		}
		if len(f.line) == 0 { // the usual case, without a copy
			f.finish(p[:n])
		} else if f.keep(p[:n]); !f.done {
			f.finish(f.line)
		}
		f.line = f.line[:0]
		f.cr = p[n] == '\r'
		p = p[n+1:]
	}
}

// keep appends to the line.
func (f *frames) keep(p []byte) {
	if f.skip || len(p) == 0 {
		return
	}
	if len(f.line)+len(p) > maxFrame {
		f.skip, f.cut, f.line = true, true, f.line[:0]
		return
	}
	if grow := len(f.line) + len(p) - cap(f.line); grow > 0 && !f.allow.use(grow) {
		f.done, f.line, f.data = true, nil, nil
		return
	}
	f.line = append(f.line, p...)
}

// finish reads a complete line.
func (f *frames) finish(line []byte) {
	if !f.began {
		f.began = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if len(line) == 0 {
		if f.some && !f.skip {
			f.event(f.data)
		}
		f.data, f.some, f.skip = f.data[:0], false, false
		return
	}
	name, rest, _ := bytes.Cut(line, []byte(":"))
	if f.skip || string(name) != "data" {
		return
	}
	rest = bytes.TrimPrefix(rest, []byte(" "))
	if len(f.data)+len(rest)+1 > maxFrame {
		f.skip, f.cut = true, true
		return
	}
	if grow := len(f.data) + len(rest) + 1 - cap(f.data); grow > 0 && !f.allow.use(grow) {
		f.done, f.line, f.data = true, nil, nil
		return
	}
	if f.some {
		f.data = append(f.data, '\n')
	}
	f.data, f.some = append(f.data, rest...), true
}

// end reads the last event if the stream did not end with an empty line.
func (f *frames) end() {
	if f.done {
		return
	}
	if len(f.line) > 0 {
		f.finish(f.line)
		f.line = f.line[:0]
	}
	f.finish(nil)
}

package sandbox

import (
	"io"
	"os/exec"
	"time"
)

// Internals for the tests.
const (
	MaxReply    = maxReply
	MaxFrame    = maxFrame
	MaxAlive    = maxAlive
	MaxActing   = maxAlive / heavier // Python workers with side effects
	FrameHeader = frameHeader
)

// NoNamespaces returns options whose hosts get no namespaces.
func NoNamespaces(o Options) Options {
	o.noNamespaces = true
	return o
}

// NoLandlock returns options under which the kernel seems to have no Landlock.
func NoLandlock(o Options) Options {
	o.noLandlock = true
	return o
}

// KernelSupport returns the kernel's features.
func KernelSupport() Kernel { return kernelSupport() }

// Workers returns how many workers exist.
func (s *Sandbox) Workers() int {
	n := 0
	for _, p := range []*pool{s.deciding, s.acting} {
		p.mu.Lock()
		n += p.alive
		p.mu.Unlock()
	}
	return n
}

// ActingWorkers returns how many workers of code with side effects exist.
func (s *Sandbox) ActingWorkers() int {
	s.acting.mu.Lock()
	defer s.acting.mu.Unlock()
	return s.acting.alive
}

// Hosts returns the processes of the hosts.
func (s *Sandbox) Hosts() []*exec.Cmd {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*exec.Cmd
	for _, slot := range s.hosts {
		if slot.host != nil && slot.host.cmd != nil {
			list = append(list, slot.host.cmd)
		}
	}
	return list
}

// AppendFrame and ReadFrames are the codec of frames.
func AppendFrame(dst []byte, kind byte, id uint64, payload []byte) []byte {
	return appendFrame(dst, frame{kind, id, payload})
}

// Grace returns options with another delay before code that does not stop is killed.
func Grace(o Options, d time.Duration) Options {
	o.grace = d
	return o
}

// IdleCheck returns options with another interval between checks of idle workers.
func IdleCheck(o Options, d time.Duration) Options {
	o.idleCheck = d
	return o
}

// Alive returns options with another maximum weight of the workers of a pool.
func Alive(o Options, n int) Options {
	o.alive = n
	return o
}

// Leaky returns options under which the filters block nothing.
func Leaky(o Options) Options {
	o.leaky = true
	return o
}

// ReadFrame reads the first frame of data, of at most max bytes, from a reader that returns it
// in pieces.
func ReadFrame(src io.Reader, max int) (kind byte, id uint64, payload []byte, rest bool, err error) {
	r := frameReader{src: src}
	f, err := r.next(max)
	return f.kind, f.id, f.payload, !r.idle(), err
}

// DecodeResult and EncodeArgs are the codec of values.
var (
	DecodeResult = decodeResult
	EncodeArgs   = encodeArgs
)

// Direct returns options under which each worker is its own interpreter.
func Direct(o Options) Options {
	o.direct = true
	return o
}

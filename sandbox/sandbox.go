package sandbox

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
)

// Options configure how code runs. The zero value runs it in the sandbox of
// Linux, without any grants.
type Options struct {
	Policy Policy
	// Exe is a proviso binary that starts workers. "" means the running program, if it called
	// [Main].
	Exe string
	// Dir is the suite's folder. Code may read its files, unless it is the root or a home
	// folder.
	Dir    string
	Grants Grants
	// SynthesisedPackages lets code with the purpose [proviso.Synthesised] import the packages
	// installed for the interpreter. It gets nothing else.
	SynthesisedPackages bool
	// Env is where granted variables are looked up. The environment of this process is not
	// read.
	Env proviso.Env
	// Machine is where PATH, HOME and the names of interpreters are looked up;
	// nil means Env. It must not contain variables that an untrusted suite sets:
	// interpreters are queried outside the sandbox, and the folder in HOME is
	// protected from code.
	Machine proviso.Env
	// Timeout is the time limit of a call if the source sets none; 0 means two seconds. Then
	// the code is interrupted; Node and Ruby are killed. Other code that cannot be interrupted
	// is killed three seconds later. Waiting for a judge does not count.
	Timeout time.Duration
	// Workers is the number of concurrent calls; 0 means GOMAXPROCS. Calls of code with side
	// effects have their own limit, of at least four. Calls that wait for a judge do not count.
	Workers int
	// Ask answers ask_llm: whether a response to a prompt satisfies a question. It is called
	// concurrently. If it is nil, ask_llm is an error.
	Ask func(ctx context.Context, prompt, response, question string) (bool, error)
	// Warn is called at most once for each protection that Auto goes without, and for each piece
	// of code whose text uses programs or variables that it does not get.
	Warn func(line string)

	noNamespaces bool          // for tests
	idleCheck    time.Duration // for tests
	alive        int           // for tests
	leaky        bool          // for tests
	direct       bool          // for tests
	noLandlock   bool          // for tests
	grace        time.Duration // for tests
}

// Sandbox runs code in pools of workers. It implements [proviso.Code] and is safe
// for concurrent use.
type Sandbox struct {
	options   Options
	dir       string // absolute, or ""
	languages []*language
	kernel    func() Kernel
	homes     func() []string
	grace     time.Duration // from the interruption of a call to the kill
	deciding  *pool
	acting    *pool

	findMu sync.Mutex
	found  map[interpreterKey]*finding

	mu      sync.Mutex
	hosts   map[profile]*hostSlot
	sources map[sourceKey]*source
	warned  map[string]bool
	closed  bool
}

var _ proviso.Code = (*Sandbox)(nil)

// Limits that cannot be configured.
const (
	softTimeout  = 2 * time.Second
	killGrace    = 3 * time.Second // from the interruption to the kill
	loadTimeout  = 20 * time.Second
	askTimeout   = time.Minute
	maxAsks      = 20
	maxQuestion  = 8 << 10
	maxAge       = 5 * time.Minute
	maxResident  = 256 << 20 // bytes of memory of a worker between calls
	maxAlive     = 256       // maximum weight of the workers of a pool
	heavier      = 4         // weight of a worker that imports packages, keeps modules between calls, or shares no memory with a host
	startTimeout = 20 * time.Second
)

// New returns a sandbox. It does no work: interpreters are found and started when code is
// compiled.
func New(o Options) *Sandbox {
	s := &Sandbox{
		options: o, languages: languages(), grace: cmp.Or(o.grace, killGrace),
		found: map[interpreterKey]*finding{}, hosts: map[profile]*hostSlot{}, sources: map[sourceKey]*source{}, warned: map[string]bool{},
	}
	if o.Dir != "" {
		s.dir = o.Dir
		if abs, err := filepath.Abs(o.Dir); err == nil {
			s.dir = abs
		}
	}
	s.kernel = sync.OnceValue(func() Kernel {
		k := kernelSupport()
		if o.noLandlock {
			k.Landlock = 0
		}
		return k
	})
	s.homes = sync.OnceValue(func() []string { return homesOf(s.lookup) })
	workers := cmp.Or(max(o.Workers, 0), runtime.GOMAXPROCS(0))
	check, most := cmp.Or(o.idleCheck, idleCheck), cmp.Or(o.alive, maxAlive)
	s.deciding, s.acting = newPool(workers, most, check), newPool(max(workers, 4), most, check)
	return s
}

// Close kills all workers. Calls in flight return an error.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	s.closed = true
	hosts := s.hosts
	s.hosts = map[profile]*hostSlot{}
	s.mu.Unlock()
	for _, slot := range hosts {
		slot.close()
	}
	s.deciding.clear()
	s.acting.clear()
	return nil
}

// errClosed is the error of calls after Close.
var errClosed = &proviso.Error{Code: proviso.Unavailable, Message: "the sandbox is closed"}

// Compile implements [proviso.Code]. It checks the syntax, and that a Python module has the
// function, without running any of it; JavaScript that does not need Node ([NeedsNode]) is
// evaluated. The first call starts an interpreter. A syntax error is a *proviso.ScriptError.
// The codes of other errors are Unavailable (the interpreter is missing or too old), Refused
// (the policy requires a sandbox that this machine does not support) and NotFound (the module
// has no such function; Valid lists its functions).
func (s *Sandbox) Compile(ctx context.Context, src proviso.Source) (proviso.Function, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	l, err := s.language(src)
	if err != nil {
		return nil, at(err, src.Pointer)
	}
	if src.Purpose == 0 {
		src.Purpose = proviso.Deciding
	}
	if src.File != "" && !filepath.IsAbs(src.File) && s.dir != "" {
		src.File = filepath.Join(s.dir, src.File)
	}
	if !utf8.ValidString(s.dir) {
		return nil, at(proviso.Errorf(proviso.Unsupported, "code is not run in a folder whose name is not UTF-8: %q", s.dir), src.Pointer)
	}
	p, err := s.effective(ctx, l, src.Purpose)
	if err != nil {
		return nil, at(err, src.Pointer)
	}
	o, err := s.newSource(ctx, l, p, src)
	if err != nil {
		return nil, at(err, src.Pointer)
	}
	if err := o.check(ctx); err != nil {
		s.release(o)
		return nil, at(err, src.Pointer)
	}
	return &function{source: o}, nil
}

// at adds the position of the source in the suite to an error of this package.
func at(err error, pointer string) error {
	e, ok := err.(*proviso.Error)
	if !ok || pointer == "" || e.Pointer != "" {
		return err
	}
	placed := *e
	placed.Pointer = pointer
	return &placed
}

// effective returns the profile of a purpose on this machine: under Auto, a user's own code
// runs without a sandbox if there is none.
func (s *Sandbox) effective(ctx context.Context, l *language, purpose proviso.Purpose) (profile, error) {
	p := s.profileFor(l.name, purpose)
	if p.files && s.dir != "" && s.isHome(s.dir) && p.sandbox {
		s.warn("code does not get the files of " + s.dir + ", which holds more than a suite: give the suite a folder of its own, or grant files with read")
	}
	if !p.sandbox {
		return p, nil
	}
	why := s.unconfinable()
	if why == "" {
		return s.started(ctx, l, p, purpose)
	}
	if s.options.Policy == Auto && purpose != proviso.Synthesised {
		s.warn(l.program + " runs without a sandbox: " + why)
		p.sandbox = false
		return p, nil
	}
	return p, refused(l.program, why)
}

// started returns the profile once its host runs. Under Auto, a user's own code runs without a
// sandbox if the sandbox cannot be started here.
func (s *Sandbox) started(ctx context.Context, l *language, p profile, purpose proviso.Purpose) (profile, error) {
	_, err := s.host(ctx, p)
	e, ok := err.(*proviso.Error)
	if !ok || e.Code != proviso.Refused || errors.Is(err, errLeaks) || s.options.Policy != Auto || purpose == proviso.Synthesised {
		return p, err
	}
	s.warn(l.program + " runs without a sandbox: " + e.Message)
	p.sandbox = false
	return p, nil
}

// unconfinable returns what this machine or program lacks for the sandbox, or "".
func (s *Sandbox) unconfinable() string {
	switch {
	case !s.kernel().Sandbox():
		return "it needs Linux with Landlock (kernel 5.13 or later) and seccomp, on amd64 or arm64"
	case s.exe() == "":
		return "this program cannot start workers: call sandbox.Main first in main, or name a proviso binary in Options.Exe"
	}
	return ""
}

func refused(program, why string) *proviso.Error {
	return proviso.Errorf(proviso.Refused, "%s is not run without a sandbox: %s. Run it where there is one, such as the container image, or pass --sandbox off", program, why)
}

// exe returns the binary that starts workers, or "". The running program is named by a kernel
// link, which stays valid even if the file is replaced.
func (s *Sandbox) exe() string {
	switch {
	case s.options.Exe != "":
		return s.options.Exe
	case mainCalled.Load():
		return "/proc/self/exe"
	}
	return ""
}

// warn passes on each message once.
func (s *Sandbox) warn(line string) {
	s.mu.Lock()
	told := s.warned[line]
	s.warned[line] = true
	s.mu.Unlock()
	if !told && s.options.Warn != nil {
		s.options.Warn(line)
	}
}

package script

import (
	"sync"

	"modernc.org/quickjs"
)

// bytecode compiles scripts once for all VMs: reading bytecode takes a tenth of the
// time of parsing.
func bytecode(sources ...string) ([][]byte, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, err
	}
	codes := make([][]byte, len(sources))
	for i, source := range sources {
		if codes[i], err = vm.Compile(source, quickjs.EvalGlobal); err != nil {
			break
		}
	}
	_ = vm.Close() // no error to report: Close frees memory
	return codes, err
}

// Program is JavaScript that any number of [Library] values run. The first VM that
// needs it compiles it, once per process. It is safe for concurrent use.
type Program struct{ compiled func() ([]byte, error) }

// NewProgram returns a program. It does no work: source is called once, when the
// program is compiled.
func NewProgram(source func() string) *Program {
	return &Program{sync.OnceValues(func() ([]byte, error) {
		codes, err := bytecode(source())
		if err != nil {
			return nil, err
		}
		return codes[0], nil
	})}
}

// prelude is the bytecode of the scripts with which the VMs of an [Engine] start.
type prelude struct{ host, url, realm []byte }

var loadPrelude = sync.OnceValues(func() (prelude, error) {
	c, err := bytecode(hostSource, urlSource, realmSource)
	if err != nil {
		return prelude{}, err
	}
	return prelude{host: c[0], url: c[1], realm: c[2]}, nil
})

// loadBase is the bytecode of bridge.js and harden.js, with which every VM starts.
var loadBase = sync.OnceValues(func() (base, error) {
	c, err := bytecode(bridgeSource, hardenSource)
	if err != nil {
		return base{}, err
	}
	return base{bridge: c[0], harden: c[1]}, nil
})

type base struct{ bridge, harden []byte }

package engine

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/internal/transport"
)

// Folder returns a cache that keeps its entries as files in a folder, which the first
// entry creates. Any number of engines and processes may share it.
func Folder(dir string) proviso.Cache { return blobs.Open(dir) }

// check finds mistakes in the options.
func (n *Engines) check() error {
	if n.Record != "" && n.Replay != "" {
		return proviso.Errorf(proviso.Invalid, "Record and Replay exclude each other")
	}
	seen := map[string]bool{}
	for i, p := range n.Providers {
		if p == nil || p.ID() == "" || seen[p.ID()] {
			return proviso.Errorf(proviso.Invalid, "Providers[%d]: expected a provider with an id of its own", i)
		}
		seen[p.ID()] = true
	}
	return nil
}

// openCassette makes the cassette of Record or Replay.
func (n *Engines) openCassette(known *secrets.Set) {
	o := transport.CassetteOptions{Hide: known.RedactJSON}
	switch {
	case n.Cassette != nil:
	case n.Record != "":
		n.Cassette = transport.Record(blobs.Open(n.Record), o)
	case n.Replay != "":
		n.Cassette = transport.Replay(blobs.Open(n.Replay), o)
	}
}

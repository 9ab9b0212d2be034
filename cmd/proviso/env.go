package main

import (
	"os"
	"strings"
)

// processEnv is the environment of this process.
type processEnv struct{}

// Lookup returns the value of name and whether it is set.
func (processEnv) Lookup(name string) (string, bool) { return os.LookupEnv(name) }

// Names returns the names that are set.
func (processEnv) Names() []string {
	var names []string
	for _, pair := range os.Environ() {
		if name, _, ok := strings.Cut(pair, "="); ok && name != "" {
			names = append(names, name)
		}
	}
	return names
}

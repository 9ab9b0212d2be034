package transport_test

import (
	"testing"

	"github.com/proviso-eval/proviso/internal/transport"
)

func TestThisMachine(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST": true, "localhost.": true, "127.0.0.1": true, "127.8.9.1": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "localhost.example.com": false, "evil-localhost": false, "a.localhost": false, "10.0.0.1": false, "0.0.0.0": false, "::": false, "127.1": false, "2130706433": false,
	} {
		if got := transport.ThisMachine(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}

package transport

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/proviso-eval/proviso"
)

// Recording describes a cassette as a whole.
type Recording struct {
	Exchanges int
	Hash      string    // of every byte of every exchange, hexadecimal
	Made      time.Time // when the last exchange was recorded; the Unix epoch if none says
}

// Recording reads all exchanges of the cassette. It hashes damaged ones as they are;
// [Cassette.Load] reports the damage when one is needed.
func (c *Cassette) Recording(ctx context.Context) (Recording, error) {
	r := Recording{Made: time.Unix(0, 0).UTC()}
	h := sha256.New()
	for key, err := range c.shelf.Keys() {
		if err == nil {
			err = ctx.Err()
		}
		var data []byte
		if err == nil {
			data, err = c.shelf.Read(key)
		}
		if err != nil {
			return Recording{}, proviso.Errorf(proviso.Unavailable, "replay: %w", err)
		}
		r.Exchanges++
		fmt.Fprintf(h, "%s %x\n", key, sha256.Sum256(data))
		var dated struct {
			Recorded time.Time `json:"recorded"`
		}
		if json.Unmarshal(data, &dated) == nil && dated.Recorded.After(r.Made) {
			r.Made = dated.Recorded.UTC()
		}
	}
	r.Hash = hex.EncodeToString(h.Sum(nil))
	return r, nil
}

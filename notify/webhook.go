package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
)

// The headers of a webhook.
const (
	TimestampHeader = "X-Proviso-Timestamp" // seconds since 1970
	SignatureHeader = "X-Proviso-Signature" // v1=, and what sign returns
	DeliveryHeader  = "X-Proviso-Delivery"  // id of the message, the same for every retry
	EventHeader     = "X-Proviso-Event"     // opened or closed
)

// sign returns the signature of a webhook: HMAC-SHA256, in hexadecimal, over the timestamp,
// a dot and the body.
func sign(secret, timestamp string, body []byte) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(timestamp))
	h.Write([]byte("."))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// Verify is for receivers. It returns why a webhook is not to be trusted, or nil: the
// signature is wrong, or its time differs from now by more than tolerance.
func Verify(secret string, h http.Header, body []byte, now time.Time, tolerance time.Duration) error {
	stamp := h.Get(TimestampHeader)
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return proviso.Errorf(proviso.Refused, "the webhook has no timestamp")
	}
	signature, ok := strings.CutPrefix(h.Get(SignatureHeader), "v1=")
	if !ok || !hmac.Equal([]byte(signature), []byte(sign(secret, stamp, body))) {
		return proviso.Errorf(proviso.Refused, "the signature of the webhook is wrong")
	}
	if age := now.Sub(time.Unix(seconds, 0)).Abs(); age > tolerance {
		return proviso.Errorf(proviso.Refused, "the webhook was signed %v ago", age.Round(time.Second))
	}
	return nil
}

// webhook sends the JSON of an alarm with a signature.
type webhook struct {
	poster
	secret string
	now    func() time.Time
}

// minSecret is the minimum length of a signing secret.
const minSecret = 16

func openWebhook(t *target, o Options, c *http.Client, now func() time.Time) (sender, error) {
	address, wrong := t.address(o.Env)
	secret, missing := variable(o.Env, t.secretEnv)
	if missing == nil && len(secret) < minSecret {
		missing = proviso.Errorf(proviso.Invalid, "the secret in %s has fewer than %d characters", t.secretEnv, minSecret)
	}
	return &webhook{poster{c, address, now}, secret, now}, errors.Join(wrong, missing)
}

func (w *webhook) send(ctx context.Context, m *Message, _ *alarm) (string, error) {
	stamp := strconv.FormatInt(w.now().Unix(), 10)
	return "", w.post(ctx, m.Alarm, http.Header{
		TimestampHeader: {stamp}, SignatureHeader: {"v1=" + sign(w.secret, stamp, m.Alarm)}, DeliveryHeader: {m.ID}, EventHeader: {m.Event},
	})
}

// poster posts JSON to a secret address.
type poster struct {
	client  *http.Client
	address *url.URL
	now     func() time.Time
}

// post sends one request. Its errors do not contain the address.
func (p *poster) post(ctx context.Context, body []byte, h http.Header) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.address.String(), bytes.NewReader(body))
	if err != nil {
		return &Failure{Reason: "the address is malformed", Permanent: true}
	}
	maps.Copy(req.Header, h)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "proviso")
	resp, err := p.client.Do(req)
	if err != nil {
		return &Failure{Reason: p.hide(transport.Redact(err).Error()), cause: err}
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // on a read error, the part that arrived is enough
	if resp.StatusCode/100 == 2 {
		return nil
	}
	text := cmp.Or(plain(p.hide(strings.ToValidUTF8(string(said), "\uFFFD")), 200), http.StatusText(resp.StatusCode))
	return &Failure{Reason: fmt.Sprintf("HTTP %d: %s", resp.StatusCode, text), Permanent: permanent(resp.StatusCode), After: transport.RetryAfter(resp.Header, p.now())}
}

// permanent reports whether a retry of the same request would be refused again. Only
// statuses about the message itself count: the operator can correct a wrong address or
// token and restart the server.
func permanent(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity || status == http.StatusGone
}

// hide removes the secret parts of the address from a text.
func (p *poster) hide(text string) string {
	for _, secret := range []string{p.address.RequestURI(), p.address.Path, p.address.RawQuery} {
		if len(secret) > 1 {
			text = strings.ReplaceAll(text, secret, "/…")
		}
	}
	return text
}

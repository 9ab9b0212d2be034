package notify

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// slack sends to a Slack incoming webhook.
type slack struct{ poster }

func openSlack(t *target, o Options, c *http.Client, now func() time.Time) (sender, error) {
	address, err := t.address(o.Env)
	return &slack{poster{c, address, now}}, err
}

// Slack's limits, in characters.
const (
	slackHeader = 150
	slackText   = 2000
)

// slackObject is an object of Block Kit.
type slackObject map[string]any

// literal is a text in which Slack interprets no markup, mention or emoji.
func literal(text string) slackObject {
	return slackObject{"type": "plain_text", "text": text, "emoji": false}
}

// slackEscaped escapes the three special characters of Slack's markup.
func slackEscaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

func (s *slack) send(ctx context.Context, m *Message, a *alarm) (string, error) {
	title := a.title()
	blocks := []slackObject{{"type": "header", "text": literal(plain(title, slackHeader))}}
	var fields []slackObject
	flush := func() {
		if len(fields) > 0 {
			blocks = append(blocks, slackObject{"type": "section", "fields": fields})
			fields = nil
		}
	}
	for _, r := range a.rows() {
		fields = append(fields, literal(plain(r.name+": "+r.text, slackText)))
		if len(fields) == 10 { // maximum number in a section
			flush()
		}
	}
	flush()
	if m.Link != "" {
		blocks = append(blocks, slackObject{"type": "context", "elements": []slackObject{{"type": "mrkdwn", "text": "<" + slackEscaped(m.Link) + "|Open the alarm>"}}})
	}
	// Notifications on a phone show the text.
	body, err := json.Marshal(slackObject{"text": slackEscaped(title), "mrkdwn": false, "parse": "none", "link_names": false, "unfurl_links": false, "unfurl_media": false, "blocks": blocks})
	if err != nil {
		return "", &Failure{Reason: "the message cannot be written", Permanent: true, cause: err}
	}
	return "", s.post(ctx, body, nil)
}

package postgres

import "context"

// OpenSteps is Open of a proviso version with other migration steps.
func OpenSteps(ctx context.Context, url string, texts ...string) (*DB, error) {
	list := make([]step, len(texts))
	for i, text := range texts {
		list[i] = step{"step", text}
	}
	return open(ctx, url, Options{Connections: 3}, list)
}

// Steps returns the migration steps of this version.
func Steps() (texts []string, err error) {
	list, err := steps()
	for _, s := range list {
		texts = append(texts, s.text)
	}
	return texts, err
}

// ParseURL returns why a text is not the URL of a database.
func ParseURL(text string) error {
	_, err := parse(text)
	return err
}

// Retired returns the tables that only an earlier version uses.
func Retired() []string { return retired[:] }

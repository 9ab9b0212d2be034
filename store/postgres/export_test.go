package postgres

import "context"

// OpenSteps is Open of a version of proviso with other steps of the schema.
func OpenSteps(ctx context.Context, url string, texts ...string) (*DB, error) {
	list := make([]step, len(texts))
	for i, text := range texts {
		list[i] = step{"step", text}
	}
	return open(ctx, url, Options{Connections: 3}, list)
}

// Steps returns the texts of the steps of this version.
func Steps() (texts []string, err error) {
	list, err := steps()
	for _, s := range list {
		texts = append(texts, s.text)
	}
	return texts, err
}

// ParseURL returns why a text is no URL of a database.
func ParseURL(text string) error {
	_, err := parse(text)
	return err
}

// Retired are the tables that only an earlier version uses.
func Retired() []string { return retired[:] }

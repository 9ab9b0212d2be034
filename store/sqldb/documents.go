package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

const documentColumns = `document.seq, document.kind, document.name, hash, number, prompt_hash, media_type, created_by, created,
	length(content), EXISTS (SELECT 1 FROM current WHERE current.document = document.seq AND current.project = document.project AND current.kind = document.kind AND current.name = document.name)`

// readDocument reads a row of documentColumns and the columns that follow.
func readDocument(row scanner, more ...any) (doc store.Document, seq int64, err error) {
	into := []any{&seq, &doc.Kind, &doc.Name, &doc.Hash, &doc.Number, &doc.PromptHash, &doc.MediaType, &doc.CreatedBy,
		at(&doc.Created), &doc.Size, &doc.Current}
	err = row.Scan(append(into, more...)...)
	return doc, seq, err
}

// PutDocument implements [store.Documents].
func (d project) PutDocument(ctx context.Context, n store.NewDocument) (doc store.Document, created bool, err error) {
	if err := errors.Join(d.name.Check(), n.Check()); err != nil {
		return store.Document{}, false, err
	}
	hash, now, of := n.Version(), d.now(), string(d.name)
	var conflict error
	err = d.change(ctx, "keep a document in", func(t *tx) error {
		if doc, conflict, err = t.replaced(of, n, hash); err != nil || conflict != nil {
			return err
		}
		r, err := t.changed(`INSERT INTO document (project, kind, name, hash, number, prompt_hash, media_type, created_by, created, content)
			SELECT ?1, ?2, ?3, ?4, coalesce(max(number), 0) + 1, ?5, ?6, ?7, ?8, ?9 FROM document WHERE project = ?1 AND kind = ?2 AND name = ?3
			ON CONFLICT (project, kind, name, hash) DO NOTHING`,
			of, string(n.Kind), n.Name, hash, n.PromptHash, n.MediaType, n.CreatedBy, micros(now), nonNil(n.Content))
		if err != nil {
			return err
		}
		created = r == 1
		if _, err := t.exec(`INSERT INTO current (project, kind, name, document)
			SELECT project, kind, name, seq FROM document WHERE project = ? AND kind = ? AND name = ? AND hash = ?
			ON CONFLICT (project, kind, name) DO UPDATE SET document = excluded.document`, of, string(n.Kind), n.Name, hash); err != nil {
			return err
		}
		doc, _, err = readDocument(t.queryRow("SELECT "+documentColumns+" FROM document WHERE project = ? AND kind = ? AND name = ? AND hash = ?",
			of, string(n.Kind), n.Name, hash))
		return err
	})
	if err != nil {
		return store.Document{}, false, err
	}
	if conflict != nil {
		return doc, false, conflict
	}
	doc.Content = n.Content
	return doc, created, nil
}

// replaced returns a Conflict and the current version, unless the current version is the one
// that n replaces or has the hash of n.
func (t *tx) replaced(project string, n store.NewDocument, hash string) (current store.Document, conflict, err error) {
	if n.Replaces == nil {
		return current, nil, nil
	}
	var content []byte
	current, _, err = readDocument(t.queryRow("SELECT "+documentColumns+`, content FROM document
		WHERE seq = (SELECT document FROM current WHERE project = ? AND kind = ? AND name = ?)`, project, string(n.Kind), n.Name), &content)
	current.Content = content
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return current, nil, err
	case current.Hash == *n.Replaces || current.Hash == hash:
		return current, nil, nil
	case current.Hash == "":
		conflict = proviso.Errorf(proviso.Conflict, "%s %s no longer exists", title(n.Kind), short(n.Name))
	case *n.Replaces == "":
		conflict = proviso.Errorf(proviso.Conflict, "there is a %s %s already", title(n.Kind), short(n.Name))
	default:
		conflict = proviso.Errorf(proviso.Conflict, "%s %s was changed meanwhile: its current version is %s", title(n.Kind), short(n.Name), short(current.Hash))
	}
	return current, conflict, nil
}

// DeleteDocument implements [store.Documents].
func (d project) DeleteDocument(ctx context.Context, kind store.Kind, name string) error {
	return d.change(ctx, "delete a document from", func(t *tx) error {
		of := []any{string(d.name), string(kind), name}
		if _, err := t.exec("DELETE FROM current WHERE project = ? AND kind = ? AND name = ?", of...); err != nil {
			return err
		}
		return t.changeOne(notFound(title(kind), name), "DELETE FROM document WHERE project = ? AND kind = ? AND name = ?", of...)
	})
}

// nonNil returns bytes for a column that is never NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Document implements [store.Documents].
func (d project) Document(ctx context.Context, kind store.Kind, name, hash string) (store.Document, error) {
	query := "SELECT " + documentColumns + ", content FROM document WHERE project = ? AND kind = ? AND name = ? AND hash = ?"
	args := []any{string(d.name), string(kind), name, hash}
	if hash == "" {
		query = "SELECT " + documentColumns + ", content FROM document WHERE seq = (SELECT document FROM current WHERE project = ? AND kind = ? AND name = ?)"
		args = args[:3]
	}
	var content []byte
	doc, _, err := readDocument(d.queryRow(ctx, query, args...), &content)
	doc.Content = content
	if errors.Is(err, sql.ErrNoRows) && hash != "" {
		err = proviso.Errorf(proviso.NotFound, "there is no version %s of %s %s", short(hash), title(kind), short(name))
	}
	return doc, d.failed("read", noRow(err, title(kind), name))
}

// title returns the name of a kind for messages.
func title(kind store.Kind) string { return strings.ReplaceAll(string(kind), "_", " ") }

// ListDocuments implements [store.Documents].
func (d project) ListDocuments(ctx context.Context, f store.DocumentFilter, p store.Page) (store.List[store.Document], error) {
	if f.Name == "" {
		return d.listNames(ctx, f.Kind, p)
	}
	c := d.conditions("project")
	c.equal("kind", string(f.Kind))
	c.equal("name", f.Name)
	return page(ctx, d.reader, "versions", p, "SELECT "+documentColumns+" FROM document", "seq DESC", &c,
		func(row scanner) (store.Document, int64, error) { return readDocument(row) }, nil)
}

// listNames lists the current version of every name.
func (d project) listNames(ctx context.Context, kind store.Kind, p store.Page) (store.List[store.Document], error) {
	c := d.conditions("current.project")
	after, ok, err := p.Position("documents")
	if err != nil {
		return store.List[store.Document]{}, err
	}
	if ok {
		kind, name, _ := strings.Cut(after, ":")
		c.add("(current.kind, current.name) > (?, ?)", kind, name)
	}
	c.equal("current.kind", string(kind))
	return pageAt(ctx, d.reader, "documents", p, "SELECT "+documentColumns+" FROM current JOIN document ON document.seq = current.document",
		"current.kind, current.name", &c, func(row scanner) (store.Document, string, int, error) {
			doc, _, err := readDocument(row)
			return doc, string(doc.Kind) + ":" + doc.Name, 0, err
		})
}

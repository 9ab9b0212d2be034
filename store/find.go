package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
)

// AllKeys returns all keys.
func AllKeys(ctx context.Context, keys Keys) ([]Key, error) {
	var list []Key
	for k, err := range All(ctx, keys.ListKeys) {
		if err != nil {
			return nil, err
		}
		list = append(list, *k)
	}
	return list, nil
}

// FindKey finds a key by its id, by its name if only one active key has it, or by its secret.
// The secret is what people have when a key has leaked.
func FindKey(ctx context.Context, keys Keys, name string) (Key, error) {
	if IsSecret(name) {
		return keys.Authenticate(ctx, name)
	}
	list, err := AllKeys(ctx, keys)
	if err != nil {
		return Key{}, err
	}
	var named, valid []string
	found := -1
	for i, k := range list {
		switch {
		case k.ID == name:
			return k, nil
		case !k.Revoked.IsZero():
			continue
		case k.Name == name:
			found = i
			named = append(named, k.ID)
		}
		valid = append(valid, k.ID)
	}
	switch len(named) {
	case 0:
		return Key{}, &proviso.Error{Code: proviso.NotFound, Message: fmt.Sprintf("there is no key %q", redactedSecret(name)), Valid: valid}
	case 1:
		return list[found], nil
	}
	return Key{}, &proviso.Error{Code: proviso.Invalid, Message: fmt.Sprintf("%d keys are called %q; give the id of one", len(named), name), Valid: named}
}

// redactedSecret shortens a secret that was given by mistake to its first characters.
func redactedSecret(text string) string {
	if strings.HasPrefix(text, SecretPrefix) {
		return SecretHint(text) + "…"
	}
	return text
}

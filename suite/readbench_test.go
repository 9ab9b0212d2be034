package suite_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/proviso-eval/proviso/suite"
)

// BenchmarkRead reads a small suite whose cases are in another file, as at the start
// of a command.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	config := "description: bench\nprompts:\n  - '{{output}}'\nproviders:\n  - echo\ntests: file://tests.jsonl\n"
	for name, text := range map[string]string{"promptfooconfig.yaml": config, "tests.jsonl": `{"vars":{"output":"x"}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, mistakes := suite.Read(context.Background(), nil, suite.Options{Facts: facts, Dir: dir}); mistakes.Err() != nil {
			b.Fatal(mistakes)
		}
	}
}

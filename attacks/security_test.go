package attacks

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// promises maps the beginning of each sentence, or table row, under "What is promised" in
// docs/security.md to the tests for it: package.Test, or a script file.
var promises = []struct {
	begins string
	tests  string
}{
	{"An output is never run", "check.TestProgramArguments sandbox.TestForms"},
	{"Templates are rendered once", "internal/template.TestResultsAreNotRenderedAgain internal/template.TestHostileTemplates"},
	{"Output is escaped for its destination", "report.TestTerminalIsHarmless report.TestHTMLIsHarmless report.TestMarkdownIsHarmless report.TestAnnotationsAreHarmless report.TestCSVIsHarmless report.TestJUnitIsHarmless report.TestYAMLIsHarmless"},
	{"The HTML report runs only its own script", "report.TestHTMLPolicyHasTheHashes"},

	{"Untrusted text is inside a fence", "judge.TestFence judge.TestHostileContent"},
	{"Only a reply in exactly the requested form", "judge.TestReplies judge.TestImitatedVerdicts judge.TestImitatedVerdictsOfRubrics"},
	{"A judge that gives no verdict is an error", "judge.TestUnavailable judge.TestCutReplies judge.TestBrokenOff judge.TestThoughts"},
	{"A reply with a key twice", "judge.TestDuplicateKeys"},

	{"On Linux (amd64, arm64), code in workers", "sandbox.TestAttacks sandbox.TestNodeAttacks sandbox.TestRubyAttacks"},
	{"| open a file", "sandbox.TestAttacks sandbox.TestFiles sandbox.TestLinks"},
	{"| read keys from the environment", "sandbox.TestAttacks sandbox.TestNodeAttacks sandbox.TestRubyAttacks"},
	{"| reach the network (TCP, UDP, name resolution) without a grant", "sandbox.TestAttacks sandbox.TestNodeAttacks sandbox.TestNetworkGrant sandbox.TestSocketsOfTheMachine"},
	{"| start a process", "sandbox.TestAttacks sandbox.TestNodeAttacks sandbox.TestRubyAttacks sandbox.TestKilledParent"},
	{"| use up the machine", "sandbox.TestAttacks sandbox.TestErrorsThatAreNoVerdict sandbox.TestFlood sandbox.TestThreadsAreLimited sandbox.TestManySources sandbox.TestLimitsOfWorkers"},
	{"| keep computing", "sandbox.TestWorn sandbox.TestNodeThreads sandbox.TestNodeLeavesNothing"},
	{"| change the verdict of another", "sandbox.TestAttacks sandbox.TestNodeAttacks"},
	{"| reply in place of other code", "sandbox.TestAttacks"},
	{"Without namespaces", "sandbox.TestAttacks sandbox.TestNodeAttacks sandbox.TestRubyAttacks sandbox.TestThreadsAreLimited"},
	{"If root runs proviso", "sandbox.TestRootBecomesNobody"},
	{"Before its first use, proviso tests", "sandbox.TestSelfTest sandbox.TestSelfTestOfOthers"},
	{"Inline JavaScript", "internal/script.TestIsolation internal/script.TestLimits internal/script.TestLargeResults internal/script.TestLibraryIsHardened internal/template.TestHostileTemplates internal/regex.TestTimeout"},
	{"Under `--sandbox require`, JavaScript", "sandbox.TestEngineAttacks engine.TestWhereCodeRuns"},
	{"A lack of memory is an error", "sandbox.TestErrorsThatAreNoVerdict sandbox.TestRubyMistakes sandbox.TestNodeMistakes"},

	{"It gets no file, no network and no variable", "sandbox.TestPolicies engine.TestWhereCodeRuns"},
	{"Without a sandbox, it does not run", "sandbox.TestWithoutASandbox"},
	{"A suite's code can read", "cmd/proviso.TestGrants sandbox.TestPolicies"},
	{"Under `auto`, the default, providers", "sandbox.TestPolicies sandbox.TestPackages sandbox.TestNetworkGrant"},
	{"The suite's folder is not granted", "sandbox.TestFoldersThatAreNotGranted"},

	{"A key is sent only to its vendor's host", "provider.TestHosts provider.TestUntrustedSuites"},
	{"A redirect to another scheme", "internal/transport.TestRedirectsKeepNothing internal/transport.TestRedirects provider.TestRedirects"},
	{"Keys are never printed", "internal/transport.TestNoSecrets cmd/proviso/testdata/secrets.txtar"},
	{"Code can ask a model a question", "sandbox.TestErrorsThatAreNoVerdict cmd/proviso/testdata/judging/askllm.txtar"},

	{"A row that called a model is on disk", "attacks.TestKilledRunsAskNothingTwice"},
	{"A full disk immediately ends a run", "attacks.TestFullDiskEndsTheRun attacks.TestFullDiskEndsRecording attacks.TestStoreOnFullDisk"},
	{"A server pauses its runs", "attacks.TestStoreOnFullDisk"},
	{"`--resume` refuses a suite", "attacks.TestResumeWithAnotherText"},

	{"JSON from outside has at most", "attacks.TestReplyOfSmallObjects attacks.TestBodiesOfManyValues"},
	{"Keys, columns, anchors and levels", "attacks.TestWideCSV suite.TestTooManyCombinations attacks.TestReadersAreLinear"},
	{"Reading untrusted text takes time in proportion", "attacks.TestReadersAreLinear"},
	{"Reading stops a quarter of a second", "attacks.TestReadersStop"},
	{"A suite can name regular files only", "suite.TestIrregularFiles"},
	{"A model's name in a vendor's path", "provider.TestNamesInPaths"},

	{"API keys take turns at the processor", "attacks.TestOneKeyDoesNotStarveOthers internal/turns.TestLightKeyDoesNotWait"},
	{"A request computes for at most", "attacks.TestOneKeyDoesNotStarveOthers"},
	{"SIGTERM ends a server", "attacks.TestStopUnderHostileBodies"},

	{"The server runs no code", "server.TestUntrusted server.TestProviders"},
	{"It stores hashes of API keys", "store/sqlite.TestSecretsAreNotKept"},
	{"Requests for what belongs to another", "attacks.TestOtherProject server.TestProjects server.TestIdempotencyOfProjects"},
	{"Within a project, a key with", "server.TestOwn"},
	{"`admin` is for the operator", "server.TestAdmin"},
	{"Only the key that sent spans", "server.TestSpansOfKeys"},
	{"The server refuses a suite that contains a secret", "attacks.TestKeyInSuite server.TestInlineSecrets"},

	{"The app's pages run only", "server.TestPages server.TestDocsPage"},
	{"A page of another site can neither", "server.TestPagesNeedThisHost server.TestSession server.TestRequests server.TestHeaders"},
	{"A browser has a random cookie", "server.TestSession"},
	{"A session ends with its key", "server.TestSession server.TestSessionEnds"},
	{"After ten wrong keys", "server.TestLogins"},
	{"The link of `proviso view` works once", "server.TestOpenToken server.TestTokenFromAnotherSite"},
	{"The settings page shows which", "server.TestSettings"},

	{"Without `--panel-origin`, no page", "server.TestPreflight server.TestRequests server.TestHeaders"},
	{"With it, pages of exactly these origins", "server.TestPanelTokens server.TestPreflight server.TestPanelScript"},
	{"A panel token reads one evaluation", "server.TestPanelTokens"},
	{"A token is valid only in requests", "server.TestPanelTokens"},
	{"An API key, a cookie or a server without keys", "server.TestPanelTokens server.TestOpenServerAndPanels"},
	{"Only the key that made an evaluation", "server.TestMakingPanelTokens"},
	{"Tokens are stored like sessions", "server.TestMakingPanelTokens server.TestPanelStreamEnds"},
	{"A page with a token has at most ten", "server.TestTokenStreams"},
	{"Streamed evaluations take bounded memory", "server.TestHeldBytes server.TestHeldResults server.TestHeldMemory"},

	{"`proviso proxy` changes no reply", "proxy.TestReplies proxy.TestFlush proxy.TestHTTP2 proxy.TestThousandStreams"},
	{"Keys in requests are forwarded", "proxy.TestKeysAreNotKept"},
	{"Headers that identify an agent", "proxy.TestEvents proxy.TestRequests"},
	{"The proxy removes what a `redact` rule names", "proxy.TestRedaction"},
	{"Truncated text also loses", "proxy.TestSeam"},
	{"Recorded data take at most", "proxy.TestDeadServer proxy.TestAllowance proxy.TestServerKilled proxy.TestUpload"},
	{"Hostile replies and requests", "proxy.TestReplies proxy.TestTrimmer proxy.TestFrames"},
	{"A request cannot leave the address", "proxy.TestPaths"},
	{"The server's key is sent only", "proxy.TestKeyFollowsNoRedirect"},

	{"proviso uses the network only for", "cmd/proviso.TestUntrustedNetwork internal/transport.TestHosts"},
}

// TestPromisesHaveTests: each sentence under "What is promised" in docs/security.md has
// tests, and they exist.
func TestPromisesHaveTests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## What is promised\n")
	section, _, found := strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("the page has no section about what is promised")
	}
	used := make([]bool, len(promises))
	for _, sentence := range promised(section) {
		n := 0
		for i, p := range promises {
			if strings.HasPrefix(sentence, p.begins) {
				used[i] = true
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d entries of promises are about %q", n, sentence)
		}
	}
	for i, p := range promises {
		if !used[i] {
			t.Errorf("no sentence of the page begins with %q", p.begins)
		}
		for name := range strings.FieldsSeq(p.tests) {
			if !exists(t, name) {
				t.Errorf("%q: there is no test %s", p.begins, name)
			}
		}
	}
}

// sentenceEnd matches the end of a sentence. Names of files and vendors have no space
// after their dots.
var sentenceEnd = regexp.MustCompile(`[.:](?:\s+|$)`)

// promised returns the sentences and table rows in a section.
func promised(section string) []string {
	var list []string
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "#"), strings.HasPrefix(line, "|--"), strings.HasPrefix(line, "| code cannot"), strings.HasPrefix(line, "A test maps"):
		case strings.HasPrefix(line, "|"):
			list = append(list, line)
		default:
			begin := 0
			for _, end := range sentenceEnd.FindAllStringIndex(line, -1) {
				if line[end[0]] == ':' && end[1] < len(line) {
					continue // the following text belongs to the sentence
				}
				list = append(list, strings.TrimSpace(line[begin:end[1]]))
				begin = end[1]
			}
			if rest := strings.TrimSpace(line[begin:]); rest != "" {
				list = append(list, rest)
			}
		}
	}
	return list
}

// exists reports whether a test package.Test, or a script file, exists.
func exists(t *testing.T, name string) bool {
	t.Helper()
	if strings.HasSuffix(name, ".txtar") {
		_, err := os.Stat(filepath.Join("..", filepath.FromSlash(name)))
		return err == nil
	}
	dot := strings.LastIndexByte(name, '.')
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(name[:dot]), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name[dot+1:]+"(t *testing.T)") {
			return true
		}
	}
	return false
}

// TestPromisesAreFound checks that TestPromisesHaveTests can fail.
func TestPromisesAreFound(t *testing.T) {
	t.Parallel()
	got := promised("\n### A\n\nOne: it is so. Two (`a.b`) is.\n\n| code cannot | because |\n|---|---|\n| fly | no wings |\n")
	if strings.Join(got, "/") != "One: it is so./Two (`a.b`) is./| fly | no wings |" {
		t.Errorf("sentences: %q", got)
	}
	if exists(t, "attacks.TestNothingLikeThis") || !exists(t, "attacks.TestPromisesAreFound") {
		t.Error("tests are not found by their names")
	}
}

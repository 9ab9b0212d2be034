package sandbox

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
)

// maxEnvTold is how many variables one warning names.
const maxEnvTold = 8

// readsEnv finds the name of an environment variable that JavaScript, Python or Ruby reads.
var readsEnv = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bprocess\.env(?:\?\.|\.|\[\s*["'])(\w+)|\b(?:environ\.get\(|environ\[|getenv\(|ENV\[|ENV\.fetch\()\s*["'](\w+)`)
})

// startsPrograms finds the module or the function with which code starts programs.
var startsPrograms = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`["'](?:node:)?(child_process)["']|(?m:^[ \t]*(?:import|from)[ \t]+(subprocess)\b)|\b(os\.system|os\.popen)\(|\b(Open3)\.`)
})

// lack is what the text of a source uses and does not get. The code does not always fail there: the
// variable may be undefined, and Node's spawnSync returns no output.
type lack struct {
	says  string   // what it lacks, and what helps; "" if it lacks nothing
	names []string // the variables that it lacks
}

// lackOf returns what the text of a source lacks in a profile.
func (s *Sandbox) lackOf(p profile, text string) lack {
	if !p.files {
		return lack{}
	}
	if names := s.withheld(p, text); len(names) > 0 {
		return lack{"reads " + strings.Join(names, ", ") + " from the environment, which is not granted; to allow it, use --grant env:" + strings.Join(names, " --grant env:"), names}
	}
	if m := startsPrograms().FindStringSubmatch(text); p.sandbox && m != nil {
		return lack{says: "uses " + strings.Join(m[1:], "") + ", but sandboxed code cannot start programs, and no grant allows it; for your own code, use --sandbox off"}
	}
	return lack{}
}

// missingValue finds the null or undefined value of a language in an exception's message.
var missingValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:null|undefined|None(?:Type)?|nil)\b`) })

// causes reports whether the lack is the reason for an exception: Python and Ruby name the
// variable that is missing.
func (l lack) causes(thrown *proviso.ScriptError) bool {
	return slices.ContainsFunc(l.names, func(name string) bool {
		return thrown.Name == "KeyError" && (thrown.Message == "'"+name+"'" || thrown.Message == `key not found: "`+name+`"`)
	})
}

// mayExplain reports whether the lack may be the reason for an exception with this message. It is
// a hint and no more, because the judged output can be part of the message.
func (l lack) mayExplain(message string) bool {
	return l.says != "" && (missingValue().MatchString(message) || slices.ContainsFunc(l.names, func(name string) bool { return strings.Contains(message, name) }))
}

// withheld returns the variables that a text reads, that are set, and that a profile does not
// get.
func (s *Sandbox) withheld(p profile, text string) []string {
	if p.env != envNamed || s.options.Env == nil {
		return nil
	}
	var names []string
	for _, m := range readsEnv().FindAllStringSubmatch(text, -1) {
		name := m[1] + m[2]
		if _, set := s.options.Env.Lookup(name); !set || len(names) == maxEnvTold || slices.Contains(names, name) || slices.Contains(s.options.Grants.Env, name) {
			continue
		}
		names = append(names, name)
	}
	return names
}

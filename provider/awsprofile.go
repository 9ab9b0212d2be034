package provider

import (
	"path/filepath"
	"strings"
)

// awsSection is one profile of AWS's configuration files.
type awsSection map[string]string

// logsIn reports whether the profile gets its keys from a service.
func (p awsSection) logsIn() bool {
	for _, name := range [...]string{"sso_session", "sso_start_url", "role_arn", "login_session", "web_identity_token_file"} {
		if p[name] != "" {
			return true
		}
	}
	return false
}

// readProfile reads a profile of ~/.aws/config and ~/.aws/credentials. A
// missing file is an empty one.
func (s settings) readProfile(name string) awsSection {
	home, _ := s.userEnv("HOME", "USERPROFILE")
	p := awsSection{}
	for _, f := range [...]struct{ variable, file, section string }{
		{"AWS_CONFIG_FILE", "config", "profile " + name},
		{"AWS_SHARED_CREDENTIALS_FILE", "credentials", name},
	} {
		path, _ := s.userEnv(f.variable)
		if path == "" && home != "" {
			path = filepath.Join(home, ".aws", f.file)
		}
		if path == "" {
			continue
		}
		data, err := readSmall(path)
		if err != nil {
			continue
		}
		parseProfile(string(data), f.section, p)
		if name == "default" && f.section != name {
			parseProfile(string(data), name, p)
		}
	}
	return p
}

// parseProfile reads one section of a file in AWS's form: lines of name=value.
// Indented lines belong to nested values and are skipped, because no setting
// that is read here has any.
func parseProfile(text, section string, into awsSection) {
	inside := false
	for line := range strings.Lines(text) {
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			name, _, _ := strings.Cut(line[1:], "]")
			inside = strings.Join(strings.Fields(name), " ") == section
		case inside && !indented:
			key, value, ok := strings.Cut(line, "=")
			if ok {
				value, _, _ = strings.Cut(value, " #")
				into[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
			}
		}
	}
}

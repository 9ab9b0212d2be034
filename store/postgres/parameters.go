package postgres

import (
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// parameter is a URL parameter that pgx reads as libpq does, see "Parameter Key Words" in the
// PostgreSQL manual. pgx sends every other parameter to the server as a setting, after the
// password: with a typo in sslmode, the password would go out unprotected.
type parameter struct {
	name     string
	variable string                  // environment variable with the same meaning, "" if there is none
	values   []string                // valid values, if there are few
	valid    func(value string) bool // nil if every value is valid, or if values lists them
	expected string                  // description of the values that valid accepts
}

var parameters = [...]parameter{
	{name: "channel_binding", variable: "PGCHANNELBINDING", values: []string{"disable", "prefer", "require"}},
	{name: "connect_timeout", variable: "PGCONNECT_TIMEOUT", valid: numberFrom(0), expected: "a whole number of seconds from 0"},
	{name: "database", variable: "PGDATABASE"},
	{name: "dbname"},
	{name: "default_query_exec_mode", values: []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"}},
	{name: "description_cache_capacity", valid: numberFrom(1), expected: "a whole number from 1"},
	{name: "host", variable: "PGHOST"},
	{name: "krbspn"},
	{name: "krbsrvname"},
	{name: "max_protocol_version", variable: "PGMAXPROTOCOLVERSION", values: []string{"3.0", "3.2", "latest"}},
	{name: "min_protocol_version", variable: "PGMINPROTOCOLVERSION", values: []string{"3.0", "3.2", "latest"}},
	{name: "passfile", variable: "PGPASSFILE"},
	{name: "password", variable: "PGPASSWORD"},
	{name: "port", variable: "PGPORT", valid: arePorts, expected: "a number from 1 to 65535"},
	{name: "require_auth", variable: "PGREQUIREAUTH", valid: areMethods, expected: "methods of authentication with commas, such as scram-sha-256, or all but some, such as !password,!md5"},
	{name: "service", variable: "PGSERVICE"},
	{name: "servicefile", variable: "PGSERVICEFILE", valid: canBeRead, expected: "a file that can be read"},
	{name: "ssl", valid: func(value string) bool { return value == "true" }, expected: "true, which means sslmode=require; sslmode has more values"},
	{name: "sslcert", variable: "PGSSLCERT", valid: canBeRead, expected: "a file that can be read"},
	{name: "sslcertmode", variable: "PGSSLCERTMODE", values: []string{"disable", "allow", "require"}},
	{name: "sslkey", variable: "PGSSLKEY", valid: canBeRead, expected: "a file that can be read"},
	{name: "sslmode", variable: "PGSSLMODE", values: []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}},
	{name: "sslnegotiation", variable: "PGSSLNEGOTIATION", values: []string{"postgres", "direct"}},
	{name: "sslpassword", variable: "PGSSLPASSWORD"},
	{name: "sslrootcert", variable: "PGSSLROOTCERT", valid: isRootCert, expected: "system, or a file that can be read"},
	{name: "sslsni", variable: "PGSSLSNI", values: []string{"0", "1"}},
	{name: "statement_cache_capacity", valid: numberFrom(1), expected: "a whole number from 1"},
	{name: "target_session_attrs", variable: "PGTARGETSESSIONATTRS", values: []string{"any", "read-write", "read-only", "primary", "standby", "prefer-standby"}},
	{name: "user", variable: "PGUSER"},
}

// settings are the most common session settings in URLs. Only the server knows all.
var settings = []string{"application_name", "options", "search_path"}

// unsupported are libpq parameters that pgx would send to the server as settings.
var unsupported = []string{"fallback_application_name", "gssdelegation", "gssencmode", "gsslib", "hostaddr", "keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval",
	"load_balance_hosts", "oauth_client_id", "oauth_client_secret", "oauth_issuer", "oauth_scope", "replication", "requirepeer", "requiressl", "scram_client_key", "scram_server_key",
	"ssl_max_protocol_version", "ssl_min_protocol_version", "sslcompression", "sslcrl", "sslcrldir", "sslkeylogfile"}

// checkParameters returns all mistakes in the parameters of a URL and in the corresponding
// environment variables. The error never shows a value or an unknown name, which may be part of
// a password, except a name close to a known one.
func checkParameters(text string) error {
	_, rest, _ := strings.Cut(text, "://")
	user := false
	if i := strings.IndexAny(rest, "@/"); i >= 0 && rest[i] == '@' { // as pgx does
		rest, user = rest[i+1:], true
	}
	server, query, _ := strings.Cut(rest, "?")
	if strings.Contains(server, "@") || !user && strings.Contains(query, "@") && mayBePassword(server, query) {
		return proviso.Errorf(proviso.Invalid, "the URL of the database is not valid: an @ in its password or behind its host is written as %%40; %s", form)
	}
	var mistakes, given []string
	for n, pair := range strings.Split(query, "&") {
		rawName, rawValue, is := strings.Cut(pair, "=")
		name, badName := url.PathUnescape(rawName)
		value, badValue := url.PathUnescape(rawValue)
		mistake := ""
		switch {
		case pair == "":
			continue
		case badName != nil || badValue != nil || !isName(name):
			return proviso.Errorf(proviso.Invalid, "the URL of the database is not valid: a parameter is like name=value, with each character that is not a letter or a digit written as %%XX")
		case !is && isKnown(name):
			mistake = "expected " + name + "=value"
		case !is: // postgres://user:password without a host may precede it
			mistake = "parameter " + strconv.Itoa(n+1) + ": expected name=value"
		case slices.Contains(given, name) && isKnown(name):
			mistake = "the parameter " + name + " is given twice"
		case slices.Contains(given, name):
			mistake = "parameter " + strconv.Itoa(n+1) + " is given twice"
		default:
			mistake = wrongParameter(name, value)
		}
		given = append(given, name)
		if mistake != "" {
			mistakes = append(mistakes, mistake)
		}
	}
	if len(mistakes) > 0 {
		return proviso.Errorf(proviso.Invalid, "the URL of the database is not valid: %s", strings.Join(mistakes, "; "))
	}
	for i := range parameters {
		p := &parameters[i]
		value := os.Getenv(p.variable) // as pgx does
		if p.variable == "" || value == "" || slices.Contains(given, p.name) {
			continue
		}
		if mistake := p.wrong(value); mistake != "" {
			mistakes = append(mistakes, "the variable "+p.variable+": "+mistake)
		}
	}
	if len(mistakes) > 0 {
		return proviso.Errorf(proviso.Invalid, "the database cannot be opened: %s", strings.Join(mistakes, "; "))
	}
	return nil
}

// mayBePassword reports whether an @ in the query of a URL without a user may be the end of its
// password, as in postgres://user:pass/wo?rd@host. That is not so if no password can start
// before the query, or if the text before it is a host and port and all parameters are known.
func mayBePassword(server, query string) bool {
	host, _, _ := strings.Cut(server, "/")
	_, port, hasPort := strings.Cut(host[strings.LastIndexByte(host, ']')+1:], ":")
	if !hasPort {
		return false
	}
	if port == "" || !arePorts(port) {
		return true
	}
	for pair := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(pair, "="); pair != "" && !isKnown(name) {
			return true
		}
	}
	return false
}

// escaped returns a URL with each further = in a parameter value as %3D. pgx and libpq refuse a
// raw one, but programs that parse URLs by RFC 3986 accept it.
func escaped(text string) string {
	from := strings.Index(text, "://") + len("://")
	if i := strings.IndexAny(text[from:], "@/"); i >= 0 && text[from+i] == '@' { // as pgx does
		from += i
	}
	server, query, is := strings.Cut(text[from:], "?")
	if !is {
		return text
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		if name, val, is := strings.Cut(pair, "="); is {
			pairs[i] = name + "=" + strings.ReplaceAll(val, "=", "%3D")
		}
	}
	return text[:from] + server + "?" + strings.Join(pairs, "&")
}

// isKnown reports whether a text is the name of a parameter. Any other text may be part of a
// password, and no message shows it.
func isKnown(name string) bool {
	return slices.ContainsFunc(parameters[:], func(p parameter) bool { return p.name == name }) ||
		slices.Contains(settings, name) || slices.Contains(unsupported, name)
}

// wrongParameter returns why a parameter cannot be used; "" if it can, or if only the server
// can tell.
func wrongParameter(name, value string) string {
	var known []string
	for i := range parameters {
		if p := &parameters[i]; p.name == name {
			if mistake := p.wrong(value); mistake != "" {
				return "the parameter " + name + ": " + mistake
			}
			return ""
		}
		known = append(known, parameters[i].name)
	}
	switch {
	case slices.Contains(settings, name) || strings.Contains(name, "."):
		return ""
	case slices.Contains(unsupported, name):
		return "the parameter " + name + " of libpq is not supported; leave it out"
	}
	plain := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	for _, k := range known {
		if strings.ReplaceAll(k, "_", "") == plain {
			return "there is no parameter " + name + document.DidYouMean(k, known)
		}
	}
	if hint := document.DidYouMean(name, append(known, settings...)); hint != "" && len(name) > 4 { // "role" is close to "port"
		return "there is no parameter " + name + hint
	}
	return ""
}

// wrong returns what a value should be; "" if the value is valid.
func (p *parameter) wrong(value string) string {
	switch {
	case p.values != nil && !slices.Contains(p.values, value):
		mistake := "expected " + strings.Join(p.values, ", ")
		if len(p.values) > 1 {
			last := len(p.values) - 1
			mistake = "expected " + strings.Join(p.values[:last], ", ") + " or " + p.values[last]
		}
		if len(value) > 2 {
			mistake += document.DidYouMean(value, p.values)
		}
		return mistake
	case p.valid != nil && value != "" && !p.valid(value):
		return "expected " + p.expected
	}
	return ""
}

// isName reports whether a text has the form of a parameter name.
func isName(text string) bool {
	return text != "" && len(text) <= 63 && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
}

func numberFrom(least int64) func(string) bool {
	return func(value string) bool {
		n, err := strconv.ParseInt(value, 10, 32)
		return err == nil && n >= least
	}
}

func arePorts(value string) bool {
	for port := range strings.SplitSeq(value, ",") {
		if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
			return false
		}
	}
	return true
}

// areMethods reports whether a value is a list of authentication methods: those allowed, or,
// each with !, those forbidden.
func areMethods(value string) bool {
	methods := strings.Split(value, ",")
	_, first := strings.CutPrefix(strings.TrimSpace(methods[0]), "!")
	var seen []string
	for _, text := range methods {
		method, not := strings.CutPrefix(strings.TrimSpace(text), "!")
		if not != first || slices.Contains(seen, method) || !slices.Contains([]string{"password", "md5", "gss", "sspi", "scram-sha-256", "oauth", "none"}, method) {
			return false
		}
		seen = append(seen, method)
	}
	return true
}

func canBeRead(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return f.Close() == nil && err == nil && !info.IsDir()
}

func isRootCert(value string) bool { return value == "system" || canBeRead(value) }

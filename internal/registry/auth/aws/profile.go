package aws

import (
	"context"
	"maps"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"promoter/internal/fault"
)

// maxSources is how many profiles a role may lead through.
const maxSources = 5

// profile is a section of the shared files of AWS, with keys in lower case. The SDK
// reads these files only together with its default chain, which runs programs.
// https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
type profile map[string]string

// unsupported are the keys of a profile that needs a program or an interactive login.
var unsupported = []string{"credential_process", "sso_session", "sso_start_url", "login_session"}

// profile returns the selected profile, and whether it names an identity. A profile
// may also hold just a region.
func (s *Source) profile() (selected profile, configured bool, err error) {
	all, err := s.readProfiles()
	if err != nil {
		return nil, false, err
	}
	name := s.machine.Var("AWS_PROFILE")
	if name == "" {
		selected = all["default"]
		for _, key := range append([]string{"aws_access_key_id", "role_arn"}, unsupported...) {
			configured = configured || selected[key] != ""
		}
		return selected, configured, nil
	}
	selected, ok := all[name]
	if !ok {
		return nil, false, fault.New(fault.Invalid, "AWS profile: AWS_PROFILE names %q, which neither shared file has", name)
	}
	return selected, true, nil
}

// fromProfile returns the keys of a profile; depth is how many more profiles it may
// lead through.
func (s *Source) fromProfile(ctx context.Context, p profile, depth int) (aws.Credentials, error) {
	const name = "AWS profile"
	role := p["role_arn"]
	switch {
	case depth == 0:
		return aws.Credentials{}, fault.New(fault.Invalid, "%s: source_profile leads through more than %d profiles", name, maxSources)
	case role != "" && p["web_identity_token_file"] != "":
		return s.webIdentity(ctx, p["web_identity_token_file"], role)
	case role != "":
		keys, err := s.profileSource(ctx, p, depth)
		if err != nil {
			return aws.Credentials{}, err
		}
		return s.assume(ctx, keys, role)
	case p["aws_access_key_id"] != "" && p["aws_secret_access_key"] != "":
		return aws.Credentials{
			AccessKeyID: p["aws_access_key_id"], SecretAccessKey: p["aws_secret_access_key"], SessionToken: p["aws_session_token"],
		}, nil
	}
	for _, key := range unsupported {
		if p[key] != "" {
			return aws.Credentials{}, fault.New(fault.Invalid,
				"%s: %s is not supported: promoter runs no program and has no interactive login: use a web identity, "+
					"a role of the machine, or keys", name, key)
		}
	}
	return aws.Credentials{}, fault.New(fault.Invalid, "%s: it has neither keys nor a role with a source", name)
}

// profileSource returns the keys with which a profile's role is assumed.
func (s *Source) profileSource(ctx context.Context, p profile, depth int) (aws.Credentials, error) {
	if name := p["source_profile"]; name != "" {
		all, err := s.readProfiles()
		if err != nil {
			return aws.Credentials{}, err
		}
		source := maps.Clone(all[name])
		if name == p["name"] {
			delete(source, "role_arn") // a profile that names itself means its own keys
		}
		return s.fromProfile(ctx, source, depth-1)
	}
	switch p["credential_source"] {
	case "Environment":
		if keys := s.variables(); keys.HasKeys() {
			return keys, nil
		}
	case "Ec2InstanceMetadata":
		return s.instance(ctx)
	case "EcsContainer":
		return s.container(ctx)
	}
	return aws.Credentials{}, fault.New(fault.Invalid,
		"AWS profile: a role needs source_profile, web_identity_token_file, or a credential_source that is available")
}

// readProfiles reads both shared files. A missing file has no profiles, unless a
// variable names it.
func (s *Source) readProfiles() (map[string]profile, error) {
	all := map[string]profile{}
	for _, file := range []struct {
		variable, name string
		config         bool
	}{
		{"AWS_CONFIG_FILE", "config", true},
		{"AWS_SHARED_CREDENTIALS_FILE", "credentials", false}, // takes precedence
	} {
		location, home := s.machine.Var(file.variable), s.machine.Var("HOME")
		named := location != ""
		if !named && home == "" {
			continue
		}
		if !named {
			location = path.Join(home, ".aws", file.name)
		}
		text, err := s.machine.File("AWS profile", location)
		if err != nil && named {
			return nil, err
		}
		if err == nil {
			parseProfiles(all, text.Reveal(), file.config)
		}
	}
	return all, nil
}

// parseProfiles adds the profiles of a file. In the config file all names but
// "default" begin with "profile". Indented lines belong to a nested setting, and no
// setting that is read here has any.
func parseProfiles(all map[string]profile, text string, config bool) {
	var current profile
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "" || strings.ContainsRune("#; \t", rune(line[0])):
		case line[0] == '[':
			current = nil
			if name, ok := profileName(line, config); ok {
				if all[name] == nil {
					all[name] = profile{"name": name}
				}
				current = all[name]
			}
		default:
			key, value, found := strings.Cut(line, "=")
			if !found || current == nil {
				continue
			}
			for _, comment := range []string{" #", " ;", "\t#", "\t;"} {
				value, _, _ = strings.Cut(value, comment)
			}
			current[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
		}
	}
}

// profileName returns the name of the profile that a section heading begins.
func profileName(heading string, config bool) (string, bool) {
	name, _, closed := strings.Cut(heading[1:], "]")
	name = strings.TrimSpace(name)
	rest, prefixed := strings.CutPrefix(name, "profile ")
	if !closed || config && !prefixed && name != "default" || !config && prefixed {
		return "", false
	}
	return strings.Trim(strings.TrimSpace(rest), `"'`), true
}

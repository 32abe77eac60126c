package aws

import (
	"context"
	"maps"
	"path"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// maxSources is how many roles a profile may lead through.
const maxSources = 5

// profile is a section of the shared files of AWS, keys in lower case.
// https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
type profile map[string]string

// profiles are the sections of both files.
type profiles map[string]profile

// profile returns the profile that the process is to use, and whether there is one
// that says who it is.
func (s *Source) profile() (profile, bool, error) {
	all, err := s.readProfiles()
	if err != nil {
		return nil, false, err
	}
	name := s.machine.Var("AWS_PROFILE")
	found, ok := all[first(name, "default")]
	if !ok && name != "" {
		return nil, false, fault.New(fault.Invalid, "AWS profile: AWS_PROFILE names %q, which neither shared file has", name)
	}
	return found, name != "" || found.says(), nil
}

// says says whether a profile tells who the process is; one may only hold a region.
func (p profile) says() bool {
	for _, key := range append([]string{"aws_access_key_id", "role_arn"}, programs...) {
		if p[key] != "" {
			return true
		}
	}
	return false
}

// programs are the keys whose profile needs a program or a person.
var programs = []string{"credential_process", "sso_session", "sso_start_url", "login_session"}

// fromProfile finds out who a profile is; depth is how many more it may lead to.
func (s *Source) fromProfile(ctx context.Context, p profile, depth int) (keys, error) {
	const what = "AWS profile"
	role := p["role_arn"]
	switch {
	case depth == 0:
		return keys{}, fault.New(fault.Invalid, "%s: source_profile leads through more than %d profiles", what, maxSources)
	case role != "" && p["web_identity_token_file"] != "":
		return s.webIdentity(ctx, p["web_identity_token_file"], role)
	case role != "" && p["source_profile"] != "":
		all, err := s.readProfiles()
		if err != nil {
			return keys{}, err
		}
		source := maps.Clone(all[p["source_profile"]])
		if p["source_profile"] == p["name"] {
			delete(source, "role_arn") // its own keys are meant
		}
		return s.through(ctx, role, func() (keys, error) { return s.fromProfile(ctx, source, depth-1) })
	case role != "":
		return s.through(ctx, role, func() (keys, error) { return s.named(ctx, p["credential_source"]) })
	case p["aws_access_key_id"] != "" && p["aws_secret_access_key"] != "":
		found := keys{id: p["aws_access_key_id"], secret: secret.New(p["aws_secret_access_key"])}
		if session := p["aws_session_token"]; session != "" {
			found.session = secret.New(session)
		}
		return found, nil
	}
	for _, key := range programs {
		if p[key] != "" {
			return keys{}, fault.New(fault.Invalid, "%s: %s is not supported: promoter starts no program and logs nobody in: use a web identity, a role of the machine, or keys", what, key)
		}
	}
	return keys{}, fault.New(fault.Invalid, "%s: it says neither keys nor a role with its source", what)
}

// through assumes a role with what source gives.
func (s *Source) through(ctx context.Context, role string, source func() (keys, error)) (keys, error) {
	with, err := source()
	if err != nil {
		return keys{}, err
	}
	return s.assume(ctx, with, role)
}

// named asks the source that credential_source of a profile names.
func (s *Source) named(ctx context.Context, source string) (keys, error) {
	switch source {
	case "Environment":
		if found := s.variables(); found.id != "" && !found.secret.IsZero() {
			return found, nil
		}
	case "Ec2InstanceMetadata":
		return s.instance(ctx)
	case "EcsContainer":
		return s.container(ctx)
	}
	return keys{}, fault.New(fault.Invalid, "AWS profile: a role needs source_profile, web_identity_token_file, or a credential_source that is there")
}

// readProfiles reads both shared files; one that is not there has no profiles. What
// a person chose by a variable must be there.
func (s *Source) readProfiles() (profiles, error) {
	all := profiles{}
	for _, file := range []struct {
		variable, name string
		config         bool
	}{
		{"AWS_CONFIG_FILE", "config", true},
		{"AWS_SHARED_CREDENTIALS_FILE", "credentials", false}, // wins
	} {
		at, home := s.machine.Var(file.variable), s.machine.Var("HOME")
		if at == "" && home == "" {
			continue
		}
		text, err := s.machine.File("AWS profile", first(at, path.Join(home, ".aws", file.name)))
		if err != nil && at != "" {
			return nil, err
		}
		if err == nil {
			parseProfiles(all, text.Reveal(), file.config)
		}
	}
	return all, nil
}

// parseProfiles reads sections and their keys. In the config file all but the
// default one begin with "profile". Lines that begin with a space belong to a key
// before them, and no key that is read here has any.
func parseProfiles(all profiles, text string, config bool) {
	var present profile
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "" || strings.ContainsRune("#; \t", rune(line[0])):
		case line[0] == '[':
			present = all.section(line, config)
		default:
			key, value, found := strings.Cut(line, "=")
			if found && present != nil {
				present[strings.ToLower(strings.TrimSpace(key))] = withoutComment(strings.TrimSpace(value))
			}
		}
	}
}

// section returns the profile of a heading; nil: it is none.
func (all profiles) section(line string, config bool) profile {
	name, _, closed := strings.Cut(line[1:], "]")
	name = strings.TrimSpace(name)
	rest, prefixed := strings.CutPrefix(name, "profile ")
	if !closed || config && !prefixed && name != "default" || !config && prefixed {
		return nil
	}
	name = strings.Trim(strings.TrimSpace(rest), `"'`)
	if all[name] == nil {
		all[name] = profile{"name": name}
	}
	return all[name]
}

// withoutComment takes off what stands behind a space and a # or a semicolon.
func withoutComment(value string) string {
	for _, mark := range []string{" #", " ;", "\t#", "\t;"} {
		value, _, _ = strings.Cut(value, mark)
	}
	return strings.TrimSpace(value)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

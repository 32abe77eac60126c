package registry

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docker/cli/cli/config"
	"github.com/docker/cli/cli/config/configfile"
	"github.com/docker/cli/cli/config/credentials"
	"github.com/docker/cli/cli/config/types"
	"github.com/google/go-containerregistry/pkg/authn"

	"promoter/internal/image"
)

// userLogin returns the login of a user for an image repository, or an anonymous one. The
// first of the files that `docker login` and `podman login` write which has one counts.
func userLogin(env func(string) (string, bool), r image.Repository) (authn.Authenticator, error) {
	for _, path := range loginFiles(env) {
		file, err := readLogins(path)
		if err != nil {
			return nil, err
		}
		login, err := loginIn(file, r)
		if err != nil {
			return nil, err
		}
		if login != (types.AuthConfig{}) {
			return authn.FromConfig(authn.AuthConfig{
				Username: login.Username, Password: login.Password, IdentityToken: login.IdentityToken, RegistryToken: login.RegistryToken,
			}), nil
		}
	}
	return authn.Anonymous, nil
}

// loginFiles returns where the logins of a user may be, as the manuals of docker and
// containers-auth.json(5) list it.
func loginFiles(env func(string) (string, bool)) (paths []string) {
	value := func(name string) string {
		text, _ := env(name)
		return text
	}
	below := func(folder string, names ...string) {
		if folder != "" {
			paths = append(paths, filepath.Join(append([]string{folder}, names...)...))
		}
	}
	home := value("HOME")
	if home == "" {
		home = value("USERPROFILE")
	}
	below(value("REGISTRY_AUTH_FILE"))
	if folder := value("DOCKER_CONFIG"); folder != "" {
		below(folder, config.ConfigFileName)
	} else {
		below(home, ".docker", config.ConfigFileName)
	}
	below(value("XDG_RUNTIME_DIR"), "containers", "auth.json")
	if folder := value("XDG_CONFIG_HOME"); folder != "" {
		below(folder, "containers", "auth.json")
	} else {
		below(home, ".config", "containers", "auth.json")
	}
	return paths
}

// readLogins reads a file; one that does not exist has no logins.
func readLogins(path string) (*configfile.ConfigFile, error) {
	data, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return configfile.New(path), nil
	}
	if err != nil {
		return nil, err
	}
	defer data.Close() //nolint:errcheck // it is only read
	return config.LoadFromReader(data)
}

// loginIn returns the login in a file: that of a credential helper of the registry, or else
// the one for the longest part of the name.
func loginIn(file *configfile.ConfigFile, r image.Repository) (types.AuthConfig, error) {
	logins := file.AuthConfigs
	file.AuthConfigs = nil // a helper is asked, not the file
	servers := []string{r.Host()}
	if r.Host() == image.DockerHub {
		servers = []string{authn.DefaultAuthKey, image.DockerHub}
		if helper := file.CredentialHelpers[image.DockerHub]; helper != "" { // Podman's key
			file.CredentialHelpers[authn.DefaultAuthKey] = helper
		}
	}
	for _, server := range servers {
		login, err := file.GetCredentialsStore(r.Host()).Get(server)
		if login.ServerAddress = ""; err != nil || login != (types.AuthConfig{}) {
			return login, err
		}
	}
	keys := slices.Sorted(maps.Keys(logins))
	if r.Host() == image.DockerHub {
		keys = slices.Insert(keys, 0, authn.DefaultAuthKey) // docker stores more below it
	}
	for name, more := r.String(), true; more; {
		for _, key := range keys {
			login := logins[key]
			if login.ServerAddress = ""; login != (types.AuthConfig{}) && loginKey(key) == name {
				return login, nil
			}
		}
		end := strings.LastIndexByte(name, '/')
		if more = end > 0; more {
			name = name[:end]
		}
	}
	return types.AuthConfig{}, nil
}

// loginKey returns the host, or the part of a repository's name, that the key of a login is
// for. Keys may be URLs of the API; the host of Docker Hub has several names.
func loginKey(key string) string {
	host, path, _ := strings.Cut(key, "/")
	if strings.Contains(key, "://") {
		host, path = credentials.ConvertToHostname(key), ""
	}
	if host == "index.docker.io" || host == "registry-1.docker.io" {
		host = image.DockerHub
	}
	if path = strings.TrimSuffix(path, "/"); path == "" || path == "v1" || path == "v2" {
		return host
	}
	return host + "/" + path
}

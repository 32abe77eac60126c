package git

import (
	"cmp"
	"os"

	gogit "github.com/go-git/go-git/v5"
	gitconfig "github.com/go-git/go-git/v5/config"
)

// ConfiguredUser returns the name, else the email address, of the user in the Git configuration
// that applies to a folder: that of its repository, else that of the user. Empty: there is none.
// It proves nothing about who runs the program.
func ConfiguredUser(folder string, env func(string) (string, bool)) string {
	opened, err := gogit.PlainOpenWithOptions(folder, &gogit.PlainOpenOptions{DetectDotGit: true, EnableDotGitCommonDir: true})
	if err == nil {
		if local, err := opened.Config(); err == nil {
			if name := cmp.Or(local.User.Name, local.User.Email); name != "" {
				return name
			}
		}
	}
	global, err := globalConfig(env)
	if err != nil {
		return ""
	}
	return cmp.Or(global.User.Name, global.User.Email)
}

// globalConfig reads the configuration of the user. go-git does not know the variable.
// https://git-scm.com/docs/git#Documentation/git.txt-GITCONFIGGLOBAL
func globalConfig(env func(string) (string, bool)) (_ *gitconfig.Config, err error) {
	name, set := env("GIT_CONFIG_GLOBAL")
	if !set {
		return gitconfig.LoadConfig(gitconfig.GlobalScope)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	return gitconfig.ReadConfig(file)
}

package gitea

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// repository is one repository for one pass: what it remembers is never older.
type repository struct {
	forge       *Forge
	owner, name string
	info        scm.Info
	ways        []sdk.MergeStyle // of merging, in the order in which they are tried
	linear      bool             // none of them makes a merge commit
	withoutPull bool             // pull requests are switched off

	mu      sync.Mutex
	writers map[string]bool // by login in lower case
	said    rest.Said[scm.Status]
	labels  map[string]int64 // ids by name; nil: not asked yet
	drafts  map[int]string   // by number, what makes the title one of a draft
}

// features are what Gitea and Forgejo have.
var features = scm.Features{
	PullRequests: true, Closers: true, Approvals: true, Statuses: true, Comments: true,
	Teams: true, Compare: true, Releases: true, GuardedMerge: true, Rules: true,
}

// Open asks for a repository, and once for the account of the credential.
func (f *Forge) Open(ctx context.Context, name string) (scm.Repository, error) {
	noun := "repository " + rest.OneLine(name)
	owner, short, err := splitName(name)
	if err != nil {
		return nil, explain(noun, err)
	}
	found, resp, err := f.api(ctx).GetRepo(owner, short)
	if err != nil {
		return nil, explain(noun, answered(resp, err))
	}
	self, err := f.account(ctx)
	if err != nil {
		return nil, explain("the account of the token", err)
	}
	info, err := f.describe(found)
	if err != nil {
		return nil, explain(noun, err)
	}
	info.Self = self
	owner, short, _ = splitName(info.Name)
	return &repository{
		forge: f, owner: owner, name: short, info: info, ways: waysOf(found), withoutPull: !found.HasPullRequests,
		linear:  !found.AllowMerge && !found.AllowRebaseMerge,
		writers: map[string]bool{}, drafts: map[int]string{},
	}, nil
}

// describe makes the addresses itself: Git's gets the credential, and by the host
// of the other one the server's file gives rights. No answer may lead elsewhere.
func (f *Forge) describe(found *sdk.Repository) (scm.Info, error) {
	key, err := identity.ForgeKey(f.host, identity.NumericID(found.ID))
	if err != nil {
		return scm.Info{}, fault.New(fault.Temporary, "the answer describes no repository: %w", err)
	}
	if _, _, err := splitName(found.FullName); err != nil {
		return scm.Info{}, fault.New(fault.Temporary, "the answer describes no repository: %w", err)
	}
	page := f.page + "/" + found.FullName
	info := scm.Info{
		Key: key, Name: found.FullName, URL: page, CloneURL: page + ".git", DefaultBranch: found.DefaultBranch,
		Archived: found.Archived, Fork: found.Fork, MayPush: (found.Permissions == nil || found.Permissions.Push) && !found.Mirror,
	}
	if found.Empty {
		info.DefaultBranch = "" // it is the name of a branch to come
	}
	return info, nil
}

// accountKept is how long the name of our account is believed: a service lives long,
// and accounts can be renamed.
const accountKept = time.Hour

// account asks who the credential belongs to. Without one it is nobody.
func (f *Forge) account(ctx context.Context) (identity.User, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.self.Login != "" && f.now().Before(f.told.Add(accountKept)) {
		return f.self, nil
	}
	user, resp, err := f.api(ctx).GetMyUserInfo()
	if err != nil {
		return identity.User{}, answered(resp, err)
	}
	f.self, f.told = f.person(user), f.now()
	return f.self, nil
}

// Info returns what Gitea said when the repository was opened.
func (r *repository) Info() scm.Info { return r.info }

// Features returns all that there are. Where pull requests are switched off, what is
// about them is none.
func (r *repository) Features() scm.Features {
	if r.withoutPull {
		return rest.NoPulls{}.Without(features)
	}
	return features
}

// PullRequests returns the pull requests of the repository.
func (r *repository) PullRequests() scm.PullRequests {
	if r.withoutPull {
		return rest.NoPulls{Repository: r.info.Name, Setting: "allow them in the settings of the repository"}
	}
	return pulls{r}
}

// Signals returns what is said about its commits.
func (r *repository) Signals() scm.Signals { return signals{r} }

// Conversation returns the comments on its pull requests.
func (r *repository) Conversation() scm.Conversation { return conversation{r} }

// noun names a thing of the repository for errors.
func (r *repository) noun(format string, args ...any) string {
	return fmt.Sprintf(format, args...) + " of " + r.info.Name
}

// safeName is what owners, repositories, teams and accounts are named of.
var safeName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

func isName(name string) bool { return safeName.MatchString(name) && strings.Trim(name, ".") != "" }

// splitName takes OWNER/NAME apart.
func splitName(name string) (owner, short string, err error) {
	owner, short, found := strings.Cut(name, "/")
	if !found || !isName(owner) || !isName(short) {
		return "", "", fault.New(fault.Invalid, "the name of a repository is OWNER/NAME")
	}
	return owner, short, nil
}

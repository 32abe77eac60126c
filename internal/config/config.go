package config

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"promoter/internal/image"
	"promoter/internal/schedule"
)

// Config is a loaded .promoter.yaml. It is never changed after Load, and safe
// for use by several goroutines. Lists are in the order of the file.
type Config struct {
	File         string
	Components   []Component
	Applications []Application
	Environments []Environment
	Windows      []Window

	source    [sha256.Size]byte
	captures  bool           // environments capture {application} from their paths
	byName    map[string]int // components
	policies  map[string]*image.Policy
	exact     map[image.Repository][]int // indices of components without wildcards
	patterns  []int                      // indices of components with wildcards
	narrowed  bool                       // some application lists its components
	bareNames bool                       // a matched repository may be named by its path alone
	layers    []layer
	raws      []rawOverride // settings of each environment as the file has them
	order     []string      // environments, parents first
}

// Fingerprint tells one file from another: the same bytes, the same text.
func (c *Config) Fingerprint() string { return hex.EncodeToString(c.source[:]) }

// Component is one artifact that is followed.
type Component struct {
	Position
	Name     string
	Artifact image.Artifact
	Pattern  image.Pattern
	Select   Select
	Pin      image.Pin
	Only     *Only          // nil: everywhere
	Source   string         // source repository; empty: what the image's annotations say
	Poll     schedule.Times // when its tags are read; zero: as the server's file says
}

// Select says which version of a component is wanted.
type Select struct {
	image.Selection
	MinAge    time.Duration
	Platforms []string // os/arch or os/arch/variant
}

// Only narrows a component. A nil list means all.
type Only struct {
	Applications []string // globs
	Environments []string
}

// Application is settings of one application; from Config.Applications those of
// one glob as it stands in the file, from Config.Application those that hold.
type Application struct {
	Position
	Name        string   // a name or a glob
	Components  []string // nil: all that the files refer to
	Settle      time.Duration
	SameVersion bool
	Labels      map[string]string
}

// Window is a time that gates ask for by its name.
type Window struct {
	Position
	Name string
	schedule.Spec
	Compiled schedule.Window
}

// Propose says who starts a promotion.
type Propose string

// The values of propose.
const (
	ProposeAutomatic Propose = "automatic"
	ProposeManual    Propose = "manual"
	ProposeNever     Propose = "never"
)

// Land says how a promotion reaches the branch.
type Land string

// The values of land.
const (
	LandPR        Land = "pr"        // people merge
	LandAutomerge Land = "automerge" // promoter merges when everything holds
	LandPush      Land = "push"      // a commit straight to the branch
)

// Newer says what a newer snapshot does to an open promotion.
type Newer string

// The values of newer.
const (
	NewerRefresh Newer = "refresh"
	NewerQueue   Newer = "queue"
	NewerDrain   Newer = "drain"
)

// Group says what shares one pull request.
type Group string

// The values of pullRequest.group.
const (
	GroupApplication Group = "application"
	GroupEnvironment Group = "environment"
)

// OnFailure says what happens when a snapshot does not get healthy.
type OnFailure string

// The values of health.onFailure.
const (
	OnFailureStop     OnFailure = "stop"
	OnFailureRollback OnFailure = "rollback"
)

// Environment is one place in Git that promotions go to. Settings returns it as
// it holds for one application.
type Environment struct {
	Position
	Name        string
	Title       string
	Branch      string   // empty: the default branch
	Paths       []string // globs; nil: the whole tree
	Exclude     []string // globs, beside the default excludes
	After       []Parent
	Propose     Propose
	Land        Land
	Newer       Newer
	Gates       Gates
	Health      *Health // nil: unmonitored
	PullRequest PullRequest
	Write       []Write
	Labels      map[string]string

	match *matcher
}

// Parent is an environment that a snapshot comes from, with what must hold there.
type Parent struct {
	Position
	Environment string
	Healthy     bool
	Soak        time.Duration
	Checks      []string // globs
	Tagged      string
}

// Gates must hold before a promotion lands.
type Gates struct {
	Windows   []string
	Checks    []string // globs
	Approvals *Approvals
}

// Approvals is who must have approved.
type Approvals struct {
	Count int
	From  []string // NAME or team:GROUP/NAME; nil: everybody who may write
}

// Health says where the state of an environment is known from. Exactly one of
// the first five fields is set.
type Health struct {
	ArgoCD     []string // globs of applications
	Flux       string   // kind/namespace/name
	Check      string
	Deployment string
	API        bool

	From      string // receiver of the server; empty: any
	Timeout   time.Duration
	OnFailure OnFailure
}

// PullRequest says what pull requests look like.
type PullRequest struct {
	Title, Body                  string // empty: promoter's own words
	Labels, Reviewers, Assignees []string
	Draft                        bool
	Group                        Group
	Limit                        int // open pull requests in the environment
}

// Write is one value that the default writer does not find. Exactly one of Path
// and Regex is set.
type Write struct {
	Position
	File      string // may hold {environment} and {application}
	Path      string // of the value in YAML, in the grammar of the updater
	Regex     string
	Component string
	Value     string // may hold {tag}, {version}, {digest}, {revision}, {component}, {environment}, {application}
	Create    bool
}

// Defaults of settings.
const (
	DefaultLimit         = 20
	DefaultHealthTimeout = 30 * time.Minute
	DefaultWriteValue    = "{tag}"
)

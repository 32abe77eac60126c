package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/fault"
	"promoter/internal/snapshot"
	"promoter/internal/view"
)

// Snapshots promotes what pipelines post, and shows what is in each environment. It answers queries
// within what their principal may read: for it, nothing else exists.
type Snapshots interface {
	Post(ctx context.Context, posted PostedSnapshot) (Requested, error)
	In(ctx context.Context, query SnapshotQuery) ([]EnvironmentSnapshot, error)
	Run(ctx context.Context, name string, query SnapshotQuery) (Run, error)
	Bindings(ctx context.Context, query SnapshotQuery) (Bindings, error)
}

// PostedSnapshot is a snapshot, and for what it was posted.
type PostedSnapshot struct {
	Receiver    string // its name
	Repository  string // HOST/NAME or a key; empty: the snapshot names it, or there is only one
	Application string // empty: the snapshot names it
	Snapshot    snapshot.Snapshot
}

// Requested is the promotion of a posted snapshot.
type Requested struct {
	Schema       int               `json:"schema"`
	Name         string            `json:"name"` // of the snapshot
	Repository   string            `json:"repository"`
	Key          string            `json:"key"`
	Application  string            `json:"application"`
	Environments []string          `json:"environments"` // into which it was requested
	Images       map[string]string `json:"images"`       // by component, as the registry has them
	Repeated     bool              `json:"repeated"`     // it was posted before, and nothing was changed
	Run          string            `json:"run"`          // the path of its run
}

// SnapshotQuery selects targets of the repositories that a principal may read. Empty fields do
// not restrict, except the repository if there are several.
type SnapshotQuery struct {
	Principal   access.Principal
	Repository  string // HOST/NAME or a key
	Environment string
	Application string
	At          time.Time // zero: now
}

// EnvironmentSnapshot is what is in one target.
type EnvironmentSnapshot struct {
	Environment string            `json:"environment"`
	Since       time.Time         `json:"since,omitzero"`    // zero: unknown
	Commit      string            `json:"commit,omitempty"`  // that brought it; empty: unknown
	Unknown     []string          `json:"unknown,omitempty"` // components whose version at that time is not known
	Snapshot    snapshot.Snapshot `json:"-"`                 // in the form that the client asks for
}

// Run is the way of one snapshot through the environments.
type Run struct {
	Schema      int            `json:"schema"`
	At          time.Time      `json:"at"` // by the clock of the service
	Repository  string         `json:"repository"`
	Key         string         `json:"key"`
	Application string         `json:"application"`
	State       RunState       `json:"state"`
	Result      string         `json:"result,omitempty"` // when it is completed
	Receiver    string         `json:"receiver"`         // who posted it
	PostedAt    time.Time      `json:"postedAt"`
	Snapshot    snapshot.Plain `json:"snapshot"` // as it was posted
	Steps       []Step         `json:"steps"`    // in the order of the environments
}

// RunState is the state of a run.
type RunState string

// The states of a run.
const (
	RunWaiting   RunState = "Waiting"   // nothing is proposed anywhere
	RunActive    RunState = "Active"    // some environments have it, or it is proposed
	RunCompleted RunState = "Completed" // nothing is left to do
)

// The results of a completed run.
const (
	ResultSucceeded  = "Succeeded"  // every environment has it, or had it
	ResultSuperseded = "Superseded" // another snapshot took over
	ResultRejected   = "Rejected"   // a user rejected or reverted it
	ResultFailed     = "Failed"     // it is not healthy in some environment
)

// Step is a run in one environment.
type Step struct {
	Environment string            `json:"environment"`
	State       StepState         `json:"state"`
	Reason      *view.Reason      `json:"reason,omitempty"`
	Since       time.Time         `json:"since,omitzero"`
	Until       time.Time         `json:"until,omitzero"` // when it may change by itself
	Commit      string            `json:"commit,omitempty"`
	PullRequest *view.PullRequest `json:"pullRequest,omitempty"`
}

// StepState is the state of a step.
type StepState string

// The states of a step.
const (
	StepWaiting    StepState = "waiting"
	StepProposed   StepState = "proposed"
	StepLanded     StepState = "landed"  // where the environment has health, it is not healthy yet
	StepHealthy    StepState = "healthy" // landed and healthy, where the environment has health
	StepFailed     StepState = "failed"  // landed and not healthy
	StepSuperseded StepState = "superseded"
	StepRejected   StepState = "rejected"
	StepReverted   StepState = "reverted"
	StepRefused    StepState = "refused" // a file cannot be written
)

// Bindings are the targets of a repository.
type Bindings struct {
	Schema     int       `json:"schema"`
	At         time.Time `json:"at"` // by the clock of the service
	Repository string    `json:"repository"`
	Key        string    `json:"key"`
	Bindings   []Binding `json:"bindings"`
}

// Binding is what is in one target, and where.
type Binding struct {
	Environment string             `json:"environment"`
	Application string             `json:"application"`
	Snapshot    string             `json:"snapshot,omitempty"` // name of the posted one that is there
	Branch      string             `json:"branch"`
	Paths       []string           `json:"paths"`
	Commit      string             `json:"commit,omitempty"` // that last landed there
	Since       time.Time          `json:"since,omitzero"`   // when that landed
	State       string             `json:"state"`            // of the decision about it
	Reason      *view.Reason       `json:"reason,omitempty"`
	PullRequest *view.PullRequest  `json:"pullRequest,omitempty"`
	Health      *BindingHealth     `json:"health,omitempty"` // if the environment has health
	Components  []BindingComponent `json:"components"`
	Summary     string             `json:"summary"`
}

// BindingHealth is what was reported about what is in a target.
type BindingHealth struct {
	Status  string    `json:"status,omitempty"` // empty: nothing was reported
	Sync    string    `json:"sync,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Message string    `json:"message,omitempty"` // of the source
	Failure string    `json:"failure,omitempty"` // why it counts as failed
}

// BindingComponent is one component of a binding.
type BindingComponent struct {
	Name   string `json:"name"`
	Image  string `json:"image"`            // in the files
	Wanted string `json:"wanted,omitempty"` // if another one is wanted
	Actual string `json:"actual,omitempty"` // that runs instead, if a source reports another one
	Sync   string `json:"sync,omitempty"`   // as Argo CD names it; empty: the environment has no health, or nothing was reported
	Health string `json:"health,omitempty"` // likewise
}

// PathOfRun returns the path of the run of a snapshot.
func PathOfRun(name, repository, application string) string {
	return Prefix + "/runs/" + url.PathEscape(name) + "?" + url.Values{"repository": {repository}, "application": {application}}.Encode()
}

// snapshotQuery parses the parameters of a GET request.
func (a *API) snapshotQuery(c echo.Context, names ...string) (query SnapshotQuery, form string, err error) {
	given, err := Parameters(c, append([]string{"repository", "application"}, names...)...)
	if err != nil {
		return query, "", err
	}
	query = SnapshotQuery{
		Principal: principalOf(c), Repository: given["repository"], Application: given["application"], Environment: given["environment"],
	}
	query.At, err = timeOf(given, "at", a.Now())
	return query, given["form"], err
}

// The forms of snapshots in a response.
const (
	formPlain    = "plain"
	formResource = "resource"
	// asSnapshot is how clients of Kubernetes ask for a kind.
	// https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources
	asSnapshot = "as=Snapshot"
)

var errForm = errors.New("form must be plain or resource")

// snapshotsIn shows what is in an environment, or was there at a time.
func (a *API) snapshotsIn(c echo.Context) error {
	query, form, err := a.snapshotQuery(c, "form", "at")
	if err != nil {
		return err
	}
	if form == "" && strings.Contains(c.Request().Header.Get(echo.HeaderAccept), asSnapshot) {
		form = formResource
	}
	if query.Environment, err = PathParameter(c, "environment"); err != nil {
		return err
	}
	if form != "" && form != formPlain && form != formResource {
		return fault.Wrap(fault.Invalid, errForm)
	}
	found, err := a.Snapshots.In(c.Request().Context(), query)
	if err != nil {
		return err
	}
	if form == formResource {
		items := []snapshot.Resource{}
		for _, one := range found {
			items = append(items, one.Snapshot.Resource())
		}
		return c.JSON(http.StatusOK, snapshot.ListOf(items))
	}
	return c.JSON(http.StatusOK, plainList(a.Now(), found))
}

// plainSnapshots is the plain form of what is in an environment.
type plainSnapshots struct {
	Schema    int             `json:"schema"`
	At        time.Time       `json:"at"`
	Snapshots []plainSnapshot `json:"snapshots"`
}

type plainSnapshot struct {
	EnvironmentSnapshot
	Snapshot snapshot.Plain `json:"snapshot"`
}

func plainList(now time.Time, found []EnvironmentSnapshot) plainSnapshots {
	list := plainSnapshots{Schema: Schema, At: now.UTC(), Snapshots: []plainSnapshot{}}
	for _, one := range found {
		list.Snapshots = append(list.Snapshots, plainSnapshot{one, one.Snapshot.Plain()})
	}
	return list
}

func (a *API) run(c echo.Context) error {
	query, _, err := a.snapshotQuery(c)
	if err != nil {
		return err
	}
	name, err := PathParameter(c, "snapshot")
	if err != nil {
		return err
	}
	found, err := a.Snapshots.Run(c.Request().Context(), name, query)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, found)
}

func (a *API) bindings(c echo.Context) error {
	query, _, err := a.snapshotQuery(c, "environment")
	if err != nil {
		return err
	}
	found, err := a.Snapshots.Bindings(c.Request().Context(), query)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, found)
}

package client

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/api"
	"promoter/internal/app"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/serverfile"
	"promoter/internal/verb"
)

// historyFlags select events, and where they are read.
type historyFlags struct {
	targets flag.Targets
	service flag.Service
	query   api.HistoryQuery
	since   string
	direct  bool
	color   string
}

// NewHistory returns the command history.
func NewHistory(system console.System) *cobra.Command {
	var flags historyFlags
	command := &cobra.Command{
		Use:   "history",
		Short: "Show what was promoted, when, by which user, and why",
		Long: `history shows what promoter did and observed, newest first: pull requests opened, refreshed,
closed, and merged, what landed, whether it is healthy, failed, or was reverted, user decisions,
requests that ended because their versions can no longer come, and incidents that promoter
handled, such as a state branch that was deleted and is restored. Times are UTC.

It queries the running service as 'promoter status' does. Without a server file, or with
--direct, it reads the repositories: what landed, from the commit trailers on the environments'
branches, and the decisions that are still in effect, of the last 30 days or --since.

Exit codes: 0 success; 1 the service did not answer, or a repository could not be read.`,
		Example: `  promoter history --repo acme/gitops --env prod --since 7d
  promoter history --component web -o json
  promoter history --direct --repo https://github.com/acme/gitops --since 90d`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return runHistory(command, &flags, system) },
	}
	flags.targets.Add(command)
	flags.service.AddURL(command)
	set := command.Flags()
	set.StringVar(&flags.query.Environment, "env", "", "only the environment with this `NAME`")
	set.StringVar(&flags.query.Application, "app", "", "only the application with this `NAME`")
	set.StringVar(&flags.query.Component, "component", "", "only events that changed the component with this `NAME`")
	set.StringVar(&flags.since, "since", "",
		"only events since this `TIME`: a duration, as in 7d, or a time, as in 2026-01-31T00:00:00Z")
	set.IntVar(&flags.query.Limit, "limit", 100, "maximum `NUMBER` of events, up to 1000")
	set.StringVar(&flags.query.After, "after", "", "show the next `PAGE`: the value that the last line of the previous page shows")
	set.BoolVar(&flags.direct, "direct", false, "read the repositories instead of querying the service")
	set.StringVar(&flags.color, "color", "auto", flag.ColorUsage)
	return command
}

func runHistory(command *cobra.Command, flags *historyFlags, system console.System) error {
	if err := flags.check(); err != nil {
		return err
	}
	paint, err := console.NewPainter(flags.color, system)
	if err != nil {
		return err
	}
	found, err := flags.read(command, system)
	if err != nil {
		return err
	}
	history := found.History
	if err := render.PrintAs(system.Out, flags.targets.Output, history, func() string { return historyText(history, paint) }); err != nil {
		return fmt.Errorf("print the history: %w", err)
	}
	if len(history.Events) == 0 && flags.targets.Output == "text" {
		render.PrintMessage(system.Err, "no events match")
	}
	if history.Next != "" {
		render.PrintMessage(system.Err, "there is more: add --after %s", history.Next)
	}
	if found.Omitted > 0 {
		older := render.Count(found.Omitted, "older event is", "older events are")
		render.PrintMessage(system.Err, "%s not shown: add --limit, or a later --since", older)
	}
	if len(found.Failures) > 0 {
		render.PrintFailures(system.Err, found.Failures, "json")
		return console.ExitError(console.ExitFailed)
	}
	return nil
}

func (f *historyFlags) check() error {
	if err := render.CheckOutput(f.targets.Output); err != nil {
		return err
	}
	if f.query.Limit < 1 || f.query.Limit > api.MaxEvents {
		return fault.New(fault.Invalid, "--limit %d: write 1 to %d", f.query.Limit, api.MaxEvents)
	}
	var err error
	if f.since != "" {
		f.query.Since, err = api.Since(f.since, time.Now())
	}
	return err
}

// read queries the service, or reads the repositories if there is none.
func (f *historyFlags) read(command *cobra.Command, system console.System) (app.GitHistory, error) {
	if f.direct || !serverfile.HasFile(f.targets.Connection(system)) {
		return f.readGit(command, system)
	}
	if len(f.targets.Repositories) > 1 {
		return app.GitHistory{}, fault.New(fault.Invalid,
			"the service is asked about one repository, or about all: write --repo once, or --direct")
	}
	f.query.Repository = strings.Join(f.targets.Repositories, "")
	f.service.Config, f.service.Networks = f.targets.Config, f.targets.Networks
	client, err := f.service.Open(system)
	if err != nil {
		return app.GitHistory{}, err
	}
	history, err := client.History(command.Context(), f.query)
	return app.GitHistory{History: history}, err
}

// defaultSince is how far back repositories are read by default: what has to be fetched
// grows with it.
const defaultSince = 30 * 24 * time.Hour

func (f *historyFlags) readGit(command *cobra.Command, system console.System) (app.GitHistory, error) {
	if f.query.After != "" || f.service.URL != "" || f.service.CA != "" {
		return app.GitHistory{}, fault.New(fault.Invalid,
			"--after, --url and --ca go with a service; the repositories themselves are read here")
	}
	if f.query.Since.IsZero() {
		f.query.Since = time.Now().Add(-defaultSince)
	}
	opened, err := f.targets.Open(system)
	if err != nil {
		return app.GitHistory{}, err
	}
	progress := console.NewProgress(system)
	defer progress.Clear()
	return app.HistoryFromGit(command.Context(), opened, f.query, f.targets.Options(system, progress))
}

// historyText has one line for each event, the newest first, in columns, and one below for
// its reason. The repository is a column if there are several, and else a line of its own.
// Times are UTC.
func historyText(history api.History, paint render.Painter) string {
	single := len(history.Events) > 0 && !slices.ContainsFunc(history.Events, func(e api.Event) bool {
		return e.Repository != history.Events[0].Repository
	})
	rows := make([][]string, 0, len(history.Events))
	for _, e := range history.Events {
		row := []string{e.At.UTC().Format("2006-01-02 15:04:05Z")}
		if !single {
			row = append(row, e.Repository)
		}
		target := render.Scope(promotion.Target{Environment: e.Environment, Application: e.Application})
		rows = append(rows, append(row, target, e.Action, eventDetails(e)))
	}
	lines := render.Table(rows, func(column int, cell string) string {
		if column != len(rows[0])-2 {
			return cell
		}
		return paint.Paint(actionColor(cell), cell)
	})
	var b strings.Builder
	indent := ""
	if single {
		b.WriteString(render.Visible(history.Events[0].Repository) + "\n")
		indent = "  "
	}
	for i, line := range lines {
		b.WriteString(indent + line + "\n")
		if reason := history.Events[i].Reason; reason != nil && reason.Message != "" {
			b.WriteString(indent + "  " + render.Visible(reason.Message) + "\n")
		}
		if text := attributionText(history.Events[i]); text != "" {
			b.WriteString(indent + "  " + render.Visible(text) + "\n")
		}
	}
	return b.String()
}

// eventDetails returns what an event changed, the pull request, the commit, and the
// user.
func eventDetails(e api.Event) string {
	var parts []string
	for _, version := range e.Versions {
		to := image.Version{Tag: version.Tag, Digest: version.Digest}
		from := image.Version{Tag: version.FromTag, Digest: version.FromDigest}
		if from.Tag+from.Digest == "" {
			parts = append(parts, strings.TrimSpace(version.Component+" "+promotion.Label(to)))
			continue
		}
		parts = append(parts, promotion.Move{Component: version.Component, From: from, To: to}.String())
	}
	text := strings.Join(parts, ", ")
	if e.PullRequest != nil {
		text += " #" + strconv.Itoa(e.PullRequest.Number)
	}
	if e.Commit != "" {
		text += " " + e.Commit[:min(len(e.Commit), 12)]
	}
	if e.By != "" {
		text += " by " + e.By
	}
	return strings.TrimSpace(text)
}

// attributionText returns who requested and approved what an event is about. What only the
// trailers of a commit claim is marked.
func attributionText(e api.Event) string {
	var parts []string
	add := func(text, part string) {
		if slices.Contains(e.Unproven, part) {
			text += " (unproven)"
		}
		parts = append(parts, text)
	}
	if e.RequestedBy != "" || e.RequestReason != "" {
		text := "requested by " + e.RequestedBy
		switch {
		case e.RequestedBy == "":
			text = "because: " + e.RequestReason
		case e.RequestReason != "":
			text += ": " + e.RequestReason
		}
		if len(e.Bypassed) > 0 {
			text += "; bypassed " + strings.Join(e.Bypassed, ", ")
		}
		add(text, "request")
	}
	if len(e.ApprovedBy) > 0 {
		add("approved by "+strings.Join(e.ApprovedBy, ", "), "approval")
	}
	return strings.Join(parts, "; ")
}

func actionColor(act string) string {
	switch verb.Verb(act) {
	case "pushed", "merged", "landed", "healthy":
		return render.ColorGreen
	case verb.Reject, verb.Rollback, "closed", "failed", "reverted", "ended":
		return render.ColorRed
	case verb.Hold, verb.Freeze, "incident":
		return render.ColorYellow
	}
	return ""
}

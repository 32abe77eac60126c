package config

import "time"

// The raw types mirror .promoter.yaml key by key. Loading fills them with places;
// the JSON Schema is generated from them, and their comments are its texts.
// Tags: yaml is the key; values lists the texts a key may have, default first;
// required is for keys that must be there.

// rawConfig is the file .promoter.yaml of a GitOps repository.
type rawConfig struct {
	place
	// Version of this file's format.
	Version at[int] `yaml:"version" required:"true"`
	// Components are the artifacts that are followed, by name.
	Components named[*rawComponent] `yaml:"components"`
	// Applications are settings per application. The key is a name or a glob with *; later matching globs win over earlier ones, an exact name over all globs.
	Applications named[*rawApplication] `yaml:"applications"`
	// Environments are the places in Git that promotions go to, by name.
	Environments named[*rawEnvironment] `yaml:"environments"`
	// Windows are times, by name, that gates can ask for.
	Windows named[*rawWindow] `yaml:"windows"`

	Verify     reserved   `yaml:"verify"`
	Notify     reserved   `yaml:"notify"`
	Extensions extensions `yaml:"x-*"`
}

// rawComponent is one artifact that is followed. It has exactly one of image, chart and artifact.
type rawComponent struct {
	place
	// Image is the repository of a container image, without a tag. A * stands for one segment, ** for many.
	Image at[string] `yaml:"image"`
	// Chart is the repository of an OCI Helm chart: oci://HOST/PATH.
	Chart at[string] `yaml:"chart"`
	// Artifact is the repository of any other OCI artifact: oci://HOST/PATH.
	Artifact at[string] `yaml:"artifact"`
	// Select says which version is wanted.
	Select *rawSelect `yaml:"select" required:"true"`
	// Pin is how the version is written: in the style of the file, or as tag, digest, or both.
	Pin at[string] `yaml:"pin" values:"keep tag digest tag+digest"`
	// Only narrows the component to some applications or environments.
	Only *rawOnly `yaml:"only"`
	// Source is the source repository (HOST/OWNER/NAME), where the image's annotations do not say it.
	Source at[string] `yaml:"source"`
	// Poll is how often the service reads the component's tags from the registry: an interval, or a schedule. Default: what the server's file says.
	Poll rawPoll `yaml:"poll"`

	Verify reserved `yaml:"verify"`
	Notify reserved `yaml:"notify"`
}

// rawSchedule is when a registry is read.
type rawSchedule struct {
	place
	// Schedule says when, as cron: minute hour day month weekday.
	Schedule at[string] `yaml:"schedule" required:"true"`
	// TimeZone by its name in the time zone database. Default: UTC.
	TimeZone at[string] `yaml:"timeZone"`
}

// rawSelect has exactly one of semver, tag, newest, numeric, alphabetical and release.
type rawSelect struct {
	place
	// Semver is a range of semantic versions: ">=1.4 <2".
	Semver at[string] `yaml:"semver"`
	// Tag is a moving tag to follow; every new digest is a version.
	Tag at[string] `yaml:"tag"`
	// Newest takes the tag whose image was created last, of those that match this regular expression.
	Newest at[string] `yaml:"newest"`
	// Numeric takes the highest number, of the tags that match this regular expression.
	Numeric at[string] `yaml:"numeric"`
	// Alphabetical takes the last in alphabetical order, of the tags that match this regular expression.
	Alphabetical at[string] `yaml:"alphabetical"`
	// Release follows the releases of a repository: FORGE/OWNER/REPO.
	Release at[string] `yaml:"release"`
	// Filter is a regular expression whose group "version" is read as the semantic version.
	Filter at[string] `yaml:"filter"`
	// Exclude lists regular expressions of tags that are never taken.
	Exclude list `yaml:"exclude"`
	// MinAge is how long a version must have been seen before it is taken.
	MinAge at[time.Duration] `yaml:"minAge"`
	// Platforms that a version must have, as os/arch.
	Platforms list `yaml:"platforms"`
}

// rawOnly narrows a component.
type rawOnly struct {
	place
	// Applications, as names or globs with *. Default: all.
	Applications list `yaml:"applications"`
	// Environments, by name. Default: all.
	Environments list `yaml:"environments"`
}

// rawApplication is the settings of the applications that its key matches.
type rawApplication struct {
	place
	// Components that the application consists of. Default: all that its files refer to.
	Components list `yaml:"components"`
	// Settle is how long no component may have got a newer version before a snapshot is taken.
	Settle at[time.Duration] `yaml:"settle"`
	// SameVersion asks that all components have the same version.
	SameVersion at[bool] `yaml:"sameVersion"`
	// Labels are free text for pages, filters and metrics.
	Labels named[at[string]] `yaml:"labels"`
	// Environments holds settings of environments that differ for these applications: merged key by key over the environment, lists replaced.
	Environments named[*rawOverride] `yaml:"environments"`

	Notify reserved `yaml:"notify"`
}

// rawOverride is what may differ per application in an environment.
type rawOverride struct {
	place
	// Propose says who starts a promotion into this environment.
	Propose at[string] `yaml:"propose" values:"automatic manual never"`
	// Land says how a promotion reaches the branch.
	Land at[string] `yaml:"land" values:"pr automerge push"`
	// Newer says what a newer snapshot does to an open promotion.
	Newer at[string] `yaml:"newer" values:"refresh queue drain"`
	// After names the parent environments, with what must hold there.
	After rawAfter `yaml:"after"`
	// Gates must hold before landing.
	Gates *rawGates `yaml:"gates"`
	// Health says where the state of the environment is known from.
	Health *rawHealth `yaml:"health"`
	// PullRequest says what pull requests look like.
	PullRequest *rawPullRequest `yaml:"pullRequest"`
}

// rawEnvironment is one place in Git that promotions go to.
type rawEnvironment struct {
	place
	// Title is shown on pages instead of the name.
	Title at[string] `yaml:"title"`
	// Branch that holds the files. Default: the default branch of the repository.
	Branch at[string] `yaml:"branch"`
	// Paths are globs of the environment's files; a folder means all below it. Default: the whole tree.
	Paths list `yaml:"paths"`
	// Exclude are globs of files that are left alone.
	Exclude list `yaml:"exclude"`
	// Propose says who starts a promotion into this environment.
	Propose at[string] `yaml:"propose" values:"automatic manual never"`
	// Land says how a promotion reaches the branch.
	Land at[string] `yaml:"land" values:"pr automerge push"`
	// Newer says what a newer snapshot does to an open promotion.
	Newer at[string] `yaml:"newer" values:"refresh queue drain"`
	// After names the parent environments, with what must hold there.
	After rawAfter `yaml:"after"`
	// Gates must hold before landing.
	Gates *rawGates `yaml:"gates"`
	// Health says where the state of the environment is known from.
	Health *rawHealth `yaml:"health"`
	// PullRequest says what pull requests look like.
	PullRequest *rawPullRequest `yaml:"pullRequest"`
	// Write lists values that the default writer does not find.
	Write []*rawWrite `yaml:"write"`
	// Labels are free text for pages, filters and metrics.
	Labels named[at[string]] `yaml:"labels"`

	Mirrors    reserved `yaml:"mirrors"`
	Repository reserved `yaml:"repository"`
	Verify     reserved `yaml:"verify"`
	Notify     reserved `yaml:"notify"`
}

// rawConditions must hold in a parent before its snapshot is proposed.
type rawConditions struct {
	place
	// Healthy asks that the snapshot runs healthy in the parent.
	Healthy at[bool] `yaml:"healthy"`
	// Soak is how long the snapshot must have been in the parent.
	Soak at[time.Duration] `yaml:"soak"`
	// Checks are statuses (globs) that must have succeeded on the parent's landed commit.
	Checks list `yaml:"checks"`
	// Tagged is a tag that must point at the snapshot's digests.
	Tagged at[string] `yaml:"tagged"`
}

// rawGates must hold before a promotion lands.
type rawGates struct {
	place
	// Windows, by name, that must be open.
	Windows list `yaml:"windows"`
	// Checks are statuses (globs) that must have succeeded on the pull request.
	Checks list `yaml:"checks"`
	// Approvals that the pull request needs.
	Approvals *rawApprovals `yaml:"approvals"`
}

// rawApprovals is who must have approved.
type rawApprovals struct {
	place
	// Count of people. Default: 1.
	Count at[int] `yaml:"count"`
	// From lists the people who count: NAME or team:GROUP/NAME. Default: everybody who may write.
	From list `yaml:"from"`
}

// rawHealth has exactly one of argocd, flux, check, deployment and api.
type rawHealth struct {
	place
	// ArgoCD names Argo CD applications, as globs.
	ArgoCD list `yaml:"argocd"`
	// Flux names a Flux object: KIND/NAMESPACE/NAME.
	Flux at[string] `yaml:"flux"`
	// Check names a commit status.
	Check at[string] `yaml:"check"`
	// Deployment names a deployment environment of the forge.
	Deployment at[string] `yaml:"deployment"`
	// API means that health is reported through promoter's API.
	API at[bool] `yaml:"api"`
	// From names the only receiver of the server that evidence is taken from.
	From at[string] `yaml:"from"`
	// Timeout after which a snapshot that is not healthy has failed. Default: 30m.
	Timeout at[time.Duration] `yaml:"timeout"`
	// OnFailure says what happens then.
	OnFailure at[string] `yaml:"onFailure" values:"stop rollback"`
}

// rawPullRequest says what pull requests look like.
type rawPullRequest struct {
	place
	// Title of the pull request. Placeholders: {environment} {application} {component} {version} {tag} {digest}.
	Title at[string] `yaml:"title"`
	// Body stands above promoter's own part. The same placeholders.
	Body at[string] `yaml:"body"`
	// Labels of the pull request.
	Labels list `yaml:"labels"`
	// Reviewers who are asked: NAME or team:GROUP/NAME.
	Reviewers list `yaml:"reviewers"`
	// Assignees of the pull request.
	Assignees list `yaml:"assignees"`
	// Draft opens the pull request as a draft.
	Draft at[bool] `yaml:"draft"`
	// Group says what shares one pull request.
	Group at[string] `yaml:"group" values:"application environment"`
	// Limit is how many pull requests may be open in this environment. Default: 20.
	Limit at[int] `yaml:"limit"`
}

// rawWrite is one value that the default writer does not find. It has exactly one of path and regex.
type rawWrite struct {
	place
	// File from the root of the branch. Placeholders: {environment} {application}.
	File at[string] `yaml:"file" required:"true"`
	// Path of the value in YAML: spec.values.image.tag, images[0].newTag, images[name=web].newTag.
	Path at[string] `yaml:"path"`
	// Regex whose only group is the value.
	Regex at[string] `yaml:"regex"`
	// Component whose version is written.
	Component at[string] `yaml:"component" required:"true"`
	// Value to write. Placeholders: {tag} {version} {digest} {revision} {component} {environment} {application}. Default: {tag}.
	Value at[string] `yaml:"value"`
	// Create the key when it is missing.
	Create at[bool] `yaml:"create"`
}

// rawWindow is a time. It has either schedule and duration, or from and until, of which one may be missing.
type rawWindow struct {
	place
	// Kind: landing is allowed only inside, or denied inside. A deny wins.
	Kind at[string] `yaml:"kind" values:"allow deny" required:"true"`
	// Schedule says when the window opens, as cron: minute hour day month weekday.
	Schedule at[string] `yaml:"schedule"`
	// Duration that the window stays open.
	Duration at[time.Duration] `yaml:"duration"`
	// From is the first day, YYYY-MM-DD, or a time of RFC 3339.
	From at[string] `yaml:"from"`
	// Until is the last day, YYYY-MM-DD, or a time of RFC 3339, which is outside.
	Until at[string] `yaml:"until"`
	// TimeZone by its name in the time zone database. Default: UTC.
	TimeZone at[string] `yaml:"timeZone"`
}

package state

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"promoter/internal/identity"
	"promoter/internal/printable"
)

// Schema is the version of the files that this package writes.
const Schema = 1

// Record is what is known about one target: one file.
type Record struct {
	Schema  int         `json:"schema"`
	Hold    *Act        `json:"hold,omitempty"`       // until resumed: nothing is proposed and nothing lands
	Freeze  *Frozen     `json:"freeze,omitempty"`     // the same, for an environment or the repository
	Resumed *Resumption `json:"resumption,omitempty"` // the last end of a hold, a rollback, or a failure
	Request *Request    `json:"request,omitempty"`
	// EndedRequest is the last request whose versions can no longer come, until the next one.
	EndedRequest *EndedRequest `json:"endedRequest,omitempty"`

	Rollback   *RolledBack `json:"rollback,omitempty"`
	Rejections []Rejection `json:"rejections,omitempty"`
	// Unrejections are the versions that users allowed again.
	Unrejections []Unrejection `json:"unrejections,omitempty"`
	// Forgotten is the last resume that an earlier release wrote. It also allowed again whatever
	// was rejected, closed, or reverted until then.
	Forgotten *Act      `json:"resumed,omitempty"`
	Failures  []Failure `json:"failures,omitempty"`
	Closings  []Closing `json:"closings,omitempty"`
	Settled   []Settled `json:"settled,omitempty"`
	Reopened  *Reopened `json:"reopened,omitempty"`
	Seen      []Seen    `json:"seen,omitempty"`
	// UnsealedSeen are the times of before the first seal. None counts until an administrator adopts it.
	UnsealedSeen []Seen `json:"unsealedSeen,omitempty"`

	Versions []Version `json:"versions,omitempty"`
	// UnsealedVersions are those of before the first seal. None counts until an administrator adopts it.
	UnsealedVersions []Version `json:"unsealedVersions,omitempty"`

	Observed []Observed `json:"observed,omitempty"`
	Posted   []Version  `json:"posted,omitempty"`
	// CommentsFrom and ProcessedComments are in the record of the repository only.
	// Comments from before CommentsFrom are not processed anymore.
	CommentsFrom      *time.Time         `json:"commentsFrom,omitempty"`
	ProcessedComments []ProcessedComment `json:"processedComments,omitempty"`

	source []byte // of the file that it was read from; nil: none
}

// Act is a user decision: who, when, and why.
type Act struct {
	By     identity.User `json:"by"`
	At     time.Time     `json:"at"` // UTC
	Reason string        `json:"reason,omitempty"`
	// Location is where the target was, of holds, freezes, and rejections, and what the end of a rejection saw. Nil: it
	// was not recorded.
	Location *Location `json:"location,omitempty"`
}

// Frozen is a hold of an environment or of the repository that may expire.
type Frozen struct {
	Act
	Until *time.Time `json:"until,omitempty"`
}

// Request asks for a promotion with `propose: manual`, or of explicit versions.
type Request struct {
	Act
	// With lists explicit versions, REPOSITORY[:TAG][@DIGEST], that replace those of the
	// parent environments. Their details come from the registry.
	With []string `json:"with,omitempty"`
	// Bypass lists conditions and gates that the user wants to bypass. It grants nothing: what
	// the user may bypass is checked when it is used.
	Bypass []string `json:"bypass,omitempty"`
	// For is what the user saw when the request was recorded, and all that the request is for:
	// repository:tag@digest by component. Empty in requests of earlier releases: they are for
	// the snapshot that is proposed first.
	For map[string]string `json:"for,omitempty"`
	// Snapshot is the ID of the snapshot that the request was bound to. It is empty
	// before; afterwards a request without For applies to no other.
	Snapshot string `json:"snapshot,omitempty"`
	// Comment is the command of the request in a comment; nil: it is from elsewhere.
	Comment *CommandComment `json:"comment,omitempty"`
	// Posted is the name of the snapshot that a pipeline posted, if the request is for one.
	// It is no decision of a user: the order of versions and what users decided apply.
	Posted string `json:"posted,omitempty"`
}

// CommandComment is a comment that recorded a request: its user gets a reply if the request ends.
type CommandComment struct {
	ID      int64  `json:"id"`
	Number  int    `json:"number"` // of the pull request
	Command string `json:"command"`
}

// EndedRequest is a request that ended without a promotion: its versions can no longer come.
type EndedRequest struct {
	Act
	For   map[string]string `json:"for,omitempty"`
	Why   string            `json:"why"` // for users
	Ended time.Time         `json:"ended"`
}

// RolledBack asks for the versions that a target had before.
type RolledBack struct {
	Act
	Images map[string]string `json:"images"` // component: repository:tag@digest
	// From are the versions that the target had and the rollback replaces, repository:tag@digest. As
	// long as the rollback is in effect, no environment that follows the target gets them.
	From []string `json:"from,omitempty"`
	// Commit is where the files of the target had them, which proves that they were there.
	Commit string `json:"commit,omitempty"`
	// Automatic is set if no user asked for it: what landed failed. It sets no hold, and ends
	// when the versions are there.
	Automatic bool `json:"automatic,omitempty"`
	// Bypass lists gates that the user wants to bypass, as in a request.
	Bypass []string `json:"bypass,omitempty"`
}

// Bypassing returns what the rollback bypasses as a request has it.
func (r RolledBack) Bypassing() Request { return Request{Act: r.Act, Bypass: r.Bypass} }

// Failure is a landed snapshot that was unhealthy for too long. It counts until a newer version
// is there, or a user decides something about the target.
type Failure struct {
	Snapshot string    `json:"snapshot"` // its ID
	Reason   string    `json:"reason"`   // for users
	At       time.Time `json:"at"`
	// Back is what promoter returned to, as in a rollback. If that fails too, it stays.
	Back map[string]string `json:"back,omitempty"`
}

// Rejection is versions that must not be proposed to the target again. In the record of
// the repository it applies everywhere.
type Rejection struct {
	Act
	Images map[string]string `json:"images"`           // component: repository:tag@digest
	Number int               `json:"number,omitempty"` // of the pull request that was closed
	// Form is set if the files have the versions, and only must not write them in another form.
	Form bool `json:"form,omitempty"`
	// Rollback is set if the versions failed and promoter itself rolled them back, until a resume. No environment
	// that follows the target gets them either, also when the rollback is done.
	Rollback bool `json:"rollback,omitempty"`
	// MovedBack is set if the versions landed in commits that their branch has lost.
	MovedBack bool `json:"movedBack,omitempty"`
	// Blocked is set if no user rejected the versions: a bot closed their pull request again, after it
	// had been opened again.
	Blocked bool `json:"blocked,omitempty"`
	// Heads are the commits at which the branches of the target were, as earlier releases recorded them. Later ones
	// record them in the location: see Saw.
	Heads []string `json:"heads,omitempty"`
}

// Unrejection allows versions again that were rejected, closed, reverted, or moved back until then.
// In the record of an environment or of the repository it applies to all within.
type Unrejection struct {
	Act
	Images map[string]string `json:"images"` // component: repository:tag@digest, of which the tag or the digest may be missing
}

// Resumption is a resume.
type Resumption struct {
	Act
	// Rollback is the images of the rollback that it ended, by component. A close of the pull request of that
	// rollback, from before the resume, rejects nothing.
	Rollback map[string]string `json:"rollback,omitempty"`
}

// Closing is a pull request that promoter itself closed. It is written before the close,
// so that it is never mistaken for the decision of a user after a crash.
type Closing struct {
	Number int       `json:"number"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	// ByUser is set if a user closed it, which canceled a rollback. That is remembered, because
	// nothing else shows it once the rollback is gone.
	ByUser bool `json:"byUser,omitempty"`
}

// Reopened records that a deleted head branch was pushed again once.
type Reopened struct {
	Number int       `json:"number"` // of the pull request whose branch was deleted
	At     time.Time `json:"at"`
}

// Seen is when a snapshot was first seen in the target: the start of its soak where the
// forge does not report the time of a merge.
type Seen struct {
	Snapshot string    `json:"snapshot"` // its ID
	At       time.Time `json:"at"`
	// Commit is one on the branch of the target that had the snapshot then: the time counts as long as the files
	// have had it since. Empty: an earlier release recorded it.
	Commit string `json:"commit,omitempty"`
}

// Version is when a version of a component was first available to the target.
type Version struct {
	Component string    `json:"component"`
	Tag       string    `json:"tag,omitempty"`
	Digest    string    `json:"digest"`
	At        time.Time `json:"at"`
}

// Observed is a tag that a user wrote to the target without a digest, and the digest that
// it had when promoter first saw it there. It loosens nothing: where the tag points is
// checked again before each promotion.
type Observed struct {
	Repository string    `json:"repository"`
	Tag        string    `json:"tag"`
	Digest     string    `json:"digest"`
	At         time.Time `json:"at"`
}

// same reports whether two values are the same version, regardless of the time.
func (v Version) same(other Version) bool {
	return v.Component == other.Component && v.Tag == other.Tag && v.Digest == other.Digest
}

// Limits of a record; the oldest entries of a list are dropped first.
const (
	maxSeen       = 20
	maxClosings   = 50  // and as many settled closes
	maxRejections = 200 // and as many versions that are allowed again
	maxFailures   = 10
	maxComponent  = 50        // versions of each component
	maxObserved   = 10        // tags of each repository
	maxPosted     = 20        // versions of each component
	maxReason     = 1000      // runes
	maxWritten    = 768 << 10 // bytes; leaves room in a file for keys of later releases

	// MaxVersions is how many versions a request may list. Each is a query to a registry
	// in every reconciliation until the request is done.
	MaxVersions = 100

	// MaxBypass is how many conditions and gates a request may list.
	MaxBypass = 20

	// maxFor is how many components a request is for at most.
	maxFor = 1000

	// maxImage is the longest text of a version in bytes, more than a reference can have.
	maxImage = 1024
)

// withinLimits reports whether the request and the rollback of a record are small enough.
func (r *Record) withinLimits() bool {
	if r.Rollback == nil {
		return r.Request.withinLimits()
	}
	returning := r.Rollback.Bypassing()
	return r.Request.withinLimits() && returning.withinLimits()
}

// withinLimits reports whether a request is small enough. A shortened one would be
// another request, so it is not cut.
func (r *Request) withinLimits() bool {
	long := func(text string) bool { return len(text) > maxImage }
	if r != nil && (len(r.For) > maxFor || slices.ContainsFunc(slices.Collect(maps.Values(r.For)), long)) {
		return false
	}
	return r == nil || len(r.With) <= MaxVersions && !slices.ContainsFunc(r.With, long) &&
		len(r.Bypass) <= MaxBypass && !slices.ContainsFunc(r.Bypass, long)
}

// normalize brings a record into the form in which it is written and read.
func (r *Record) normalize() {
	r.Schema = Schema
	r.each(func(part any) {
		switch part := part.(type) {
		case *time.Time:
			*part = utc(*part)
		case *map[string]string:
			parseable(*part)
		case *Act:
			part.Reason = shortened(part.Reason)
			part.By.Login = shortened(part.By.Login)
			if !part.Location.withinLimits() {
				part.Location = nil
			}
		case *EndedRequest:
			part.Why = shortened(part.Why)
		case *CommandComment:
			part.Command = shortened(part.Command)
		case *Failure:
			part.Reason = shortened(part.Reason)
		case *Closing:
			part.Reason = shortened(part.Reason)
		case *Reply:
			part.Login = shortened(part.Login)
			part.Command = shortened(part.Command)
			part.Reaction = shortened(part.Reaction)
			part.Message = shortened(part.Message)
		}
	})
	r.Rejections = last(r.Rejections, maxRejections)
	r.Unrejections = last(r.Unrejections, maxRejections)
	r.Closings = last(r.Closings, maxClosings)
	r.Settled = last(r.Settled, maxClosings)
	r.Failures = last(r.Failures, maxFailures)
	r.Seen = last(r.Seen, maxSeen)
	r.UnsealedSeen = last(r.UnsealedSeen, maxSeen)
	// The limit is per component, so that a component with many versions does not restart
	// the waiting time of another.
	component := func(v Version) string { return v.Component }
	r.Versions = lastOfEach(r.Versions, maxComponent, component)
	r.UnsealedVersions = lastOfEach(r.UnsealedVersions, maxComponent, component)
	r.Posted = lastOfEach(r.Posted, maxPosted, component)
	r.Observed = lastOfEach(r.Observed, maxObserved, func(o Observed) string { return o.Repository })
	r.limitComments(maxProcessed)
	for len(marshal(*r)) > maxWritten && r.dropsMore() {
		r.limitComments(len(r.ProcessedComments) / 2)
		r.Unrejections = last(r.Unrejections, len(r.Unrejections)/2)
		r.Rejections = last(r.Rejections, len(r.Rejections)/2)
		r.Versions = last(r.Versions, len(r.Versions)/2)
		r.UnsealedVersions = last(r.UnsealedVersions, len(r.UnsealedVersions)/2)
		r.Closings = last(r.Closings, len(r.Closings)/2)
		r.Settled = last(r.Settled, len(r.Settled)/2)
		r.Seen = last(r.Seen, len(r.Seen)/2)
		r.UnsealedSeen = last(r.UnsealedSeen, len(r.UnsealedSeen)/2)
		r.Observed = last(r.Observed, len(r.Observed)/2)
		r.Posted = last(r.Posted, len(r.Posted)/2)
	}
}

// dropsMore reports whether a list has entries that can be dropped.
func (r *Record) dropsMore() bool {
	decisions := len(r.Rejections) + len(r.Unrejections)
	times := len(r.Seen) + len(r.UnsealedSeen) + len(r.Versions) + len(r.UnsealedVersions) + len(r.Observed) + len(r.Posted)
	return decisions+times+len(r.Closings)+len(r.Settled)+len(r.ProcessedComments) > 0
}

// parseable writes images, by component, as image.Parse reads them. Earlier releases wrote REPOSITORY:TAG@ of one without a
// digest, and REPOSITORY:@DIGEST of one without a tag. Commits, which a location has, are no images and have neither.
func parseable(images map[string]string) {
	for component, text := range images {
		if strings.HasSuffix(text, "@") || strings.Contains(text, ":@") {
			images[component] = strings.Replace(strings.TrimSuffix(text, "@"), ":@", "@", 1)
		}
	}
}

// shortened returns a text of a user as it is stored.
func shortened(text string) string {
	return printable.Shorten(strings.ToValidUTF8(text, "\uFFFD"), maxReason)
}

// lastOfEach returns the last n elements of each key.
func lastOfEach[T any](list []T, n int, key func(T) string) []T {
	count := map[string]int{}
	for _, one := range list {
		count[key(one)]++
	}
	return slices.DeleteFunc(list, func(one T) bool {
		count[key(one)]--
		return count[key(one)] >= n
	})
}

// last returns the last n elements.
func last[T any](list []T, n int) []T {
	switch {
	case len(list) <= n:
		return list
	case n == 0:
		return nil
	default:
		return list[len(list)-n:]
	}
}

// each calls a function with a pointer to each part of the record, except for numbers and texts.
func (r *Record) each(visit func(part any)) {
	walk(reflect.ValueOf(r).Elem(), func(part reflect.Value) { visit(part.Addr().Interface()) })
}

// walk visits a value, and then what it consists of, except for numbers, texts, and what is not
// written.
func walk(v reflect.Value, visit func(part reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if visit(v); !v.IsNil() {
			walk(v.Elem(), visit)
		}
	case reflect.Slice:
		visit(v)
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
	case reflect.Struct:
		visit(v)
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				walk(field, visit)
			}
		}
	case reflect.Map:
		visit(v)
	}
}

// clone copies everything that a change may write to.
func (r Record) clone() Record {
	walk(reflect.ValueOf(&r).Elem(), func(part reflect.Value) {
		switch kind := part.Kind(); {
		case kind == reflect.Pointer && !part.IsNil():
			copied := reflect.New(part.Type().Elem())
			copied.Elem().Set(part.Elem())
			part.Set(copied)
		case kind == reflect.Slice && !part.IsNil():
			part.Set(reflect.AppendSlice(reflect.MakeSlice(part.Type(), 0, part.Len()), part))
		case kind == reflect.Map:
			images, _ := part.Interface().(map[string]string)
			part.Set(reflect.ValueOf(maps.Clone(images)))
		}
	})
	return r
}

// empty reports whether the record has no content for any release, so that its file can
// be deleted.
func (r Record) empty() bool {
	r.Schema = 0
	content := reflect.ValueOf(r)
	for i := range content.NumField() {
		field := content.Field(i)
		if field.CanInterface() && !field.IsZero() && (field.Kind() != reflect.Slice || field.Len() > 0) {
			return false
		}
	}
	read, _ := members(r.source)
	return !slices.ContainsFunc(read, func(m member) bool { return !knownKey(m.key) })
}

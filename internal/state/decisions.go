package state

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"promoter/internal/image"
	"promoter/internal/printable"
)

// Hold stops a target until it is resumed. A hold that exists stays, with its user and
// reason.
func Hold(target Target, act Act) Change {
	return at(target, func(r *Record) {
		if r.Hold == nil {
			r.Hold = &act
		}
	})
}

// Freeze stops an environment, or with All the repository, until it is thawed or until
// the time, if there is one. A freeze until the same time stays, with its user and reason.
func Freeze(environment string, act Act, until *time.Time) Change {
	return at(Target{environment, All}, func(r *Record) {
		if r.Freeze != nil && r.Freeze.EndsAt(until) {
			return
		}
		frozen := Frozen{Act: act, Until: until}
		if r.Freeze != nil && frozen.Location == nil {
			frozen.Location = r.Freeze.Location
		}
		r.Freeze = &frozen
	})
}

// EndsAt reports whether a freeze ends at a time; nil: when it is thawed.
func (f Frozen) EndsAt(until *time.Time) bool {
	if f.Until == nil || until == nil {
		return f.Until == until
	}
	return utc(*f.Until).Equal(utc(*until))
}

// Thaw ends a freeze.
func Thaw(environment string) Change {
	return at(Target{environment, All}, func(r *Record) { r.Freeze = nil })
}

// Held is one reason why a target is on hold.
type Held struct {
	Act
	Freeze  bool
	Target  Target     // whose record holds it
	Applies Applies    // how that applies, if it has another name
	Until   *time.Time // when it expires
	Problem string     // why the file of the target cannot be read; no user held it then
}

// Held returns the hold or freeze that stops a target now, the widest one first. A file
// that cannot be read may contain one, so it counts as a hold.
func (s State) Held(target Target, now time.Time) (Held, bool) { return s.held(target, now, false) }

// HeldWithoutFreezes returns the hold that stops a target, whatever is frozen.
func (s State) HeldWithoutFreezes(target Target, now time.Time) (Held, bool) {
	return s.held(target, now, true)
}

// Applies is how a decision applies to a target. Its zero value is by name.
type Applies struct {
	As   Target // the name that the decision was made for
	How  How
	Gone bool // no target has that name anymore
}

func (m Moved) applies() Applies { return Applies{As: m.Of, How: m.How, Gone: m.Gone} }

func (s State) held(target Target, now time.Time, frozen bool) (Held, bool) {
	for scope := range target.scopes() {
		if scope == target { // what was made for another name is wider: a rollback here has no effect on it
			if held, stopped := heldElsewhere(s.Moved(target), now, frozen); stopped {
				return held, true
			}
		}
		if problem, broken := s.broken[scope]; broken {
			return Held{Target: scope, Problem: problem.Reason}, true
		}
		record := s.At(scope)
		if f := record.Freeze; !frozen && f != nil && (f.Until == nil || f.Until.After(now)) {
			return Held{Act: f.Act, Freeze: true, Target: scope, Until: f.Until}, true
		}
		if record.Hold != nil {
			return Held{Act: *record.Hold, Target: scope}, true
		}
	}
	return Held{}, false
}

// heldElsewhere returns the hold or freeze among decisions that stop a target under another name.
func heldElsewhere(moved []Moved, now time.Time, frozen bool) (Held, bool) {
	for _, m := range moved {
		switch {
		case m.Kind == KindFreeze && !frozen && (m.Until == nil || m.Until.After(now)):
			return Held{Act: m.Act, Freeze: true, Target: m.Of, Until: m.Until, Applies: m.applies()}, true
		case m.Kind == KindHold:
			return Held{Act: m.Act, Target: m.Of, Applies: m.applies()}, true
		}
	}
	return Held{}, false
}

// Resume ends the hold, the rollback, and the failures of exactly one target, so that it goes on.
// What users rejected or reverted stays: see Unreject. A freeze stays until it is thawed.
func Resume(target Target, act Act) Change {
	return at(target, func(r *Record) { r.resume(act) })
}

// ResumeWithin resumes an environment or the repository, and everything in it that is stopped. The
// records of other targets do not change.
func ResumeWithin(target Target, act Act) Change {
	return func(s State) State {
		s = Resume(target, act)(s)
		for _, within := range s.Targets() {
			if within != target && target.Contains(within) && s.At(within).Stopped() {
				s = Resume(within, act)(s)
			}
		}
		return s
	}
}

func (r *Record) resume(act Act) {
	ended, resumed := r.Failures, Resumption{Act: act}
	if r.Rollback != nil {
		resumed.Rollback = r.Rollback.Images
	}
	r.Rejections = slices.DeleteFunc(r.Rejections, func(x Rejection) bool { return x.ofFailure(ended) && !utc(x.At).After(utc(act.At)) })
	r.Hold = nil
	r.Rollback = nil
	r.Reopened = nil
	r.Failures = nil
	if r.Resumed == nil || act.At.After(r.Resumed.At) {
		r.Resumed = &resumed
	}
}

// ofFailure reports whether promoter itself rejected the versions because they failed. Earlier
// releases marked them by the time alone.
func (r Rejection) ofFailure(failures []Failure) bool {
	return r.Rollback || r.By.Bot && r.Number == 0 &&
		slices.ContainsFunc(failures, func(f Failure) bool { return f.At.Equal(r.At) && len(f.Back) > 0 })
}

// Contains reports whether a target is another one, or the other one is within it.
func (t Target) Contains(other Target) bool {
	return slices.Contains(slices.Collect(other.scopes()), t)
}

// Stopped reports whether the record has something that a resume ends.
func (r Record) Stopped() bool {
	return r.Hold != nil || r.Rollback != nil || r.Reopened != nil || len(r.Failures) > 0 ||
		slices.ContainsFunc(r.Rejections, func(x Rejection) bool { return x.Rollback })
}

// ResumedAt returns when a target, or a wider one, was last resumed: what stopped it before does
// not count anymore. It is the zero time for never.
func (s State) ResumedAt(target Target) time.Time {
	var last time.Time
	for scope := range target.scopes() {
		record := s.At(scope)
		last = latest(last, record.Forgotten)
		if record.Resumed != nil {
			last = latest(last, &record.Resumed.Act)
		}
	}
	return last
}

// latest returns the time of an act, if there is one and it is later.
func latest(at time.Time, act *Act) time.Time {
	if act != nil && act.At.After(at) {
		return act.At
	}
	return at
}

// Unreject allows versions of a target again: it ends what was rejected there until now, and what
// users closed, reverted, or moved back until then does not count anymore. It is about exactly the
// records of the target and, if it is wide, of those within it; a rejection of a wider target stays.
func Unreject(target Target, u Unrejection) Change {
	return func(s State) State {
		for _, within := range s.Targets() {
			if target.Contains(within) && slices.ContainsFunc(s.At(within).Rejections, u.ends) {
				s = s.With(within, func(r *Record) { r.allow(within, u) })
			}
		}
		return s.With(target, func(r *Record) {
			same := func(x Unrejection) bool { return maps.Equal(x.Images, u.Images) }
			i := slices.IndexFunc(r.Unrejections, same)
			if i >= 0 && !utc(u.At).After(utc(r.Unrejections[i].At)) {
				return
			}
			r.Unrejections = append(slices.DeleteFunc(r.Unrejections, same), u)
		})
	}
}

// EndRejection ends the rejection of exactly one record that a pull request is the reason of.
func EndRejection(target Target, number int, act Act) Change {
	return at(target, func(r *Record) {
		r.Rejections = slices.DeleteFunc(r.Rejections, func(x Rejection) bool {
			return x.Number == number && !utc(x.At).After(utc(act.At))
		})
	})
}

// ends reports whether a rejection has a version that is allowed again.
func (u Unrejection) ends(r Rejection) bool {
	return !utc(r.At).After(utc(u.At)) && slices.ContainsFunc(slices.Collect(maps.Values(r.Images)), u.names)
}

// names reports whether a version, as a rejection has it, is allowed again.
func (u Unrejection) names(text string) bool {
	rejected, err := image.Parse(text)
	return err == nil && covered(u.Images, rejected.Repository, rejected.Version())
}

// allow removes the versions from the rejections of a target. Those of other components stay rejected. The
// close that a rejection came from stays settled.
func (r *Record) allow(target Target, u Unrejection) {
	var left []Rejection
	for _, rejection := range r.Rejections {
		if u.ends(rejection) {
			rejection.Images = maps.Clone(rejection.Images)
			maps.DeleteFunc(rejection.Images, func(_, text string) bool { return u.names(text) })
		}
		switch {
		case len(rejection.Images) > 0:
			left = append(left, rejection)
		case rejection.Number != 0 && rejection.EndsByLaterActs(target):
			r.settle(Settled{Number: rejection.Number, At: rejection.At})
		}
	}
	r.Rejections = left
}

// UnrejectedAt returns when users last allowed a version again in a target or a wider one: what
// they did to it before does not count anymore. It is the zero time for never.
func (s State) UnrejectedAt(target Target, repository image.Repository, version image.Version) time.Time {
	return s.Unrejected(target, repository, version).At
}

// Unrejected is UnrejectedAt with the whole act, which may have what its user saw.
func (s State) Unrejected(target Target, repository image.Repository, version image.Version) (last Act) {
	for scope := range target.scopes() {
		record := s.At(scope)
		if forgotten := record.Forgotten; forgotten != nil && forgotten.At.After(last.At) {
			last = *forgotten
		}
		for _, u := range record.Unrejections {
			if u.At.After(last.At) && covered(u.Images, repository, version) {
				last = u.Act
			}
		}
	}
	return last
}

// Unrejects reports whether users allowed any version again in a target or a wider one.
func (s State) Unrejects(target Target) bool {
	for scope := range target.scopes() {
		if record := s.At(scope); record.Forgotten != nil || len(record.Unrejections) > 0 {
			return true
		}
	}
	return false
}

// Reject prevents versions from being proposed to a target again; for the repository, to
// any target. A version that was allowed again since then, such as that of an older close that is
// only observed now, is left out.
func Reject(target Target, rejection Rejection) Change {
	return func(s State) State {
		rejection := rejection
		rejection.Images = maps.Clone(rejection.Images)
		maps.DeleteFunc(rejection.Images, func(_, text string) bool {
			named, err := image.Parse(text)
			version := named.Version()
			return err == nil && utc(rejection.At).Before(s.UnrejectedAt(target, named.Repository, version))
		})
		if len(rejection.Images) == 0 {
			return s
		}
		return s.With(target, func(r *Record) {
			if !slices.ContainsFunc(r.Rejections, rejection.rejectsAs) {
				r.Rejections = append(r.Rejections, rejection)
			}
		})
	}
}

// rejectsAs reports whether another decision rejects the same for the same cause.
func (r Rejection) rejectsAs(other Rejection) bool {
	return r.Number == other.Number && r.Form == other.Form && r.Rollback == other.Rollback &&
		r.MovedBack == other.MovedBack && maps.Equal(r.Images, other.Images)
}

// Rejected returns the rejection of a version in a target, by its digest or, where one
// side has none, by its repository and tag. The component's name does not count, because
// it can change.
func (s State) Rejected(target Target, repository image.Repository, version image.Version) (Rejection, bool) {
	rejection, _, rejected := s.rejected(target, repository, version, false)
	return rejection, rejected
}

// RejectedBy is Rejected with the target whose record has the rejection: it may be wider.
func (s State) RejectedBy(target Target, repository image.Repository, version image.Version) (Rejection, Target, bool) {
	return s.rejected(target, repository, version, false)
}

// RejectedForm reports whether users want a version that is in the target to stay written as
// it is.
func (s State) RejectedForm(target Target, repository image.Repository, version image.Version) bool {
	_, _, rejected := s.rejected(target, repository, version, true)
	return rejected
}

// BlockedSince returns a rejection of a version that no user made, but a bot since a time, with the target whose record has it.
func (s State) BlockedSince(target Target, repository image.Repository, version image.Version, since time.Time) (Rejection, Target, bool) {
	for rejection, scope := range s.rejections(target, repository, version, false) {
		if rejection.Blocked && !rejection.At.Before(since) {
			return rejection, scope, true
		}
	}
	return Rejection{}, Target{}, false
}

// rejected returns a rejection of a version. That of a user comes before one that follows from acts of a bot.
func (s State) rejected(
	target Target, repository image.Repository, version image.Version, form bool,
) (found Rejection, scope Target, rejected bool) {
	for rejection, of := range s.rejections(target, repository, version, form) {
		if !rejection.Blocked {
			return rejection, of, true
		}
		if !rejected {
			found, scope = rejection, of
			rejected = true
		}
	}
	return found, scope, rejected
}

// rejections returns the rejections of a version, each with the target whose record has it.
func (s State) rejections(target Target, repository image.Repository, version image.Version, form bool) iter.Seq2[Rejection, Target] {
	return func(yield func(Rejection, Target) bool) {
		rejects := func(x Rejection) bool { return x.Form == form && covered(x.Images, repository, version) }
		for scope := range target.scopes() {
			for _, rejection := range s.At(scope).Rejections {
				if rejects(rejection) && !yield(rejection, scope) {
					return
				}
			}
		}
		for _, m := range s.Moved(target) {
			if m.Kind == KindReject && rejects(m.Rejection) && !yield(m.Rejection, m.Of) {
				return
			}
		}
	}
}

// Applies returns how a rejection that Rejected returned applies to the target.
func (s State) Applies(target Target, rejection Rejection) Applies {
	for scope := range target.scopes() {
		if slices.ContainsFunc(s.At(scope).Rejections, rejection.equal) {
			return Applies{}
		}
	}
	for _, m := range s.Moved(target) {
		if m.Kind == KindReject && m.Rejection.equal(rejection) {
			return m.applies()
		}
	}
	return Applies{}
}

// covered reports whether images, by component, have a version.
func covered(images map[string]string, repository image.Repository, version image.Version) bool {
	return anyCovers(maps.Values(images), repository, version)
}

// anyCovers reports whether one of the images, repository:tag@digest, is a version.
func anyCovers(images iter.Seq[string], repository image.Repository, version image.Version) bool {
	for text := range images {
		rejected, err := image.Parse(text)
		if err != nil {
			continue
		}
		same := rejected.Repository == repository && rejected.Tag != "" && rejected.Tag == version.Tag
		if rejected.Digest != "" && version.Digest != "" {
			same = rejected.Digest == version.Digest
		}
		if same {
			return true
		}
	}
	return false
}

// Rollback returns a target to the versions of the rollback and holds it until it is
// resumed. An earlier request is dropped. A rollback to the same versions stays, with its
// user and reason.
func Rollback(target Target, rollback RolledBack) Change {
	return at(target, func(r *Record) {
		same := r.Rollback != nil && r.Hold != nil && maps.Equal(r.Rollback.Images, rollback.Images)
		if same && (len(rollback.Bypass) == 0 || slices.Equal(r.Rollback.Bypass, rollback.Bypass)) {
			return
		}
		hold := rollback.Act
		rollback.From = r.stillLeaving(rollback)
		if r.Hold != nil && hold.Location == nil { // which may have been about what has another name now
			hold.Location = r.Hold.Location
		}
		r.Rollback = &rollback
		r.Hold = &hold
		r.Request, r.EndedRequest = nil, nil
		r.Failures = nil
	})
}

// Fail records that a landed snapshot failed, once. If promoter returns to the versions of
// before, the failed ones are rejected.
func Fail(target Target, failure Failure, back *RolledBack, failed map[string]string) Change {
	return func(s State) State {
		if _, recorded := s.FailureOf(target, failure.Snapshot); recorded {
			return s
		}
		s = s.With(target, func(r *Record) {
			r.Failures = append(r.Failures, failure)
			if back != nil && r.Rollback == nil {
				r.Rollback = back
			}
		})
		if back == nil {
			return s
		}
		return Reject(target, Rejection{Act: back.Act, Images: failed, Rollback: true})(s)
	}
}

// FailureOf returns the failure of a snapshot that is recorded for a target.
func (s State) FailureOf(target Target, snapshot string) (Failure, bool) {
	failures := s.At(target).Failures
	i := slices.IndexFunc(failures, func(f Failure) bool { return f.Snapshot == snapshot })
	if i < 0 {
		return Failure{}, false
	}
	return failures[i], true
}

// EndRollback drops a rollback by promoter itself whose versions are there.
func EndRollback(target Target, rollback RolledBack) Change {
	return at(target, func(r *Record) {
		if r.Rollback != nil && r.Rollback.Automatic && maps.Equal(r.Rollback.Images, rollback.Images) {
			r.Rollback = nil
		}
	})
}

// AddRequest requests a promotion into a target. A request for the same versions that is
// not done, or bound to nothing yet, stays, with its user and reason, unless only the new user is
// verified.
func AddRequest(target Target, request Request) Change {
	return at(target, func(r *Record) {
		verified := r.Request != nil && !r.Request.By.Verified() && request.By.Verified()
		if r.Request == nil || verified || !r.Request.Same(request) && !r.Request.pending(request) {
			r.Request, r.EndedRequest = &request, nil
			r.Failures = nil
			if r.Rollback != nil && r.Rollback.Automatic {
				r.Rollback = nil
			}
		}
	})
}

// pending reports whether a request asks for the versions of another. One that is bound to a snapshot
// without naming its versions may be for others. A posted snapshot is the same one when it is posted again.
func (r Request) pending(other Request) bool {
	again := len(r.For) > 0 || r.Posted != "" && r.Posted == other.Posted
	sameImages := maps.Equal(r.For, other.For)
	return (r.Snapshot == "" || again) && sameImages && slices.Equal(r.With, other.With) && slices.Equal(r.Bypass, other.Bypass)
}

// Post requests the versions of a snapshot that a pipeline posted, and remembers them. The
// versions that a user requested by name are not replaced.
func Post(target Target, request Request, versions []Version) Change {
	return func(s State) State {
		if own := s.At(target).Request; own != nil && own.Posted == "" && len(own.With) > 0 {
			return s
		}
		return at(target, func(r *Record) {
			for _, version := range versions {
				if !slices.ContainsFunc(r.Posted, version.same) {
					version.At = request.At
					r.Posted = append(r.Posted, version)
				}
			}
		})(AddRequest(target, request)(s))
	}
}

// WasPosted reports whether a pipeline posted a version of a component for a target.
func (s State) WasPosted(target Target, component, digest string) bool {
	same := func(v Version) bool { return v.Component == component && v.Digest == digest }
	return digest != "" && slices.ContainsFunc(s.At(target).Posted, same)
}

// BindRequest binds a request to the snapshot that is promoted for it. A newer request is
// left unchanged.
func BindRequest(target Target, request Request, snapshot string) Change {
	return at(target, func(r *Record) {
		if r.Request != nil && r.Request.Same(request) {
			r.Request.Snapshot = snapshot
		}
	})
}

// RemoveRequest drops a request that is done, or that cannot be fulfilled. A newer request
// is left unchanged.
func RemoveRequest(target Target, request Request) Change {
	return at(target, func(r *Record) {
		if r.Request != nil && r.Request.Same(request) {
			r.Request = nil
		}
	})
}

// EndRequest drops a request whose versions can no longer come, and records why. A newer request
// is left unchanged. The user of a command in a comment gets a reply.
func EndRequest(target Target, request Request, why string, now time.Time) Change {
	return func(s State) State {
		own := s.At(target).Request
		if own == nil || !own.Same(request) {
			return s
		}
		s = s.With(target, func(r *Record) {
			r.EndedRequest = &EndedRequest{Act: own.Act, For: own.For, Why: why, Ended: now}
			r.Request = nil
		})
		if own.Comment == nil {
			return s
		}
		return replyAgain(*own.Comment, own.By.Login, "the request for "+target.String()+" ended: "+why)(s)
	}
}

// Same reports whether two values are the same request, bound or not. A user may ask for something else within
// the same second.
func (r Request) Same(other Request) bool {
	asks := r.Posted == other.Posted && maps.Equal(r.For, other.For)
	asks = asks && slices.Equal(r.With, other.With) && slices.Equal(r.Bypass, other.Bypass)
	return asks && utc(r.At).Equal(utc(other.At)) && r.By.Same(other.By)
}

// maxSubject is the longest subject of a commit, in runes.
const maxSubject = 120

// Subject returns the subject of the commit of a change of a target, which users know by a name:
// "Hold shop in prod: reason".
func Subject(verb, target, reason string) string {
	subject := verb + " " + target
	words := strings.FieldsFunc(reason, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	if len(words) > 0 {
		subject += ": " + strings.Join(words, " ")
	}
	return printable.Shorten(subject, maxSubject)
}

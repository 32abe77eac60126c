package forgetest

import (
	"net/http"

	"promoter/internal/git/gittest"
)

// ServeGit serves NAME.git over smart HTTP. The fake authorizes a request, unless an
// injected failure comes first, and handles the effects of a push.
func (f *Front) ServeGit(git *gittest.Git, w http.ResponseWriter, r *http.Request, admit func(gittest.Visit) gittest.Admission) {
	git.Serve(w, r, func(visit gittest.Visit) gittest.Admission {
		f.happen(visit.Route())
		f.mu.Lock()
		defer f.mu.Unlock()
		met := f.meet(visit.Route())
		if met.reply != nil {
			return gittest.Admission{Refused: gittest.Refuse(met.reply.Status, "the server has an accident")}
		}
		said := admit(visit)
		said.Lose = met.lose
		if pushed := said.Pushed; pushed != nil {
			said.Pushed = func() { f.follow(pushed) }
		}
		return said
	})
}

// follow calls pushed after a push.
func (f *Front) follow(pushed func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := failure(pushed); err != nil {
		f.t.Errorf("%s: after a push: %v", f.fake.Name, err)
	}
}

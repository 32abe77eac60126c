package doctor

import (
	"promoter/internal/serverfile"
	"promoter/internal/state"
)

// checkSeals checks the keys by which promoter recognizes its own commits on the state
// branch. It reports whether they can be used.
func checkSeals(s *serverfile.Server, f *findings) bool {
	keys, err := s.SealKeys()
	switch {
	case err != nil:
		f.fail("seals", "", "%v", err)
		return false
	case len(keys) > 0 && len(s.File.Seal.Keys) > 0:
		f.ok("seals", "the keys can be used: %d", len(keys))
	case len(keys) > 0:
		f.ok("seals", "serve made a key in the data folder: back it up, or set seal.keys")
	case !s.File.Database.URL.IsZero():
		f.ok("seals", "serve keeps a key in the database; commands that release a hold need seal.keys")
	default:
		f.warn("seals", "set seal.keys, or PROMOTER_SEAL_KEY; serve makes a key when it starts",
			"no key: every user who may push %s can request promotions and end holds", state.Branch)
	}
	return true
}

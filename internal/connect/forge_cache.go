package connect

import (
	"maps"
	"slices"
	"sync"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/outbound"
)

// forgeCache keeps the forges of the last session. The next one goes on with them as
// long as their credentials are the same, with what they cache: answers with ETags,
// rate limits, and tokens of installations.
type forgeCache struct {
	mutex  sync.Mutex
	forges map[string]*Forge // by name
}

// replace makes the forges of a new session those of the cache.
func (c *forgeCache) replace(forges map[string]*Forge) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for name, f := range forges {
		if before := c.forges[name]; before != nil {
			f.takeOver(before)
		}
	}
	c.forges = forges
}

// takeOver continues with the adapters of the forge before, if its credential is the
// same. Plain Git caches nothing.
func (f *Forge) takeOver(before *Forge) {
	same := f.credential.User == before.credential.User && f.wired == before.wired
	if f.Err != nil || before.Err != nil || f.Config.Kind == serverconfig.ForgeGit || !same {
		return
	}
	f.SCM, f.public = before.SCM, before.public
	if f.App != nil && before.App != nil {
		f.App.older = before.App.usable()
	}
}

func (c *forgeCache) backoffs() []Backoff {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var all []Backoff
	for _, name := range slices.Sorted(maps.Keys(c.forges)) {
		all = append(all, c.forges[name].backoffs()...)
	}
	return all
}

// backoffs returns those of the credentials of a forge, and of asking it without one.
func (f *Forge) backoffs() (all []Backoff) {
	if f.Err != nil {
		return nil
	}
	add := func(credential string, asked any) {
		limited, ok := asked.(interface {
			Paused() (outbound.Backoff, bool)
		})
		if !ok {
			return
		}
		if pause, paused := limited.Paused(); paused {
			all = append(all, backoff(ToForge, credential, pause))
		}
	}
	add("the token of "+f.Config.Name, f.SCM)
	add("no credential", f.public)
	if f.App != nil {
		add("the App of "+f.Config.Name, f.App.GitHub)
		for _, one := range f.App.installed() {
			add("the installation at "+one.Installation.Account+" of the App of "+f.Config.Name, one)
		}
	}
	return all
}

package service

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"promoter/internal/event"
	"promoter/internal/fault"
	"promoter/internal/queue"
	"promoter/internal/serverfile"
)

// discovery checks repositories that a webhook named and that are not reconciled yet.
type discovery struct {
	server    *serverfile.Server
	refresher *refresher
	queue     *queue.Queue
	debounce  time.Duration
	log       *slog.Logger

	mutex   sync.Mutex
	checked map[string]time.Time // by HOST/OWNER/NAME
}

// maxChecked limits how many checks are remembered.
const maxChecked = 10_000

// triggers returns the work that an event about an unknown repository triggers. The next
// refresh finds a repository that the server file lists and that could not be opened. One
// that an App may have been installed on, or that may have its first config file, is
// checked by itself, because a refresh requests every repository. All others are ignored.
func (d *discovery) triggers(e event.Event) []queue.Trigger {
	if e.Kind != event.KindRepository || e.Repository.Name == "" {
		return nil
	}
	name := strings.ToLower(e.Repository.Host + "/" + e.Repository.Name)
	for _, target := range d.server.Targets {
		if target.Address() == name {
			return []queue.Trigger{debounced(KindPoll, All, d.debounce)}
		}
	}
	if e.Config && d.server.DiscoversOn(e.Repository.Host) {
		return []queue.Trigger{debounced(kindDiscovery, name, d.debounce)}
	}
	return nil
}

// handle checks one repository, and polls if it has a config file.
func (d *discovery) handle(ctx context.Context, item queue.Item) (queue.Result, error) {
	if at := d.nextCheck(item.Key, d.server.Now()); !at.IsZero() {
		return queue.Result{Next: at}, nil
	}
	current, release, err := d.refresher.acquire(ctx)
	if err != nil {
		return queue.Result{}, err
	}
	defer release()
	found, err := current.session.HasConfigFile(ctx, item.Key)
	log := d.log.With(slog.String("repository", item.Key))
	switch kind := fault.KindOf(err); {
	case kind == fault.Temporary || kind == fault.RateLimited:
		return queue.Result{}, err
	case err != nil:
		log.InfoContext(ctx, "ignored a webhook of a repository that is not followed", slog.Any("error", err))
	case !found:
		log.DebugContext(ctx, "ignored a webhook of a repository without a config file")
	default:
		log.InfoContext(ctx, "following a repository: it has a config file now")
		err = d.queue.Trigger(ctx, queue.Trigger{Kind: KindPoll, Key: All})
		return queue.Result{Forget: err == nil}, err
	}
	return queue.Result{Forget: true}, nil
}

// nextCheck returns when a repository may be checked, at most once per refresh interval.
// Zero: now, which is recorded.
func (d *discovery) nextCheck(name string, now time.Time) time.Time {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if at := d.checked[name].Add(minRefreshInterval); at.After(now) {
		return at
	}
	if d.checked == nil || len(d.checked) >= maxChecked {
		d.checked = map[string]time.Time{}
	}
	d.checked[name] = now
	return time.Time{}
}

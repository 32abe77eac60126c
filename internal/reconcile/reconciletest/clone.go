package reconciletest

import (
	"context"
	"iter"
	"sync"
	"time"

	"promoter/internal/fault"
	"promoter/internal/reconcile"
	"promoter/internal/repo"
)

// Clone is a mirror that started empty: it contains what was fetched at depth 1, and
// the history that was deepened.
type Clone struct {
	*Git
	mutex sync.Mutex
	here  map[string]bool
	// Deepened counts the calls of Deepen.
	Deepened int
}

// FreshReconciler returns a process with an empty mirror, like a job without a cache.
func (w *World) FreshReconciler() (*reconcile.Reconciler, *Clone) {
	c := &Clone{Git: w.Git, here: map[string]bool{}}
	reconciler := w.Reconciler()
	reconciler.Clients.Remote, reconciler.Clients.Objects = c, cloned{objects{w.Git}, c}
	return reconciler, c
}

// Fetch implements repo.Remote.
func (c *Clone) Fetch(ctx context.Context, branches ...string) (map[string]string, error) {
	heads, err := c.Git.Fetch(ctx, branches...)
	for _, head := range heads {
		c.add(head)
	}
	return heads, err
}

func (c *Clone) add(id string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.here[id] = true
}

func (c *Clone) has(id string) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.here[id]
}

// Deepen implements repo.Remote.
func (c *Clone) Deepen(_ context.Context, branch string, since time.Time) error {
	c.Deepened++
	for queue := []string{c.Branch(branch)}; len(queue) > 0; queue = queue[1:] {
		commit, err := c.Objects().Commit(queue[0])
		if err != nil {
			return err
		}
		c.add(commit.ID)
		for _, parent := range commit.Parents {
			if of, err := c.Objects().Commit(parent); err == nil && !of.Committer.When.Before(since) {
				queue = append(queue, parent)
			}
		}
	}
	return nil
}

// cloned reads what is in the clone.
type cloned struct {
	objects
	clone *Clone
}

// Commit implements repo.Objects.
func (o cloned) Commit(id string) (repo.Commit, error) {
	if !o.clone.has(id) {
		return repo.Commit{}, fault.New(fault.NotFound, "the commit %q is not in the mirror", id)
	}
	commit, err := o.objects.Commit(id)
	for _, parent := range commit.Parents {
		commit.Shallow = commit.Shallow || !o.clone.has(parent)
	}
	return commit, err
}

// History implements repo.Objects.
func (o cloned) History(from string) iter.Seq2[repo.Commit, error] {
	return func(yield func(repo.Commit, error) bool) {
		for id := from; id != ""; {
			commit, err := o.Commit(id)
			if !yield(commit, err) || err != nil || commit.Shallow || len(commit.Parents) == 0 {
				return
			}
			id = commit.Parents[0]
		}
	}
}

// Changed implements repo.Objects.
func (o cloned) Changed(a, b string) ([]string, error) {
	for _, id := range []string{a, b} {
		if id != "" && !o.clone.has(id) {
			return nil, fault.New(fault.NotFound, "the commit %q is not in the mirror", id)
		}
	}
	return o.objects.Changed(a, b)
}

// Write implements repo.Objects.
func (o cloned) Write(draft repo.Draft) (string, error) {
	id, err := o.objects.Write(draft)
	o.clone.add(id)
	return id, err
}

package service

import (
	"context"
	"slices"

	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/queue"
)

// triggerFollowers triggers the other repositories that follow images which registries
// answered about differently than before: repositories share responses, so that one of
// them reads an image for all. It is as if a webhook had reported the image.
func (r *reconciler) triggerFollowers(ctx context.Context, key string) error {
	changed := r.refresher.connections.TakeChangedImages()
	if len(changed) == 0 {
		return nil
	}
	return r.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		var images []event.Image
		var triggers []queue.Trigger
		for _, one := range changed {
			named := event.Image{Host: one.Host(), Path: one.Path()}
			followers, err := r.store.Subscribers(ctx, tx, "", event.Event{Kind: event.KindImage, Image: named})
			if err != nil {
				return err
			}
			followers = slices.DeleteFunc(followers, func(follower string) bool { return follower == key })
			if len(followers) > 0 {
				images = append(images, named)
				triggers = append(triggers, repositoryTriggers(followers)...)
			}
		}
		if err := r.store.ImageEvents.Record(ctx, tx, images); err != nil {
			return err
		}
		return r.queue.TriggerIn(ctx, tx, triggers...)
	})
}

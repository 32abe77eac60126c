package store

import (
	"context"
	"strings"

	"promoter/internal/database"
)

// place is where events happened: one application in one environment of a repository,
// under the name that it had then.
type place struct{ repository, name, environment, application string }

// mostPlaces is of how many places the events are looked up in each. Of more, so many of
// the newest events are wanted that they are read by their time alone.
const mostPlaces = 50

// selectPlaces goes from one place to the next in the index history_place, whatever
// number of events lies between. SQLite compares a whole row by the index with values
// alone, which have no column's affinity: hence the empty texts.
const selectPlaces = `
with recursive event (repository, name, environment, application) as (
	select repository, name, environment, application
	from (select repository, name, environment, application from history order by repository, name, environment, application limit 1) as first
	union all
	select later.repository, later.name, later.environment, later.application
	from event as one join history as later on later.id = (
		select next.id from history as next
		where (next.repository, next.name, next.environment, next.application) > (one.repository || '', one.name || '', one.environment || '', one.application || '')
		order by next.repository, next.name, next.environment, next.application limit 1)
)
select repository, name, environment, application from event where ` + atPlace + ` limit ?`

// atPlace narrows to the places of a window; see Window.place.
const atPlace = `(? = '' or lower(repository) = ? or name = ? or name like ? escape '!')
	and (? = '' or environment = ?) and (? = '' or application = ?)`

// place are the values of atPlace. What is asked is changed as what is kept was.
func (w HistoryFilter) place() []any {
	repository, environment, application := plain(strings.ToLower(w.Repository)), plain(w.Environment), plain(w.Application)
	return []any{repository, repository, repository, "%/" + escaped(repository), environment, environment, application, application}
}

// places are those that a window is narrowed to. Not few: there are too many to look at
// each, or it is narrowed to none.
func (w HistoryFilter) places(ctx context.Context, tx *database.Tx) (all []place, few bool, err error) {
	if w.Repository == "" && w.Environment == "" && w.Application == "" {
		return nil, false, nil
	}
	err = tx.Query(ctx, func(scan database.Scan) error {
		var one place
		err := scan(&one.repository, &one.name, &one.environment, &one.application)
		all = append(all, one)
		return err
	}, selectPlaces, append(w.place(), mostPlaces+1)...)
	return all, len(all) <= mostPlaces, err
}

// fromPlace reads no more events of a place than are wanted of all.
const fromPlace = `select * from (select id, at from history
	where repository = ? and name = ? and environment = ? and application = ? and ` + inTime + `
	order by at desc, id desc limit ?) as one`

// selectFrom selects the newest events of some places.
func (w HistoryFilter) selectFrom(targets []place) (query string, args []any) {
	parts := make([]string, 0, len(targets))
	for _, one := range targets {
		parts = append(parts, fromPlace)
		args = append(args, one.repository, one.name, one.environment, one.application)
		args = append(append(args, w.time()...), w.Limit)
	}
	return selectEvents + `
where id in (select id from (` + strings.Join(parts, "\nunion all\n") + `) as these order by at desc, id desc limit ?)
order by at desc, id desc`, append(args, w.Limit)
}

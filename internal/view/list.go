package view

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"promoter/internal/access"
	"promoter/internal/fault"
	"promoter/internal/store"
)

// ListQuery selects a page of a list. Empty fields do not restrict.
type ListQuery struct {
	Repository  string // HOST/OWNER/NAME, the end of that, or a key
	Environment string
	Application string
	After       string // Next of the previous page
	Limit       int    // at least 1
}

// Page is a part of a list.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"` // selects the next page; empty: there is none
}

// PageOf returns a page of a sorted list. The names of an item are a number of texts that no other
// has, and by which the list is sorted. Without a limit, the page has all that follow.
func PageOf[T any](sorted []T, after string, limit, texts int, names func(T) []string) (Page[T], error) {
	page := Page[T]{Items: []T{}}
	last, err := decodeCursor(after, texts)
	if err != nil {
		return page, err
	}
	for _, one := range sorted {
		if after != "" && slices.Compare(names(one), last) <= 0 {
			continue
		}
		if limit > 0 && len(page.Items) == limit {
			page.Next = encodeCursor(names(page.Items[limit-1])...)
			break
		}
		page.Items = append(page.Items, one)
	}
	return page, nil
}

// TargetName is the target that an item of a list is about.
type TargetName struct {
	Repository  string `json:"repository"` // HOST/OWNER/NAME
	Key         string `json:"key"`        // of the repository; a rename does not change it
	Environment string `json:"environment"`
	Application string `json:"application"`
}

// targetFields is the number of fields of a cursor in a list of targets.
const targetFields = 4

func (t TargetName) fields() []string {
	return []string{t.Repository, t.Key, t.Environment, t.Application}
}

// listTargets returns what a function makes of the targets that a query selects and a principal
// may read, by name; nil: nothing. Only the repositories of the page are read.
func listTargets[T any](
	ctx context.Context, v *View, p access.Principal, q ListQuery, itemOf func(TargetName, store.Target) *T,
) (Page[T], error) {
	page := Page[T]{Items: []T{}}
	after, err := decodeCursor(q.After, targetFields)
	if err != nil {
		return page, err
	}
	names, err := v.repositories(ctx, p, q.Repository)
	if err != nil {
		return page, err
	}
	var repositories []TargetName
	for key, name := range names {
		repositories = append(repositories, TargetName{Repository: name, Key: key})
	}
	slices.SortFunc(repositories, func(a, b TargetName) int { return slices.Compare(a.fields(), b.fields()) })
	last := TargetName{}
	for _, repository := range repositories {
		if slices.Compare([]string{repository.Repository, repository.Key}, after[:2]) < 0 {
			continue // of an earlier page
		}
		targets, err := v.Store.Targets.List(ctx, repository.Key, q.Environment, q.Application)
		if err != nil {
			return page, err
		}
		slices.SortFunc(targets, func(a, b store.Target) int {
			return cmp.Or(cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Application, b.Application))
		})
		for _, t := range targets {
			name := repository
			name.Environment, name.Application = t.Environment, t.Application
			shown := q.After != "" && slices.Compare(name.fields(), after) <= 0
			if shown || !p.MayRead(name.Repository, t.Environment, t.Application) {
				continue
			}
			item := itemOf(name, t)
			if item == nil {
				continue
			}
			if len(page.Items) == q.Limit {
				page.Next = encodeCursor(last.fields()...)
				return page, nil
			}
			page.Items, last = append(page.Items, *item), name
		}
	}
	return page, nil
}

// encodeCursor returns a position in a list, as clients send it back.
func encodeCursor(fields ...string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(fields, "\n")))
}

// decodeCursor returns the fields of a position; without a text, they are empty.
func decodeCursor(text string, fields int) ([]string, error) {
	if text == "" {
		return make([]string, fields), nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	found := strings.Split(string(decoded), "\n")
	if err != nil || len(found) != fields {
		return nil, fault.New(fault.Invalid, "after is no next of an answer before")
	}
	return found, nil
}

// encodeTime is a cursor in a list by time.
func encodeTime(at time.Time, fields ...string) string {
	return encodeCursor(append([]string{strconv.FormatInt(at.UnixMicro(), 10)}, fields...)...)
}

// decodeTime returns the time and the other fields of a cursor; without a text, they are zero.
func decodeTime(text string, fields int) (time.Time, []string, error) {
	found, err := decodeCursor(text, fields+1)
	if err != nil || text == "" {
		return time.Time{}, make([]string, fields), err
	}
	micros, err := strconv.ParseInt(found[0], 10, 64)
	if err != nil {
		return time.Time{}, nil, fault.New(fault.Invalid, "after is no next of an answer before")
	}
	return time.UnixMicro(micros), found[1:], nil
}

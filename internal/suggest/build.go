package suggest

import (
	"cmp"
	"slices"
)

// builder turns families into environments.
type builder struct {
	layout  *layout
	names   map[string]string // of environments, by identity
	byName  map[string]*Environment
	regions map[string]string // by the names of environments
}

func newLayout(all []family, captures bool, because string) *layout {
	b := &builder{
		layout: &layout{byFile: map[string]string{}, captures: captures, because: because},
		names:  namesOf(all), byName: map[string]*Environment{}, regions: map[string]string{},
	}
	for i := range all {
		b.add(&all[i])
	}
	for _, name := range sortedKeys(b.byName) {
		b.byName[name].Paths = tidy(b.byName[name].Paths)
		b.layout.environments = append(b.layout.environments, *b.byName[name])
	}
	arrange(b.layout.environments, b.regions)
	return b.layout
}

// add puts the files of a family into their environments.
func (b *builder) add(f *family) {
	column, varying := noColumn, f.varying()
	if b.layout.captures {
		column = f.capture()
	}
	for i := range f.spots {
		s := &f.spots[i]
		e := b.environment(s)
		e.aside = e.aside || s.aside
		e.Paths = append(e.Paths, s.glob(column, varying))
		b.layout.byFile[s.file] = e.Name
	}
}

// environment returns the environment of a spot.
func (b *builder) environment(s *spot) *Environment {
	name := cmp.Or(b.names[s.identity()], s.name)
	e, known := b.byName[name]
	if !known {
		e = &Environment{Name: name, rank: s.rank}
		b.byName[name], b.regions[name] = e, s.region
	}
	return e
}

// identity is one stage in one region, however it is spelled.
func (s *spot) identity() string { return s.canonical + "/" + s.region }

// namesOf chooses the commonest spelling of each environment. Where one family
// has two spellings they are two environments, which keep their own names.
func namesOf(all []family) map[string]string {
	counts := map[string]map[string]int{}
	split := map[string]bool{}
	for i := range all {
		own := map[string]string{}
		for j := range all[i].spots {
			s := &all[i].spots[j]
			id := s.identity()
			if counts[id] == nil {
				counts[id] = map[string]int{}
			}
			counts[id][s.name]++
			split[id] = split[id] || own[id] != "" && own[id] != s.name
			own[id] = s.name
		}
	}
	names := map[string]string{}
	for id, spellings := range counts {
		if !split[id] {
			names[id] = commonest(spellings)
		}
	}
	return names
}

// commonest returns the key with the highest count, of several the first.
func commonest(counts map[string]int) string {
	return slices.MaxFunc(sortedKeys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(b, a))
	})
}

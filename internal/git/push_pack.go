package git

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

// pack is what goes with a push.
type pack struct {
	objects []plumbing.Hash
	bytes   []byte
}

func (p *pack) reader() io.ReadCloser { return io.NopCloser(bytes.NewReader(p.bytes)) }

// packFor packs exactly what the remote lacks of the new commits. Nil: branches
// are deleted only, and no pack is sent.
func (m *Mirror) packFor(updates []Update, advertised *packp.AdvRefs) (*pack, error) {
	have := m.shared(advertised)
	var all []parcel
	packed := map[ID]bool{}
	deletes := true
	for _, u := range updates {
		if u.New.IsZero() {
			continue
		}
		deletes = false
		lacking, err := m.between(u.New, have...)
		if err != nil {
			return nil, fmt.Errorf("find what is new in %s: %w", u.Branch, err)
		}
		for _, one := range lacking {
			if !packed[one.id] {
				packed[one.id] = true
				all = append(all, one)
			}
		}
	}
	if deletes {
		return nil, nil
	}
	var encoded bytes.Buffer
	if err := m.encodePack(&encoded, all); err != nil {
		return nil, fmt.Errorf("pack what is new: %w", err)
	}
	return &pack{objects: hashes(slices.Collect(maps.Keys(packed))), bytes: encoded.Bytes()}, nil
}

// shared returns the commits that both sides have.
func (m *Mirror) shared(advertised *packp.AdvRefs) []ID {
	var ids []ID
	for _, hash := range advertised.References {
		if m.disk.HasEncodedObject(hash) == nil {
			ids = append(ids, ID(hash))
		}
	}
	return ids
}

// own keeps what was pushed: the remote has it now.
func (m *Mirror) own(p *pack) error {
	if p == nil || len(p.objects) == 0 {
		return nil
	}
	if err := m.disk.keepPack(bytes.NewReader(p.bytes)); err != nil {
		return err
	}
	m.disk.forget(p.objects)
	return nil
}

package gitlabtest

import "slices"

// onNote finds the note of the path.
func onNote(handle func(c *call, n *note) *reply) func(c *call, m *request) *reply {
	return func(c *call, m *request) *reply {
		for _, n := range m.notes {
			if itoa(n.id) == c.r.PathValue("note") {
				return handle(c, n)
			}
		}
		return notFound("")
	}
}

func listAwards(c *call, n *note) *reply { return list(c, n.awards, drawAward(n)) }

func drawAward(n *note) func(*call, *award) object {
	return func(c *call, a *award) object {
		return object{
			"id": a.id, "name": a.name, "user": drawUser(c, a.by), "created_at": stamp(a.at), "updated_at": stamp(a.at),
			"awardable_id": n.id, "awardable_type": "Note", "url": nil,
		}
	}
}

// createAward changes the time of the note too. A duplicate name is rejected as not
// found.
// https://gitlab.com/gitlab-org/gitlab/-/blob/master/lib/api/award_emoji.rb
func createAward(c *call, n *note) *reply {
	name := c.text("name")
	if !slices.Contains([]string{"thumbsup", "thumbsdown", "confused", "eyes"}, name) {
		return notFound("Award Emoji Name is not a valid emoji name ")
	}
	if slices.ContainsFunc(n.awards, func(a *award) bool { return a.by == c.who() && a.name == name }) {
		return notFound("Award Emoji Name has already been taken ")
	}
	made := &award{id: c.s.next(), name: name, by: c.who(), at: c.s.time()}
	n.awards, n.updated = append(n.awards, made), made.at
	return created(drawAward(n)(c, made))
}

// Ask comments on a new issue.
func (p *Project) Ask(who, body string) {
	p.s.act(func() {
		at := p.s.time()
		p.asked = append(p.asked, &note{id: p.s.next(), author: p.s.user(who), body: body, created: at, updated: at})
	})
}

// Reword edits a note.
func (p *Project) Reword(iid, id int, body string) {
	p.with("root", iid, func(m *request, _ *user) {
		for _, n := range m.notes {
			if n.id == id {
				n.body, n.updated = body, p.s.time()
			}
		}
	})
}

// Unsay deletes a note.
func (p *Project) Unsay(iid, id int) {
	p.with("root", iid, func(m *request, _ *user) {
		m.notes = slices.DeleteFunc(m.notes, func(n *note) bool { return n.id == id })
	})
}

// Awards returns the emoji of a note, each as "NAME USERNAME".
func (p *Project) Awards(iid, id int) []string {
	var all []string
	p.with("root", iid, func(m *request, _ *user) {
		for _, n := range m.notes {
			for _, a := range n.awards {
				if n.id == id {
					all = append(all, a.name+" "+a.by.name)
				}
			}
		}
	})
	return all
}

package gitlabtest

import "slices"

// onNote finds the note of the path.
func onNote(handle func(c *call, n *note) *reply) func(c *call, m *request) *reply {
	return func(c *call, m *request) *reply {
		for _, n := range m.Events {
			if itoa(n.ID) == c.r.PathValue("note") {
				return handle(c, n)
			}
		}
		return notFound("")
	}
}

func listAwards(c *call, n *note) *reply { return list(c, n.Reactions, drawAward(n)) }

func drawAward(n *note) func(*call, *award) object {
	return func(c *call, a *award) object {
		return object{
			"id": a.ID, "name": a.Content, "user": drawUser(c, a.By), "created_at": stamp(a.At), "updated_at": stamp(a.At),
			"awardable_id": n.ID, "awardable_type": "Note", "url": nil,
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
	made, added := n.React(c.who(), name)
	if !added {
		return notFound("Award Emoji Name has already been taken ")
	}
	n.Updated = made.At
	return created(drawAward(n)(c, made))
}

package web

import "promoter/internal/printable"

// graph is the drawing of the environments: those without a parent on the left.
type graph struct {
	Width, Height int
	Nodes         []node
	Edges         []edge
}

type node struct {
	X, Y                         int
	Name, Version, Status, Class string
	Anchor                       string // of the section about it
}

// edge is a line between the right side of a parent and the left side of a child.
type edge struct{ FromX, FromY, ToX, ToY, MiddleX int }

// Sizes of the drawing, as in style.css.
const (
	nodeWidth  = 190
	nodeHeight = 70
	gapX       = 60
	gapY       = 16
	margin     = 4
	// nodeLetters is the number of letters that fit in a node.
	nodeLetters = 24
)

// graphNode is an environment to draw.
type graphNode struct {
	Environment string
	After       []string // the parent environments
	Version     string
	Status      string // a word
	Anchor      string // of the element about it
}

// graphOf places each environment to the right of its parents.
func graphOf(nodes []graphNode) graph {
	column := make(map[string]int, len(nodes))
	for _, one := range nodes {
		column[one.Environment] = 0
	}
	// Parents are before their children, except where the config has changed since.
	for range nodes {
		for _, one := range nodes {
			for _, parent := range one.After {
				if at, known := column[parent]; known && at < len(nodes) && parent != one.Environment {
					column[one.Environment] = min(max(column[one.Environment], at+1), len(nodes))
				}
			}
		}
	}
	drawn := graph{}
	places, rows := map[string]node{}, map[int]int{}
	for _, one := range nodes {
		x, y := column[one.Environment], rows[column[one.Environment]]
		rows[column[one.Environment]]++
		placed := node{
			X: margin + x*(nodeWidth+gapX), Y: margin + y*(nodeHeight+gapY),
			Name: short(one.Environment), Version: short(one.Version),
			Status: one.Status, Class: classOf(one.Status), Anchor: one.Anchor,
		}
		places[one.Environment] = placed
		drawn.Nodes = append(drawn.Nodes, placed)
		drawn.Width = max(drawn.Width, placed.X+nodeWidth+margin)
		drawn.Height = max(drawn.Height, placed.Y+nodeHeight+margin)
	}
	for _, one := range nodes {
		to := places[one.Environment]
		for _, parent := range one.After {
			if from, known := places[parent]; known {
				drawn.Edges = append(drawn.Edges, edge{
					FromX: from.X + nodeWidth, FromY: from.Y + nodeHeight/2,
					ToX: to.X, ToY: to.Y + nodeHeight/2,
					MiddleX: (from.X + nodeWidth + to.X) / 2,
				})
			}
		}
	}
	return drawn
}

func short(text string) string { return printable.ShortLine(text, nodeLetters) }

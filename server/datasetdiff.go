package server

import (
	"strconv"

	"github.com/proviso-eval/proviso/server/dataset"
)

// DatasetDiff is what changed between two versions of a dataset.
type DatasetDiff struct {
	From DatasetVersion `json:"from"`
	To   DatasetVersion `json:"to"`
	dataset.Diff
}

func (s *Server) diffDataset(c *call) error {
	to, err := s.openDataset(c, c.q.Get("to"))
	if err != nil {
		return err
	}
	before := c.q.Get("from")
	if before == "" {
		before = strconv.Itoa(max(1, to.Number-1))
	}
	from, err := s.openDataset(c, before)
	if err != nil {
		return err
	}
	diff, err := dataset.Compare(from.Content, to.Content)
	return c.send(DatasetDiff{datasetOf(&from), datasetOf(&to), diff}, err)
}

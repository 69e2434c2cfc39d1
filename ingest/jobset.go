package ingest

// jobSet remembers which job ids a dump holds, a bit each: job ids are
// handed out in sequence, so that pages of 4096 fill up.
type jobSet struct {
	pages  map[jobPage]*[64]uint64
	recent [recentPages]struct {
		key  jobPage
		page *[64]uint64
	}
}

// recentPages is how many pages are found without the map: the ids of several
// clusters, or of several ranges, take turns in a dump.
const recentPages = 64

type jobPage struct {
	cluster string
	number  uint64
}

func (s *jobSet) add(cluster string, id uint64) {
	key := jobPage{cluster, id / 4096}
	slot := &s.recent[key.number*0x9E3779B97F4A7C15>>32%recentPages]
	if slot.page == nil || slot.key != key {
		if s.pages == nil {
			s.pages = map[jobPage]*[64]uint64{}
		}
		page := s.pages[key]
		if page == nil {
			page = new([64]uint64)
			s.pages[key] = page
		}
		slot.key, slot.page = key, page
	}
	slot.page[id%4096/64] |= 1 << (id % 64)
}

func (s *jobSet) has(cluster string, id uint64) bool {
	page := s.pages[jobPage{cluster, id / 4096}]
	return page != nil && page[id%4096/64]&(1<<(id%64)) != 0
}

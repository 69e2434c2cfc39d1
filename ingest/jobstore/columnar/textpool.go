package columnar

import "sync"

// TextPool makes one string of equal texts in the dictionaries of several row
// groups and files. Whoever meets the texts of one after the other can then
// tell them by where they lie. Several goroutines may use it at once. The zero
// value is ready.
type TextPool struct {
	lock  sync.Mutex
	texts map[string]string
	bytes int
}

// pooledBytes is how many bytes of texts are held: then the pool begins anew,
// since dictionaries of as many texts have little in common.
const pooledBytes = 4 << 20

// replace puts the first string that was met of each text in its place.
func (p *TextPool) replace(texts []string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.texts == nil || p.bytes > pooledBytes {
		p.texts, p.bytes = make(map[string]string), 0
	}
	for i, text := range texts {
		first, met := p.texts[text]
		if !met {
			p.texts[text] = text
			p.bytes += len(text)
			continue
		}
		texts[i] = first
	}
}

// Pool has the texts of the dictionaries that are read from here on come from
// a pool.
func (p *Pages) Pool(texts *TextPool) {
	for i := range p.columns {
		p.columns[i].pool = texts
	}
}

package chargestore

import "encoding/binary"

// jobID is the text of a job's id: itself and its length, or, of a long one, as
// those of arrays may be, the place and the length among the longIDs.
type jobID [16]byte

const (
	lengthAt = len(jobID{}) - 1
	longMark = 1<<8 - 1 // in the place of a length
)

// longIDs are the texts of the long ids of some records.
type longIDs []byte

// mostLongIDs is how many bytes they may have before those of one more job are
// added: their places are to fit 32 bits.
const mostLongIDs = 1 << 30

// set sets an id, of which a long one is appended to others.
func (id *jobID) set(long *longIDs, text string) {
	if len(text) <= lengthAt {
		copy(id[:lengthAt], text)
		id[lengthAt] = byte(len(text))
		return
	}
	binary.LittleEndian.PutUint32(id[0:], uint32(len(*long)))
	binary.LittleEndian.PutUint32(id[4:], uint32(len(text)))
	id[lengthAt] = longMark
	*long = append(*long, text...)
}

func (id *jobID) long() bool { return id[lengthAt] == longMark }

// appendTo appends the text.
func (id *jobID) appendTo(dst []byte, long longIDs) []byte {
	if id.long() {
		return append(dst, long.text(id)...)
	}
	n := len(dst)
	return append(dst, id[:]...)[:n+int(id[lengthAt])] // all of it, which is faster
}

// text gives the text of a long id.
func (l longIDs) text(id *jobID) []byte {
	start, n := binary.LittleEndian.Uint32(id[0:]), binary.LittleEndian.Uint32(id[4:])
	return l[start:][:n]
}

// longBytes is how much memory a row takes for its id beside the record.
func (id *jobID) longBytes() int {
	if !id.long() {
		return 0
	}
	return int(binary.LittleEndian.Uint32(id[4:]))
}

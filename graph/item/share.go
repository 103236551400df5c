package item

// Clone is a copy of the sample with memory of its own, exactly as much as it needs and left to the garbage collector:
// for what is kept long. It costs a copy of the bytes.
func (s *Sample) Clone() *Sample {
	s.check()
	c := &Sample{key: s.key, names: append([]string(nil), s.names...), values: make([]Value, len(s.values))}
	for i := range s.values {
		v := s.values[i]
		if data := v.Data(); data != nil || v.buf != nil {
			b := Heap.Take(len(data))
			copy(b.Data, data)
			v.data, v.buf = b.Data, b
		}
		c.values[i] = v
	}
	return c
}

// Share is another sample with the same content, to be released apart from this one. Both hold the same memory, so
// that [Value.Shared] is true of their fields: whoever writes in place copies first. It costs no copy of the bytes.
func (s *Sample) Share() *Sample {
	s.check()
	c := NewSample(s.key)
	c.names = append(c.names[:0], s.names...)
	c.values = append(c.values[:0], s.values...)
	for i := range c.values {
		if b := c.values[i].buf; b != nil {
			b.Retain()
		}
	}
	return c
}

package main

import "github.com/penstock-go/penstock/graph/item"

const inputs = 3 * side * side

// means tells a picture's class by the nearest mean of those that it has learnt from. It stands in for a real model.
type means struct {
	sum   [classes][inputs]float64
	count [classes]float64
}

func (m *means) learn(b *item.Batch) {
	images := b.Column("image").Float32s()
	for row, label := range b.Column("label").Int64s() {
		m.count[label]++
		for i, x := range images[row*inputs : (row+1)*inputs] {
			m.sum[label][i] += float64(x)
		}
	}
}

func (m *means) right(b *item.Batch) (n int) {
	images := b.Column("image").Float32s()
	for row, label := range b.Column("label").Int64s() {
		if m.nearest(images[row*inputs:(row+1)*inputs]) == label {
			n++
		}
	}
	return n
}

func (m *means) nearest(x []float32) (best int64) {
	least := -1.0
	for c := range m.sum {
		d := 0.0
		for i, v := range x {
			e := float64(v) - m.sum[c][i]/max(1, m.count[c])
			d += e * e
		}
		if least < 0 || d < least {
			best, least = int64(c), d
		}
	}
	return best
}

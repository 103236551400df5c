package main

import "math"

// model is softmax regression: one weight for each input and class, trained by plain gradient descent. It stands in for
// a real model.
type model struct {
	weights [classes][inputs]float32
	bias    [classes]float32
}

// scores are the probabilities of the classes for one picture.
func (m *model) scores(x []float32) (p [classes]float32) {
	most := float32(math.Inf(-1))
	for c := range p {
		p[c] = m.bias[c]
		for i, w := range m.weights[c] {
			p[c] += w * x[i]
		}
		most = max(most, p[c])
	}
	sum := float32(0)
	for c := range p {
		p[c] = float32(math.Exp(float64(p[c] - most)))
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}

// step learns from a batch and gives its mean loss.
func (m *model) step(images []float32, labels []int64, rate float32) (loss float64) {
	rate /= float32(len(labels))
	for row, label := range labels {
		x := images[row*inputs : (row+1)*inputs]
		p := m.scores(x)
		loss -= math.Log(max(float64(p[label]), 1e-9))
		for c := range p {
			slope := p[c]
			if int64(c) == label {
				slope--
			}
			m.bias[c] -= rate * slope
			for i := range m.weights[c] {
				m.weights[c][i] -= rate * slope * x[i]
			}
		}
	}
	return loss / float64(len(labels))
}

// right counts the pictures whose likeliest class is their own.
func (m *model) right(images []float32, labels []int64) (n int) {
	for row, label := range labels {
		p := m.scores(images[row*inputs : (row+1)*inputs])
		best := 0
		for c := range p {
			if p[c] > p[best] {
				best = c
			}
		}
		if int64(best) == label {
			n++
		}
	}
	return n
}

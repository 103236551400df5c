package main

import (
	"fmt"
	"math"
	"slices"
)

// The probe is a picture of 500 × 375 whose red grows to the right, whose green grows downwards, and whose blue is stripes
// one pixel wide, see bench/peers/data.py. What a pipeline makes of many copies tells, from outside, where it crops, how
// often it mirrors, and whether its resize averages or picks.
const probeWidth, probeHeight = 500, 375

// seen is what one picture of the probe tells.
type seen struct {
	x, y, w, h float64 // the crop, in pixels of the picture
	mirrored   bool
	stripes    float64 // what is left of the stripes: their deviation as a share of the original's
}

// look finds the crop from the slopes of red and green, whose values are 28 + 200 × the place's share of a side.
func look(r rows, row int) seen {
	n := r.size
	bytes := func(ch, i int) float64 {
		mean := [3]float64{.485, .456, .406}[ch]
		return float64(r.plane(row, ch)[i])/level[ch] + mean*255
	}
	along := func(ch, step, across int) (low, high float64) { // means near both ends, away from the border
		a, b := n/8, n-1-n/8
		for i := n / 4; i < 3*n/4; i++ {
			low += bytes(ch, a*step+i*across)
			high += bytes(ch, b*step+i*across)
		}
		return low / float64(n/2), high / float64(n/2)
	}
	part := float64(n-1-2*(n/8)) / float64(n)
	var s seen
	x0, x1 := along(0, 1, n)
	s.mirrored = x1 < x0
	if s.mirrored {
		x0, x1 = x1, x0
	}
	y0, y1 := along(1, n, 1)
	s.w = (x1 - x0) / 200 * probeWidth / part
	s.h = (y1 - y0) / 200 * probeHeight / part
	s.x = (x0-28)/200*probeWidth - s.w*(float64(n/8)+.5)/float64(n)
	s.y = (y0-28)/200*probeHeight - s.h*(float64(n/8)+.5)/float64(n)
	var sum, square float64
	blue := r.plane(row, 2)
	for i := range blue {
		v := bytes(2, i)
		sum += v
		square += v * v
	}
	mean := sum / float64(len(blue))
	s.stripes = math.Sqrt(max(0, square/float64(len(blue))-mean*mean)) / 50
	return s
}

// sameRule checks what an epoch of the probe tells against torchvision's RandomResizedCrop and a flip of one in two. The
// limits are those that a few hundred pictures keep; a rule without the crop, with squares only, without a flip, or
// with a resize that picks pixels is outside.
func sameRule(r rows) []check {
	var shares, ratios, places, stripes []float64
	inside, mirrored := 0, 0
	for row := range r.n {
		s := look(r, row)
		shares = append(shares, s.w*s.h/probeWidth/probeHeight)
		ratios = append(ratios, math.Log(s.w/s.h))
		if s.mirrored {
			mirrored++
		}
		if s.x > -6 && s.y > -6 && s.x+s.w < probeWidth+6 && s.y+s.h < probeHeight+6 {
			inside++
		}
		if free := probeWidth - s.w; free > 100 {
			places = append(places, s.x/free)
		}
		if s.w > 380 { // from where a triangle that averages leaves little of the stripes
			stripes = append(stripes, s.stripes)
		}
	}
	n := float64(r.n)
	between := func(what string, v, low, high float64) check {
		return check{What: what, Found: fmt.Sprintf("%.2f, wanted %.2f to %.2f", v, low, high), OK: v >= low && v <= high}
	}
	return []check{
		between("crops that lie inside", float64(inside)/n, 0.97, 1),
		between("mean share of the area (expected: 0.43)", mean(shares), 0.38, 0.48),
		between("smallest share of the area", slices.Min(shares), 0.05, 0.16),
		between("mean logarithm of the proportions (expected: 0.03)", mean(ratios), -0.015, 0.075),
		between("their deviation (uniform: 0.17)", deviation(ratios), 0.13, 0.20),
		between("mean place of the crop", mean(places), 0.40, 0.60),
		between("mirrored", float64(mirrored)/n, 0.38, 0.62),
		between("stripes left where the crop is made smaller (antialias)", mean(stripes), 0, 0.25),
	}
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(len(v))
}

func deviation(v []float64) float64 {
	m, s := mean(v), 0.0
	for _, x := range v {
		s += (x - m) * (x - m)
	}
	return math.Sqrt(s / float64(len(v)))
}

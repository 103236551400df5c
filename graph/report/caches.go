package report

import (
	"fmt"
	"time"

	"github.com/penstock-go/penstock/graph"
)

type cacheDoc struct {
	ID           string   `json:"id"`
	Hits         int64    `json:"hits"`
	Misses       int64    `json:"misses"`
	Bytes        int64    `json:"bytes"`
	Limit        int64    `json:"limit"`
	HitShare     *float64 `json:"hit_share"`
	BestHitShare *float64 `json:"best_hit_share"`
}

type cacheEpochDoc struct {
	ID     string `json:"id"`
	Hits   int64  `json:"hits"`
	Misses int64  `json:"misses"`
}

func cachesOf(all []graph.CacheStats) []cacheDoc {
	docs := make([]cacheDoc, 0, len(all))
	for _, c := range all {
		docs = append(docs, cacheDoc(c))
	}
	return docs
}

func cacheEpochsOf(all []graph.CacheEpoch) []cacheEpochDoc {
	docs := make([]cacheEpochDoc, 0, len(all))
	for _, c := range all {
		docs = append(docs, cacheEpochDoc(c))
	}
	return docs
}

func (c *cleaner) cache(x *graph.CacheStats) {
	at := "cache." + plain(x.ID)
	c.counts(at, &x.Hits, &x.Misses, &x.Bytes, &x.Limit)
	c.share(at+".hit_share", &x.HitShare)
	c.share(at+".best_hit_share", &x.BestHitShare)
}

// caches is a line a cache: what it holds and how often it had what was asked for.
func (j *judge) caches() string {
	text := ""
	for _, c := range j.s.Caches {
		line := fmt.Sprintf("Cache %s: %s of %s, %s, %s", plain(c.ID), size(c.Bytes), size(c.Limit), plural(c.Hits, "hit"), plural(c.Misses, "miss"))
		if c.HitShare != nil {
			line += fmt.Sprintf("; %s hits after the first epoch", percent(*c.HitShare))
		}
		if c.BestHitShare != nil {
			line += fmt.Sprintf("; %s is the best that its limit allows", percent(*c.BestHitShare))
		}
		text += wrap(line+".", "", "  ", width)
	}
	return text
}

// cold says that the wait is mostly of the first epoch, while a cache was empty, and what later epochs wait.
func (j *judge) cold() string {
	all := j.s.Epochs
	if len(j.s.Caches) == 0 || len(all) == 0 || !j.v.Starved || len(all[0].Caches) == 0 {
		return ""
	}
	c := all[0].Caches[0]
	if c.Misses == 0 || c.Hits > c.Misses {
		return ""
	}
	if len(all) == 1 {
		return fmt.Sprintf(" This was the first epoch, in which the cache %s is cold: later ones do not make again what it holds.", name(c.ID))
	}
	var later, took time.Duration
	for _, e := range all[1:] {
		later, took = later+e.Wait, took+e.Elapsed
	}
	first := ratio(all[0].Wait.Seconds(), all[0].Elapsed.Seconds())
	rest := ratio(later.Seconds(), took.Seconds())
	if first == nil || rest == nil || *first < bandHealthy || *rest > *first/2 {
		return ""
	}
	line := fmt.Sprintf("in the first epoch, with the cache %s cold, %s waited %s of the time, in later ones %s",
		name(c.ID), name(j.sink()), percent(*first), percent(*rest))
	j.say(line)
	return fmt.Sprintf(" The cause is the cold cache %s: %s waited %s of the first epoch and %s of those after it.",
		name(c.ID), name(j.sink()), percent(*first), percent(*rest))
}

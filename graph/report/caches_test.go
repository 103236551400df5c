package report_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

// coldRun is a run that waited for decode in its first epoch, and hardly afterwards.
func coldRun() graph.Snapshot {
	wait, share, best := 0.45, 0.4, 0.4
	return graph.Snapshot{
		Pipeline: "cold", Totals: graph.Totals{Epochs: 2, Samples: 200, Elapsed: 20 * time.Second, Balanced: true},
		Sink: graph.SinkStats{Wait: 9 * time.Second, Busy: 11 * time.Second, SteadyWait: 9 * time.Second, SteadyBusy: 11 * time.Second,
			SteadyItems: 200, Steady: 9 * time.Second, WaitRatio: &wait},
		Blame: []graph.Blame{{Stage: "decode", Cause: graph.CauseService, Phase: graph.PhaseSteady, Time: 9 * time.Second}},
		Stages: []graph.StageStats{
			{ID: "read", Kind: "range", Load: graph.CPU, Workers: 1, ItemsIn: 160, ItemsOut: 160},
			{ID: "decode", Kind: "decode_image", Load: graph.CPU, Workers: 1, From: []string{"read"}, ItemsIn: 160, ItemsOut: 160},
			{ID: "keep", Kind: "memory_cache", Load: graph.CPU, Workers: 1, From: []string{"decode"}, ItemsIn: 160, ItemsOut: 200},
			{ID: "train", Kind: "accelerator", Load: graph.CPU, Workers: 1, From: []string{"keep"}, ItemsIn: 200},
		},
		Epochs: []graph.EpochStats{
			{Epoch: 0, Samples: 100, Elapsed: 14 * time.Second, Wait: 8800 * time.Millisecond, Caches: []graph.CacheEpoch{{ID: "keep", Misses: 100}}},
			{Epoch: 1, Samples: 100, Elapsed: 6 * time.Second, Wait: 200 * time.Millisecond, Caches: []graph.CacheEpoch{{ID: "keep", Hits: 40, Misses: 60}}},
		},
		Caches: []graph.CacheStats{{ID: "keep", Hits: 40, Misses: 160, Bytes: 4 << 20, Limit: 4 << 20, HitShare: &share, BestHitShare: &best}},
	}
}

func TestAColdCacheIsNamedAsTheCause(t *testing.T) {
	s := coldRun()
	v := report.Judge(s)
	assert.Equal(t, "decode", v.Bottleneck)
	assert.Contains(t, v.Sentence, `The cause is the cold cache "keep": "train" waited 63 % of the first epoch and 3 % of those after it.`)
	s.Epochs[1].Wait = 4 * time.Second // warm, it is no better
	assert.NotContains(t, report.Judge(s).Sentence, "cold")
	s.Epochs = s.Epochs[:1]
	assert.Contains(t, report.Judge(s).Sentence, `first epoch, in which the cache "keep" is cold`)
}

func TestReportsTellWhatCachesHadAndWhatIsPossible(t *testing.T) {
	s := coldRun()
	assert.Contains(t, strings.Join(strings.Fields(report.Table(s)), " "),
		"40 hits, 160 misses; 40 % hits after the first epoch; 40 % is the best that its limit allows.")
	text, err := report.JSON(s)
	require.NoError(t, err)
	var doc struct {
		Cache []struct {
			ID           string
			Hits, Limit  int64
			HitShare     float64 `json:"hit_share"`
			BestHitShare float64 `json:"best_hit_share"`
		}
		Epochs []struct {
			Cache []struct{ Hits, Misses int64 }
		}
	}
	require.NoError(t, json.Unmarshal(text, &doc))
	require.Len(t, doc.Cache, 1)
	assert.Equal(t, int64(40), doc.Cache[0].Hits)
	assert.InDelta(t, 0.4, doc.Cache[0].HitShare, 1e-9)
	assert.InDelta(t, 0.4, doc.Cache[0].BestHitShare, 1e-9)
	assert.Equal(t, int64(60), doc.Epochs[1].Cache[0].Misses)
	assert.Empty(t, violations(t, rules(t), text))
}

package report

// The documents are report.json, key by key in the order it is written. A pointer is a figure that may be absent.
type document struct {
	Version       int            `json:"version"`
	Pipeline      string         `json:"pipeline"`
	Emulated      bool           `json:"emulated"`
	Rank          int            `json:"rank"`
	World         int            `json:"world"`
	Environment   environmentDoc `json:"environment"`
	Spec          specDoc        `json:"spec"`
	Totals        totalsDoc      `json:"totals"`
	Sink          sinkDoc        `json:"sink"`
	Blame         []blameDoc     `json:"blame"`
	Stages        []stageDoc     `json:"stages"`
	Epochs        []epochDoc     `json:"epochs"`
	Mix           []mixDoc       `json:"mix"`
	Cache         []cacheDoc     `json:"cache"`
	Devices       []deviceDoc    `json:"devices"`
	Verdict       verdictDoc     `json:"verdict"`
	Memory        memoryDoc      `json:"memory"`
	Timeline      *timelineDoc   `json:"timeline"` // null: none was kept
	Digest        *string        `json:"digest"`
	DigestSeconds *float64       `json:"digest_seconds"`
	GCPause       float64        `json:"gc_pause_seconds"`
	Decisions     []decisionDoc  `json:"decisions"`
	Skips         []skipDoc      `json:"skips"`
	Warnings      []string       `json:"warnings"`
}

type environmentDoc struct {
	CPU         *string  `json:"cpu"`
	Cores       *int     `json:"cores"`
	CoresQuota  *float64 `json:"cores_quota"`
	MemoryLimit *int64   `json:"memory_limit_bytes"`
	OS          *string  `json:"os"`
	Go          *string  `json:"go"`
	Version     *string  `json:"version"`
	Device      *string  `json:"device"`
	Driver      *string  `json:"driver"`
	Decoder     *string  `json:"decoder"`
}

type specDoc struct {
	Text        string   `json:"text"`
	Fingerprint *string  `json:"fingerprint"`
	Overrides   []string `json:"overrides"`
}

type totalsDoc struct {
	Epochs           int64    `json:"epochs"`
	Samples          int64    `json:"samples"`
	Batches          int64    `json:"batches"`
	Bytes            int64    `json:"bytes"`
	Seconds          float64  `json:"seconds"`
	SamplesPerSecond *float64 `json:"samples_per_second"`
	BatchesPerSecond *float64 `json:"batches_per_second"`
	FirstBatch       *float64 `json:"first_batch_seconds"`
	Skipped          int64    `json:"skipped"`
	StandIns         int64    `json:"stand_ins"`
	Padded           int64    `json:"padded"`
	Dropped          int64    `json:"dropped"`
	Failed           int64    `json:"failed"`
	Balanced         *bool    `json:"balanced"`
	CPU              *float64 `json:"cpu_seconds"`      // null where it is not told
	CPUWait          *float64 `json:"cpu_wait_seconds"` // null where it is not told, or nothing
}

type sinkDoc struct {
	Wait            float64         `json:"wait_seconds"`
	Busy            float64         `json:"busy_seconds"`
	WaitRatio       *float64        `json:"wait_ratio"`
	DeviceWaitRatio *float64        `json:"device_wait_ratio"`
	Waits           distributionDoc `json:"waits"`
	Phases          phasesDoc       `json:"phases"`
	SteadyItems     int64           `json:"steady_items"`
	SteadyBusy      float64         `json:"steady_busy_seconds"`
	Launches        *launchesDoc    `json:"launches"` // null: the sink tells none
}

type launchesDoc struct {
	Count int64           `json:"count"`
	Busy  float64         `json:"busy_seconds"`
	Late  distributionDoc `json:"late"`
}

type distributionDoc struct {
	Mean    *float64    `json:"mean"`
	P50     *float64    `json:"p50"`
	P95     *float64    `json:"p95"`
	P99     *float64    `json:"p99"`
	Max     *float64    `json:"max"`
	Buckets []bucketDoc `json:"buckets"`
}

type bucketDoc struct {
	Upto  float64 `json:"upto"`
	Count int64   `json:"count"`
}

type phasesDoc struct {
	Startup   float64 `json:"startup"`
	Steady    float64 `json:"steady"`
	EpochEdge float64 `json:"epoch_edge"`
}

type blameDoc struct {
	Stage   *string `json:"stage"`
	Cause   string  `json:"cause"`
	Phase   string  `json:"phase"`
	Seconds float64 `json:"seconds"`
}

type stageDoc struct {
	ID          string         `json:"id"`
	Kind        string         `json:"kind"`
	Load        *string        `json:"load"`
	From        []string       `json:"from"`
	Order       *string        `json:"order"`
	Group       *int           `json:"group"` // null: not a group
	Slabs       *int           `json:"slabs"` // null: not a group
	Workers     int            `json:"workers"`
	Buffer      *int           `json:"buffer"`
	Window      *int           `json:"window"`
	ItemsIn     int64          `json:"items_in"`
	ItemsOut    int64          `json:"items_out"`
	Skipped     int64          `json:"skipped"`
	StandIns    int64          `json:"stand_ins"`
	Failed      int64          `json:"failed"`
	Retried     int64          `json:"retried"`
	InFlight    int64          `json:"in_flight"`
	WaitIn      *float64       `json:"wait_in_seconds"`
	Busy        *float64       `json:"busy_seconds"`
	WaitOut     *float64       `json:"wait_out_seconds"`
	Service     serviceDoc     `json:"service"`
	Capacity    *float64       `json:"capacity_per_second"`
	Utilisation *float64       `json:"utilisation"`
	Queue       queueDoc       `json:"queue"`
	BytesOut    *int64         `json:"bytes_out"`
	Admitted    *admittedDoc   `json:"admitted"`   // null: neither a source nor a cache, or the items do not tell their size
	SlabBytes   *int64         `json:"slab_bytes"` // null: not a group, or its memory is not its own
	Keeps       bool           `json:"keeps_inputs"`
	FusedInto   *string        `json:"fused_into"`
	Phases      []phaseDoc     `json:"phases"`
	Slowest     []slowDoc      `json:"slowest"`
	Filtered    int64          `json:"filtered"`
	Abandoned   *int64         `json:"abandoned"` // null where the stage has no timeout
	Overdue     *int64         `json:"overdue"`   // likewise
	Stragglers  []stragglerDoc `json:"stragglers"`
}

type admittedDoc struct {
	Items int64          `json:"items"`
	Bytes int64          `json:"bytes"`
	Sizes []sizeRangeDoc `json:"sizes"`
}

type sizeRangeDoc struct {
	Upto  int64 `json:"upto"`
	Count int64 `json:"count"`
}

type serviceDoc struct {
	distributionDoc
	Resolution *string `json:"resolution"`
}

type queueDoc struct {
	Mean      *float64 `json:"mean"`
	Occupancy *float64 `json:"occupancy"`
}

type phaseDoc struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

type slowDoc struct {
	Key     string  `json:"key"`
	Seconds float64 `json:"seconds"`
}

type stragglerDoc struct {
	Key     string  `json:"key"`
	Times   int64   `json:"times"`
	Held    float64 `json:"held_seconds"`
	Blocked float64 `json:"blocked_seconds"`
}

type skipDoc struct {
	Stage   string `json:"stage"`
	Key     string `json:"key"`
	Error   string `json:"error"`
	Attempt int    `json:"attempt"`
	Offset  *int64 `json:"offset"`
}

type epochDoc struct {
	Epoch      int64           `json:"epoch"`
	Samples    int64           `json:"samples"`
	Batches    int64           `json:"batches"`
	Seconds    float64         `json:"seconds"`
	EdgeGap    *float64        `json:"edge_gap_seconds"`
	Digest     *string         `json:"digest"`
	Stages     []epochStageDoc `json:"stages"`
	Cache      []cacheEpochDoc `json:"cache"`
	PeakRSS    *int64          `json:"peak_rss_bytes"`
	InFlight   *int64          `json:"in_flight_bytes"`
	Goroutines *int            `json:"goroutines"`
}

type epochStageDoc struct {
	ID      string `json:"id"`
	ItemsIn int64  `json:"items_in"`
}

type mixDoc struct {
	ID     string        `json:"id"`
	Inputs []mixInputDoc `json:"inputs"`
}

type mixInputDoc struct {
	ID        string   `json:"id"`
	Asked     float64  `json:"asked"`
	Delivered *float64 `json:"delivered"`
	Items     int64    `json:"items"`
}

type verdictDoc struct {
	Starved     *bool    `json:"starved"`
	Bottleneck  *string  `json:"bottleneck"`
	Sentence    string   `json:"sentence"`
	Next        *nextDoc `json:"next"`
	ShareOfWait *float64 `json:"share_of_wait"`
	Gain        *float64 `json:"gain"`
	Predicted   *float64 `json:"predicted_samples_per_second"`
	Evidence    []string `json:"evidence"`
}

type nextDoc struct {
	Stage string `json:"stage"`
	Knob  string `json:"knob"`
	From  *int   `json:"from"`
	To    *int   `json:"to"`
}

type memoryDoc struct {
	PeakRSS       *int64 `json:"peak_rss_bytes"`
	InFlightPeak  *int64 `json:"in_flight_peak_bytes"`
	OverdraftPeak *int64 `json:"overdraft_peak_bytes"`
	BytesKnown    bool   `json:"bytes_known"`
	SlabsPeak     *int64 `json:"slabs_peak_bytes"`
	Caches        int64  `json:"caches_bytes"`
	Held          *int64 `json:"held_peak_bytes"`
	Estimate      *int64 `json:"estimate_bytes"`

	Estimated *estimateDoc `json:"estimate"`

	Budget *int64 `json:"budget_bytes"` // null: none
	Fixed  int64  `json:"budget_fixed_bytes"`
	Hold   int64  `json:"hold_items"`

	Scarce float64 `json:"scarce_seconds"`
}

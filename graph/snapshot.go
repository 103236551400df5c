package graph

import "time"

// Snapshot is every number of a run at one moment: the only input of the reports. It is a value and shares nothing with
// the run. Figures that do not exist are nil or absent, never zero.
type Snapshot struct {
	Pipeline    string
	Emulated    bool
	Running     bool // taken before the end
	Rank, World int
	Environment Environment
	Spec        SpecInfo
	Totals      Totals
	Expected    Expected
	Sink        SinkStats
	Blame       []Blame
	Stages      []StageStats // in order of declaration; the sink last
	Epochs      []EpochStats
	Caches      []CacheStats // in order of declaration
	Devices     []DeviceStats
	Mix         []MixStats
	Memory      MemoryStats
	Timeline    *Timeline // nil: no time has passed
	Digest      *string   // nil: not computed, see Warnings
	DigestTime  time.Duration
	GCPause     time.Duration
	CPU         time.Duration // processor time of the process during the run
	CPUWait     time.Duration // its threads were ready to run and had no core, added up; 0 where that is not told
	Decisions   []Decision    // of the tuner, see [Tuned]
	Skips       []SkipNote    // the first items that were left out, by stage; their number is in Totals
	Warnings    []string
	Err         string // "" or the root cause
}

// Environment is where a run took place.
type Environment struct {
	CPU         string
	Cores       int     // that the process may use
	CoresQuota  float64 // after the container's quota
	MemoryLimit *int64  // bytes; nil: no limit
	OS          string
	Go          string
	Version     string
	Device      *string
	Driver      *string
	Decoder     *string
}

// SpecInfo is what was run.
type SpecInfo struct {
	Text        string // Describe of the pipeline, or the YAML text
	Fingerprint string
	Overrides   []string
}

// Totals are the counts of a whole run.
type Totals struct {
	Epochs, Samples, Batches, Bytes            int64 // epochs: those that have begun
	Elapsed                                    time.Duration
	FirstBatch                                 *time.Duration // from Start to the first delivery
	Skipped, StandIns, Padded, Dropped, Failed int64
	Balanced                                   bool
	Unbalanced                                 []string // the stages and edges whose counts do not add up
}

// Expected is what a whole run will deliver, for the time that is left. nil: not known before the end (a filter, an
// iterable without counts, epochs without end).
type Expected struct {
	Epochs, Samples *int64
}

// SinkStats are the waits of the consumer. Phases add up to Wait.
type SinkStats struct {
	Wait, Busy                 time.Duration
	SteadyWait, SteadyBusy     time.Duration
	SteadyItems                int64    // items taken in the steady phase
	WaitRatio                  *float64 // of the steady phase; nil before there is one
	DeviceWaitRatio            *float64
	Waits                      Distribution // one value for each time the sink asked for an item
	Startup, Steady, EpochEdge time.Duration
	Launches                   *LaunchStats // nil: the sink tells none
}

// LaunchStats are the launches of a sink's host thread, as [Env.Launched] was told them.
type LaunchStats struct {
	Busy time.Duration // what they needed of a processor
	Late Distribution  // how much later than that each was over
}

// Distribution is a summary of times.
type Distribution struct {
	Count                    int64
	Mean, P50, P95, P99, Max time.Duration
	Sum                      time.Duration
	Buckets                  []Bucket // lowest first; those without a time are left out
}

// Bucket is how many times of a distribution lie above the bucket before and at or below Upto, which is one of them.
// Buckets are a sixteenth of an octave wide.
type Bucket struct {
	Upto  time.Duration
	Count int64
}

// Causes of a wait.
const (
	CauseService      = "service"
	CauseQueue        = "queue"
	CauseWindow       = "window"
	CauseSlabs        = "slabs"
	CauseCopy         = "copy"
	CauseStart        = "start"
	CauseEnd          = "end"
	CauseUnattributed = "unattributed"
)

// Phases of a wait.
const (
	PhaseStartup   = "startup"
	PhaseSteady    = "steady"
	PhaseEpochEdge = "epoch_edge"
)

// Blame is a share of the sink's wait and what it was spent on. All of them add up to the sink's wait.
type Blame struct {
	Stage, Cause, Phase string
	Time                time.Duration
}

// StageStats are the numbers of one stage. WaitIn, Busy and WaitOut of its workers add up to their lifetimes.
type StageStats struct {
	ID, Kind          string
	Load              Load
	Workers           int
	WorkersAuto       bool
	Buffer            int // what its queue has room for now; 0: the stage has no output
	BufferAuto        bool
	Window            int // an auto window may not have grown so far yet
	WindowAuto        bool
	Order             string // "input" or "completion"
	From              []string
	Group             int       // inputs of one output; 0: no group
	Slabs             int       // outputs that there may be at once; 0: no group, or without limit
	SlabBytes         int64     // of each; 0: their memory is not the group's
	Keeps             bool      // of a group: its inputs live on in its output
	Admitted          *Admitted // of a source, or a cache: what the byte budget was asked for; nil: the items do not tell their size
	ItemsIn, ItemsOut int64
	Filtered          int64
	Skipped           int64
	StandIns          int64
	Dropped           int64
	Failed            int64
	Retried           int64         // attempts after an item's first
	Timeout           time.Duration // of a call; 0: none
	Overdue           int64         // calls that did not come back within the timeout
	Abandoned         int64         // those of them that ignored their context and were left behind
	InFlight          int64
	WaitIn            time.Duration
	Busy              time.Duration
	WaitOut           time.Duration
	Lifetime          time.Duration
	Service           Distribution
	Resolution        string   // "item" or "slice"
	Capacity          *float64 // items a second that the workers could do; nil before the first item
	Utilisation       *float64 // busy share of the lifetimes
	Queue             Queue    // of the output edge
	BytesOut          *int64   // nil: the items do not tell their size
	FusedInto         string
	Phases            []Phase
	Slowest           []Slow
	Stragglers        []Straggler // those that others waited behind for longest
	Open              time.Duration
}

// Admitted are the items that were let in, and the bytes that were set aside for them: for each what it takes at the largest
// on its way. Sizes are counts of some of them, of the first of each slice, lowest first.
type Admitted struct {
	Items, Bytes int64
	Sizes        []SizeRange
}

// SizeRange is a count of sizes in bytes, in a sixteenth of an octave, and the largest of them.
type SizeRange struct{ Upto, Count int64 }

// Queue is the depth of an edge, weighted by time.
type Queue struct {
	Mean      *float64
	Occupancy *float64 // share of time in which it held something
}

// Phase is a part of a fused group's busy time.
type Phase struct {
	Name string
	Busy time.Duration
}

// Slow is one of the slowest items of a stage.
type Slow struct {
	Key  string
	Time time.Duration
}

// Straggler is an item that held up others of its stage, which were finished and had to wait for it because order is
// kept. Held is for how long finished work lay behind it, Blocked for how long workers stood still because the window was
// full, added up over the workers. Times counts the epochs in which it was among the longest. Where items are handled in
// slices the key is the first one's, "and 7 more".
type Straggler struct {
	Key           string
	Times         int64
	Held, Blocked time.Duration
}

// EpochStats are the numbers of one epoch.
type EpochStats struct {
	Epoch            int64
	Samples, Batches int64
	Elapsed          time.Duration
	EdgeGap          *time.Duration // the sink's wait for the epoch's first item; nil for the first epoch
	Digest           *string
	ItemsIn          map[string]int64 // by stage
	Caches           []CacheEpoch
	Wait             time.Duration // of the sink, in this epoch
	PeakRSS          int64         // of the process when the epoch ended, read at most every 50 ms
	InFlight         int64         // bytes that were set aside for items under way at its end
	Goroutines       int
}

// DeviceStats are the numbers of one device.
type DeviceStats struct {
	Name         string // as written in the spec
	Stage        string // that copies to it
	Title        string // what it is
	Driver       string // "": none
	Emulated     bool
	Copies       int64         // batches that were copied to it
	Bytes        int64         // that were
	CopyTime     time.Duration // in which its copy engine was at work for them
	CopiedBytes  int64         // that were first copied to page-locked memory, on the host
	StagedCopies int64         // copies from memory that is not page-locked: they hold the host up
	PinnedBytes  int64         // of page-locked memory
	PoolStall    time.Duration // in which batches could not be begun for want of page-locked memory
	Depth        int           // batches that it has room for
	Steps        int64         // uses of batches that have ended
	Busy, Idle   time.Duration // of the consumer's stream, in them and between them, the first left out
	SteadyIdle   time.Duration // of it, without the changes of epochs
	Unknown      bool          // the consumer did not say when it uses batches: no times of use
	Use          *DeviceUse    // what the device tells of its use by all processes; nil: it was not asked
}

// DeviceUse is what a device has told of its use by all processes, asked now and then while copies ended.
type DeviceUse struct {
	Asked, Told                         int64    // how often it was asked, and told Busy
	Busy                                *float64 // share of the time in which a kernel ran, on average of what it told
	Memory, MemoryUsed                  int64    // bytes, and the most of them that were in use
	LinkGeneration, LinkWidth           int      // of PCIe, the best that was seen: idle devices slow it down; 0: not known
	LinkGenerationLimit, LinkWidthLimit int
	Missing                             string // why it tells nothing
}

// CacheStats are the numbers of one cache. Hits are places whose items it had, Misses those that had to be made. HitShare
// is hits of all look-ups after the run's first epoch, which fills the cache; nil before there are any. BestHitShare is
// the share of the set's bytes that the limit has room for: no cache of this size can do better in a whole epoch.
type CacheStats struct {
	ID           string
	Hits, Misses int64
	Bytes, Limit int64
	HitShare     *float64
	BestHitShare *float64
}

// CacheEpoch are the look-ups of a cache in one epoch.
type CacheEpoch struct {
	ID           string
	Hits, Misses int64
}

// MemoryStats are what was held. With [Share] the limit and the overdraft are those of all who share; what is in flight is
// the run's own.
type MemoryStats struct {
	PeakRSS       int64
	InFlightPeak  int64
	OverdraftPeak int64
	BytesKnown    bool
	SlabsPeak     int64 // memory of batches that there was at once
	Estimate      *int64
	Estimated     *MemoryEstimate // what Estimate is the sum of; not to be changed
	Limit         int64           // the byte budget; 0: none
	Fixed         int64           // of it taken for good: batches, and what stages keep
	Hold          int64           // the oldest items of each source, which pass whatever there is room for
	Scarce        time.Duration   // admission was slowed, for the container's memory was near its limit
}

// Command ours is our side of bench/run.sh. It takes one JSON object as its argument, which says what to set up, and then
// one JSON object a line from standard input, each of which asks for one pass; it answers each with one line. The peers
// in bench/peers speak the same way, so that the driver treats all sides alike.
//
//	ours '{"workload": "slow"}'
//	{"do": "run", "items": 10000, "workers": 16}
package main

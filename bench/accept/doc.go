// Command accept looks at a real device, by package cuda/driver alone: what page-locking costs, how fast batches get onto
// the device from pageable and from page-locked memory, how much of a copy hides behind work, and whether what arrived is
// what was sent.
//
//	bench/accept.sh build   # on the machine that has Go: makes bench/accept/bin
//	bench/accept.sh         # on the machine that has the device: runs it, in less than five minutes
//	bench/accept.sh -most 67108864 -json accept.json
//
// It ends with 0 if all arrived as it was sent, 1 if something failed, 2 for wrong use, and 3 if there is no device. It
// judges no speed: no threshold has been set, for it has been run against the driver's stand-in only, never on hardware.
package main

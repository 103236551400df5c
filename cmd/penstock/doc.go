// Command penstock runs input pipelines that are declared in YAML, checks them and says which stage starves the
// accelerator.
//
//	penstock synth images data/train          make a small data set
//	penstock lint train.yaml                  every problem at once, opens nothing
//	penstock run train.yaml                   run it: one live line, then the table and the verdict
//	penstock run train.yaml --set decode.workers=8 --report before.json
//	penstock graph train.yaml --format svg    a drawing of it
//	penstock inspect train.yaml --at decode   the first item there
//	penstock kinds collate                    fields, defaults, limits
//	penstock compare before.json after.json   two reports side by side
//	penstock profile train.yaml               what each part could do alone
//	penstock tune train.yaml --out tuned      better settings, by measuring
//	penstock whatif before.json cores=2x      what other machines and settings would bring
//	penstock doctor                           what this machine gives
//	penstock help spec                        how a spec is written
//
// Results go to standard output, progress and messages to standard error. Exit codes: 0 done, 1 the run failed, 2 the
// command line or the spec is wrong, 3 a gate failed, 130 interrupted, 143 terminated. It reports to nobody, and serves
// nothing but what run --listen asks for.
package main

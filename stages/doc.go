// Package stages holds the steps between a source and a sink: decoding, cropping, scaling, flipping, normalizing,
// collating, what is done to fields of any kind (filter, select, rename, flat_map), and delays for experiments.
//
//	pics  := graph.Via(files, "decode", stages.DecodeImage{}, graph.Workers(8))
//	crops := graph.Via(pics, "crop", stages.RandomResizedCrop{Size: 224})
//	flips := graph.Via(crops, "flip", stages.RandomFlip{})
//	norm  := graph.Via(flips, "normalize", stages.Normalize{})
//	batch := graph.Via(norm, "collate", stages.Collate{Size: 64})
//
// Every stage gives exactly the same bytes on every processor: pixels are computed with integers, and where numbers
// must be floating, with single operations that are rounded the same everywhere. Random stages draw from the call's
// generator, so that a sample gets the same numbers whatever the workers are. The zero value of a setting means its
// default. Pictures travel in the field image: bytes before decode_image, an image after it, a tensor after normalize.
package stages

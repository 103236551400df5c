// Package standin is a stand-in for the driver's library, in C, and what back ends that bind it are tested for against it.
//
//	var library string
//
//	func TestMain(m *testing.M) { os.Exit(standin.Main(m, &library)) }
//
//	func TestTheBackEnd(t *testing.T) { standin.Run(t, library, Backend{}) }
//
// It has real asynchronous streams along a modelled time line, moves the bytes last, counts sources that changed while they
// were copied, and fails where it is told to. It says nothing about the speed of hardware.
package standin

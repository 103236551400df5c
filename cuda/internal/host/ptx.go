package host

// SpinSource is a kernel, of the name SpinName, that looks at the device's clock until a number of nanoseconds has
// passed. The driver compiles it for the device when it is loaded.
const (
	SpinName   = "penstock_spin"
	SpinSource = `.version 7.0
.target sm_75
.address_size 64
.visible .entry penstock_spin(.param .u64 ns)
{
	.reg .u64 %t<4>;
	.reg .pred %more;
	ld.param.u64 %t0, [ns];
	mov.u64 %t1, %globaltimer;
AGAIN:
	mov.u64 %t2, %globaltimer;
	sub.u64 %t3, %t2, %t1;
	setp.lt.u64 %more, %t3, %t0;
	@%more bra AGAIN;
	ret;
}
`
)

"""Rates of copies to the device by torch, beside those of accept: torch_rates.py FILE, the file of accept -json.

It judges nothing, and has been read by a compiler only: nobody has run it on a device yet.
"""
import json
import statistics
import sys

import torch

mine = json.load(open(sys.argv[1]))
device = torch.device("cuda:0")
print("torch", torch.__version__, torch.cuda.get_device_name(0))


def rate(source, n, rounds=9):
    target, rates = torch.empty(n, dtype=torch.uint8, device=device), []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        target.copy_(source[:n], non_blocking=True)
        end.record()
        torch.cuda.synchronize()
        rates.append(n / begin.elapsed_time(end) / 1e6)
    return statistics.median(rates)


top = max(r["bytes"] for r in mine["rates"])
pinned, pageable = torch.ones(top, dtype=torch.uint8).pin_memory(), torch.ones(top, dtype=torch.uint8)
print("to the device              torch pinned   ours registered   torch pageable   ours pageable   (GB/s)")
for r in mine["rates"]:
    n = r["bytes"]
    print(
        f"{n:12d} bytes  {rate(pinned, n):18.3f} {r['registered'] / 1e9:17.3f}"
        f" {rate(pageable, n):16.3f} {r['pageable'] / 1e9:15.3f}"
    )

side, steps, size = 8192, 60, mine["waits"][0]["bytes"]
w = torch.randn(side, side, device=device, dtype=torch.bfloat16)
copies, ready = torch.cuda.Stream(), torch.cuda.Event()
host = [torch.empty(size, dtype=torch.uint8).pin_memory() for _ in range(2)]
slots = [torch.empty(size, dtype=torch.uint8, device=device) for _ in range(2)]
used = [torch.cuda.Event() for _ in range(2)]
begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
for alone in (True, False):
    torch.cuda.synchronize()
    begin.record()
    for i in range(steps):
        k = i % 2
        if not alone:
            with torch.cuda.stream(copies):
                copies.wait_event(used[k])
                slots[k].copy_(host[k], non_blocking=True)
                ready.record(copies)
            torch.cuda.current_stream().wait_event(ready)
        w @ w
        used[k].record()
    end.record()
    torch.cuda.synchronize()
    took = begin.elapsed_time(end) / steps / 1e3
    if alone:
        work = took
        print(f"product of {side} x {side}: {work:.6f} s alone")
    else:
        print(f"with a copy of {size} bytes beside it: {took:.6f} s, waits {max(0, 100 * (1 - work / took)):.1f} % of the time")

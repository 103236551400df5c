"""How a peer speaks with the driver, and what peers share.

A peer is a program that takes one JSON object as its argument, which says what to set up, answers with its version in one
line, and then reads one JSON object a line, each of which asks for one pass, and answers each with one line. bench/ours
speaks the same way. Only answers go to standard output: what libraries print there is sent to standard error.
"""
import json, os, sys, time

MEAN, STD = [.485, .456, .406], [.229, .224, .225]


def serve(began, version, workloads):
    """began: perf_counter before the imports. workloads: name to a function that takes the setup and gives the
    function of a pass, which takes a command and gives an answer."""
    say = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    imported = time.perf_counter() - began
    setup = json.loads(sys.argv[1])
    run = workloads[setup['workload']](setup)

    def answer(a):
        say.write(json.dumps(a) + '\n')
        say.flush()
    answer(dict(version=version, import_seconds=imported))
    for line in sys.stdin:
        answer(run(json.loads(line)))


def take(batches, each, stop=None):
    """Goes through an epoch and clocks it. each takes a batch and gives how many samples it has."""
    a = dict(seconds=0, first=0, items=0, batches=0)
    t = time.perf_counter()
    for b in batches:
        if not a['batches']:
            a['first'] = time.perf_counter() - t
        a['batches'] += 1
        a['items'] += each(b)
        if stop and a['batches'] >= stop:
            break
    a['seconds'] = time.perf_counter() - t
    return a


def pictures(epoch):
    """The answers of the picture workload. epoch(command) gives an iterable of (images, labels), each an array with
    the batch first."""
    def run(c):
        out = open(c['out'], 'wb') if c['do'] == 'dump' else None
        seen = dict(sum=0, labels=[], last=None)

        def each(b):
            x, y = b
            seen['last'] = x
            if c['do'] == 'dump':
                out.write(bytes(memoryview(as_numpy(x)).cast('B')))
                seen['labels'] += [int(v) for v in as_numpy(y).reshape(-1)]
            seen['sum'] += float(as_numpy(y).sum())
            return len(x)
        a = take(epoch(c), each, 1 if c.get('first_only') else None)
        x = as_numpy(seen['last'])
        a.update(shape=list(x.shape), dtype=str(x.dtype), sum=seen['sum'])
        if out:
            out.close()
            a['labels'] = seen['labels']
        return a
    return run


def as_numpy(x):
    import numpy as np
    return np.ascontiguousarray(x.numpy() if hasattr(x, 'numpy') else np.asarray(x))


def folder(root):
    """Paths and labels of a folder of classes, in the order of torchvision's ImageFolder."""
    paths, labels = [], []
    for k, c in enumerate(sorted(d for d in os.listdir(root) if os.path.isdir(os.path.join(root, d)))):
        for f in sorted(os.listdir(os.path.join(root, c))):
            paths.append(os.path.join(root, c, f))
            labels.append(k)
    return paths, labels

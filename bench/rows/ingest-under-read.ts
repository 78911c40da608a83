import { nameOf, type Row } from '../bench.ts';
import { openWorkspace, readSharedPid } from '../cluster.ts';
import { compare } from '../compare.ts';
import { judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { logReaders } from '../load/log-readers.ts';
import type { LoadResult, Stop } from '../load/meter.ts';
import { collectorRequests } from '../load/requests.ts';
import { createJsonTrace } from '../load/trace.ts';
import { median } from '../machine.ts';
import { mintKeys, startServer } from '../sides.ts';
import { checkStored } from './ingest.ts';

const connections = 64;
const readers = 4;

export const ingestUnderRead: Row = {
  name: 'ingest-under-read',
  about: `one-span traces while ${readers} readers page the log and open traces, against the same without readers`,
  async run(bench) {
    const keys = mintKeys();
    const createRequests = collectorRequests(createJsonTrace(1), keys.projectKey);
    const createReads = logReaders(keys);
    const reads: LoadResult[] = [];
    let readPort = 0;
    const ingest = (port: number, stop: Stop) =>
      runHttpLoad({ ports: [port], connections, stop, expectedStatus: 200, createRequests });
    const { product, reference } = await compare(bench, {
      startReference: async () => startServer(bench, keys, await openWorkspace(bench)),
      async startProduct() {
        const server = await startServer(bench, keys, await openWorkspace(bench));
        readPort = server.port;
        return server;
      },
      async load(port, stop) {
        if (port !== readPort) return ingest(port, stop);
        const [written, read] = await Promise.all([
          ingest(port, stop),
          runHttpLoad({ ports: [port], connections: readers, stop, expectedStatus: 200, createRequests: createReads }),
        ]);
        reads.push(read);
        return written;
      },
      checkProduct: checkStored,
      sharedPid: await readSharedPid(bench),
    });
    // The first load was the warm-up.
    const rounds = reads.slice(1);
    const throughput = judge(
      {
        name: nameOf(bench, 'ingest-under-read'),
        value: product.perSecond,
        unit: 'requests/s',
        reference: reference.perSecond,
      },
      { of: 'ratio', atLeast: 0.7 },
    );
    if (rounds.length === 0) return [throughput];
    bench.say(`  readers: ${Math.round(median(rounds.map((round) => round.perSecond)))} reads/s`);
    const value = median(rounds.map((round) => round.p99Ms));
    const reader = { name: nameOf(bench, 'ingest-under-read-reader-p99'), value, unit: 'ms', reference: null };
    return [throughput, judge(reader, { of: 'value', atMost: 50 })];
  },
};

import { nameOf, type Row } from '../bench.ts';
import { openWorkspace, readSharedPid } from '../cluster.ts';
import { compare } from '../compare.ts';
import { judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { collectorRequests } from '../load/requests.ts';
import { openTails, type TailCounts, type Tails } from '../load/tails.ts';
import { createJsonTrace } from '../load/trace.ts';
import { median } from '../machine.ts';
import { mintKeys, startServer } from '../sides.ts';
import { checkStored } from './ingest.ts';

const connections = 64;
const followers = 1_000;

export const tail: Row = {
  name: 'tail',
  about: `one-span traces while ${followers} follow them all by live tails, against the same without`,
  async run(bench) {
    const keys = mintKeys();
    const createRequests = collectorRequests(createJsonTrace(1), keys.projectKey);
    const rounds: TailCounts[] = [];
    let tails: Tails | null = null;
    let tailedPort = 0;
    const { product, reference } = await compare(bench, {
      startReference: async () => startServer(bench, keys, await openWorkspace(bench)),
      async startProduct() {
        const server = await startServer(bench, keys, await openWorkspace(bench));
        tailedPort = server.port;
        tails = await openTails(server.port, keys, followers);
        return server;
      },
      async load(port, stop) {
        if (port === tailedPort) tails?.reset();
        const result = await runHttpLoad({ ports: [port], connections, stop, expectedStatus: 200, createRequests });
        if (port === tailedPort && tails !== null) rounds.push(tails.counts());
        return result;
      },
      checkProduct: checkStored,
      async conclude() {
        tails?.close();
      },
      sharedPid: await readSharedPid(bench),
    });
    const throughput = judge(
      { name: nameOf(bench, 'tail'), value: product.perSecond, unit: 'requests/s', reference: reference.perSecond },
      { of: 'ratio', atLeast: 0.9 },
    );
    // The first load was the warm-up.
    const counted = rounds.slice(1);
    if (counted.length === 0) return [throughput];
    const reached = Math.min(...counted.map((round) => round.followers));
    bench.say(
      `  tails: ${median(counted.map((round) => round.events))} traces sent in a round, to ${reached} of ${followers}`,
    );
    if (reached < followers) throw new Error(`${followers - reached} tails received nothing in a whole round.`);
    const value = median(counted.map((round) => round.p99Ms));
    const lag = { name: nameOf(bench, 'tail-p99'), value, unit: 'ms', reference: null };
    return [throughput, judge(lag, { of: 'value', atMost: 500 })];
  },
};

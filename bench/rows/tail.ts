import { nameOf, type Row } from '../bench.ts';
import { openPlace, readSharedPid } from '../cluster.ts';
import { compare } from '../compare.ts';
import { judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { collectorRequests } from '../load/requests.ts';
import { openTails, type Tails, type Told } from '../load/tails.ts';
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
    const rounds: Told[] = [];
    let tails: Tails | null = null;
    let tailedPort = 0;
    const { ours, reference } = await compare(bench, {
      startReference: async () => startServer(bench, keys, await openPlace(bench)),
      async startOurs() {
        const server = await startServer(bench, keys, await openPlace(bench));
        tailedPort = server.port;
        tails = await openTails(server.port, keys, followers);
        return server;
      },
      async load(port, stop) {
        if (port === tailedPort) tails?.reset();
        const result = await runHttpLoad({ ports: [port], connections, stop, expectedStatus: 200, createRequests });
        if (port === tailedPort && tails !== null) rounds.push(tails.told());
        return result;
      },
      checkOurs: checkStored,
      async conclude() {
        tails?.close();
      },
      sharedPid: await readSharedPid(bench),
    });
    const throughput = judge(
      { name: nameOf(bench, 'tail'), value: ours.perSecond, unit: 'requests/s', reference: reference.perSecond },
      { of: 'ratio', atLeast: 0.9 },
    );
    // The first load was the warm-up.
    const told = rounds.slice(1);
    if (told.length === 0) return [throughput];
    const hearing = Math.min(...told.map((round) => round.followers));
    bench.say(
      `  tails: ${median(told.map((round) => round.events))} traces told in a round, to ${hearing} of ${followers}`,
    );
    if (hearing < followers) throw new Error(`${followers - hearing} who follow were told nothing in a whole round.`);
    const value = median(told.map((round) => round.p99Ms));
    const lag = { name: nameOf(bench, 'tail-p99'), value, unit: 'ms', reference: null };
    return [throughput, judge(lag, { of: 'value', atMost: 500 })];
  },
};

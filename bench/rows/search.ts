import { nameOf, type Row } from '../bench.ts';
import { openWorkspace, readSharedPid } from '../cluster.ts';
import { compare } from '../compare.ts';
import { type Figure, judge } from '../figure.ts';
import { openFilledTraces } from '../filled.ts';
import { runHttpLoad } from '../load/http.ts';
import type { Stop } from '../load/meter.ts';
import { collectorRequests } from '../load/requests.ts';
import { mixedSearches, searchCases, timeSearches } from '../load/searches.ts';
import { createJsonTrace } from '../load/trace.ts';
import { readGauge } from '../read-gauge.ts';
import { mintKeys, startServer } from '../sides.ts';
import { checkStored } from './ingest.ts';

const warmUpRequests = 20;
const requests = 200;
const connections = 64;
const searchers = 4;
const stallSecondsMax = 0.05;
/** Traces that the index lacks when a kind of search begins. */
const pendingTraces = 1_000;

export const search: Row = {
  name: 'search',
  about: 'lists, filters and queries among a million traces of three spans, a thousand of them not indexed yet',
  secondsMax: 7_200,
  async run(bench) {
    if (bench.calibrate) return [];
    const { keys, workspace } = await openFilledTraces(bench, bench.traces);
    const server = await startServer(bench, keys, workspace);
    const figures: Figure[] = [];
    for (const searchCase of searchCases(bench.traces)) {
      const pending = await leavePending(server.port, keys.projectKey);
      await timeSearches(server.port, keys.projectKey, searchCase, warmUpRequests);
      const tookMs = await timeSearches(server.port, keys.projectKey, searchCase, requests);
      const at = (share: number) => tookMs[Math.ceil(share * tookMs.length) - 1] ?? Number.NaN;
      bench.detail(
        `  ${searchCase.name}: p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, ${pending} pending`,
      );
      const measured = {
        name: nameOf(bench, `search-${searchCase.name}-p99`),
        value: at(0.99),
        unit: 'ms',
        reference: null,
      };
      figures.push(judge(measured, { of: 'value', atMost: searchCase.msMax }));
    }
    await server.stop();
    return figures;
  },
};

export const ingestUnderSearch: Row = {
  name: 'ingest-under-search',
  about: `one-span traces while ${searchers} searchers ask for all kinds of things, against the same without them`,
  async run(bench) {
    const keys = mintKeys();
    const createRequests = collectorRequests(createJsonTrace(1), keys.projectKey);
    let searchedPort = 0;
    let stallSeconds = 0;
    const ingest = (port: number, stop: Stop) =>
      runHttpLoad({ ports: [port], connections, stop, expectedStatus: 200, createRequests });
    const { product, reference } = await compare(bench, {
      startReference: async () => startServer(bench, keys, await openWorkspace(bench)),
      async startProduct() {
        const server = await startServer(bench, keys, await openWorkspace(bench));
        searchedPort = server.port;
        return server;
      },
      async load(port, stop) {
        if (port !== searchedPort) return ingest(port, stop);
        const searchLoad = { ports: [port], connections: searchers, stop, expectedStatus: 200 };
        const [written] = await Promise.all([
          ingest(port, stop),
          runHttpLoad({ ...searchLoad, createRequests: mixedSearches(keys.projectKey) }),
        ]);
        stallSeconds = await readStall(port);
        return written;
      },
      checkProduct: checkStored,
      sharedPid: await readSharedPid(bench),
    });
    const name = nameOf(bench, 'ingest-under-search');
    const rate = { name, value: product.perSecond, unit: 'requests/s', reference: reference.perSecond };
    const stall = { name: `${name}-stall`, value: stallSeconds, unit: 's', reference: null };
    return [judge(rate, { of: 'ratio', atLeast: 0.7 }), judge(stall, { of: 'value', atMost: stallSecondsMax })];
  },
};

/** Stores traces until so many are not indexed yet. Returns their number. */
async function leavePending(port: number, projectKey: string): Promise<number> {
  const createRequests = collectorRequests(createJsonTrace(1), projectKey);
  const missing = pendingTraces - (await readGauge(port, 'spandrel_search_unindexed_traces'));
  const stop = { requests: missing };
  if (missing > 0) await runHttpLoad({ ports: [port], connections, stop, expectedStatus: 200, createRequests });
  return await readGauge(port, 'spandrel_search_unindexed_traces');
}

/** The longest event loop stall of the last minute, in seconds. */
function readStall(port: number): Promise<number> {
  return readGauge(port, 'spandrel_event_loop_delay_max_seconds');
}

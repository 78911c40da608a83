import type { Row } from '../bench.ts';
import { createClusterWorkspace, readSharedPid } from '../cluster.ts';
import { compare } from '../compare.ts';
import { judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { collectorRequests } from '../load/requests.ts';
import { createJsonTrace } from '../load/trace.ts';
import type { Program } from '../program.ts';
import { createWorkspace, mintKeys, startLimitOn, startServer } from '../sides.ts';
import { checkStored } from './ingest.ts';

const connections = 64;

export const pgIngest: Row = {
  name: 'pg-ingest',
  about: 'one-span traces over HTTP/1.1 on PostgreSQL against node:http + JSON.parse + bare multi-row inserts',
  async run(bench) {
    const keys = mintKeys();
    const createRequests = collectorRequests(createJsonTrace(1), keys.projectKey);
    const { product, reference } = await compare(bench, {
      async startReference() {
        const { databaseUrl } = await createClusterWorkspace();
        return startLimitOn('insert', [databaseUrl]);
      },
      startProduct: async () => startServer(bench, keys, await createClusterWorkspace()),
      load: (port, stop) => runHttpLoad({ ports: [port], connections, stop, expectedStatus: 200, createRequests }),
      checkProduct: checkStored,
      sharedPid: await readSharedPid({ store: 'postgres' }),
    });
    const measured = {
      name: 'pg-ingest',
      value: product.perSecond,
      unit: 'requests/s',
      reference: reference.perSecond,
    };
    return [judge(measured, { of: 'ratio', atLeast: 0.4 })];
  },
};

export const pgScale: Row = {
  name: 'pg-scale',
  about: 'one-span traces split evenly over two servers on one PostgreSQL, against one server',
  async run(bench) {
    const keys = mintKeys();
    const createRequests = collectorRequests(createJsonTrace(1), keys.projectKey);
    let both: readonly number[] = [];
    const { product, reference } = await compare(bench, {
      startReference: async () => startServer(bench, keys, await createClusterWorkspace()),
      async startProduct() {
        const workspace = await createClusterWorkspace();
        const first = await startServer(bench, keys, workspace);
        const second = await startServer(bench, keys, createWorkspace('row', workspace.databaseUrl));
        both = [first.port, second.port];
        return joinPrograms(first, second);
      },
      load: (port, stop) => {
        const ports = both.includes(port) ? both : [port];
        return runHttpLoad({ ports, connections, stop, expectedStatus: 200, createRequests });
      },
      checkProduct: checkStored,
      sharedPid: await readSharedPid({ store: 'postgres' }),
    });
    const measured = { name: 'pg-scale', value: product.perSecond, unit: 'requests/s', reference: reference.perSecond };
    return [judge(measured, { of: 'ratio', atLeast: 1.3 })];
  },
};

function joinPrograms(first: Program, second: Program): Program {
  return {
    ...first,
    name: 'the servers',
    pids: [...first.pids, ...second.pids],
    async stop() {
      await Promise.all([first.stop(), second.stop()]);
    },
    lastWords: () => `${first.lastWords()}\n${second.lastWords()}`,
  };
}
